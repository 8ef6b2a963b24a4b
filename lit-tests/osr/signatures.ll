; Parameters of every kind, and what a continuation keeps of a function.
; RUN: %opt -passes='osr-point<where=call;when=always;callee=stop>' -S %s | FileCheck %s

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

%big = type { [6 x i64] }

declare void @stop()
declare void @use(ptr)
declare void @llvm.va_start.p0(ptr)
declare void @llvm.va_end.p0(ptr)

; What is passed in memory stays in the frame of the caller's call: its address is passed on, and the
; transition is no tail call.
; CHECK-LABEL: define i64 @by_value(ptr byval(%big) align 8 %b)
; CHECK: {{^ +%[0-9]+}} = call i64 @by_value.osr.0(ptr %b)
define i64 @by_value(ptr byval(%big) align 8 %b) {
  call void @stop()
  %v = load i64, ptr %b
  ret i64 %v
}

; CHECK-LABEL: define void @by_result(ptr noalias sret(%big) align 8 %r, i64 %v)
; CHECK: call void @by_result.osr.0(ptr %r, i64 %v)
define void @by_result(ptr noalias sret(%big) align 8 %r, i64 %v) {
  call void @stop()
  store i64 %v, ptr %r
  ret void
}

; Behind va_start the list is a variable like any other; a continuation is not variadic.
; CHECK-LABEL: define i32 @variadic(i32 %n, ...)
; CHECK: {{^ +%[0-9]+}} = notail call i32 @variadic.osr.1(ptr %list, i32 %n)
define i32 @variadic(i32 %n, ...) {
  %list = alloca [24 x i8], align 16
  call void @llvm.va_start.p0(ptr %list)
  call void @stop()
  call void @use(ptr %list)
  call void @llvm.va_end.p0(ptr %list)
  ret i32 %n
}

; What the ABI says of the result holds for the continuation too: the caller relies on it. A convention of
; its own is not needed, since only points call it.
; CHECK-LABEL: define fastcc signext i16 @narrow(i16 signext %n)
; CHECK: call signext i16 @narrow.osr.0(i16 %n)
define fastcc signext i16 @narrow(i16 signext %n) {
  call void @stop()
  ret i16 %n
}

; Values of any size and kind travel in registers or on the stack as the C convention says.
; CHECK-LABEL: define <4 x float> @vectors(
; CHECK: call <4 x float> @vectors.osr.2(<4 x float> %s, i32 %t, <8 x i32> %b)
define <4 x float> @vectors(<4 x float> %a, <8 x i32> %b, <vscale x 4 x i32> %c) {
  %s = fadd <4 x float> %a, %a
  %t = extractelement <vscale x 4 x i32> %c, i32 0
  call void @stop()
  %u = insertelement <8 x i32> %b, i32 %t, i32 0
  %v = bitcast <8 x i32> %u to <8 x float>
  %w = shufflevector <8 x float> %v, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %x = fadd <4 x float> %w, %s
  ret <4 x float> %x
}

; CHECK-LABEL: define { i32, double } @aggregates(
; CHECK: call { i32, double } @aggregates.osr.0({ i32, double } %a, [2 x i64] %b, i128 %c, x86_fp80 %d, i1 %e)
define { i32, double } @aggregates({ i32, double } %a, [2 x i64] %b, i128 %c, x86_fp80 %d, i1 %e) {
  call void @stop()
  %f = extractvalue [2 x i64] %b, 1
  %g = trunc i128 %c to i64
  %h = fptrunc x86_fp80 %d to double
  %i = insertvalue { i32, double } %a, double %h, 1
  %j = select i1 %e, { i32, double } %i, { i32, double } %a
  %k = add i64 %f, %g
  %l = trunc i64 %k to i32
  %m = insertvalue { i32, double } %j, i32 %l, 0
  ret { i32, double } %m
}

; A transition is counted in memory, so the function is not pure any more. What speaks of parameters that
; a continuation does not have is dropped, as is what belongs to the symbol; the rest is kept.
; CHECK-LABEL: define noalias nonnull ptr @pure(
; CHECK-SAME: [[BASE:#[0-9]+]] section "hot" align 64 prefix i32 7
define noalias nonnull ptr @pure(ptr noundef nonnull readonly dereferenceable(8) %p, i64 %size) nounwind memory(none) willreturn norecurse allocsize(1) "frame-pointer"="all" section "hot" align 64 prefix i32 7 {
  call void @stop()
  ret ptr %p
}

; CHECK-LABEL: define internal i32 @variadic.osr.1(ptr %0, i32 %1)
; CHECK-LABEL: define internal signext i16 @narrow.osr.0(i16 %0)
; CHECK-LABEL: define internal noalias nonnull ptr @pure.osr.0(ptr %0) unnamed_addr
; CHECK-SAME: [[CONTINUATION:#[0-9]+]] section "hot" align 64 {
; CHECK: attributes [[BASE]] = {
; CHECK-NOT: memory(none)
; CHECK-SAME: "frame-pointer"="all"
; CHECK: attributes [[CONTINUATION]] = { noinline nounwind willreturn "frame-pointer"="all" "midflight-osr" }
