; What a front end wrote becomes transitions: deoptimizations, guards, widenable conditions, and calls with frames,
; inlined ones too. The sums saturate in the base version; the fast one goes on there when one overflows.
; RUN: env -u MIDFLIGHT_OPTIONS %opt -passes='osr-deopt<prepare>,verify,default<O2>,osr-deopt<verify>(default<O2>),verify' -S %s -o %t.ll
; RUN: FileCheck %s < %t.ll
; RUN: clang -w -O1 %t.ll %runtime -lm -o %t && env MIDFLIGHT_OSR_LOG=%t.json %t | FileCheck %s --check-prefix=OUT
; RUN: FileCheck %s --check-prefix=LOG < %t.json
; RUN: %opt -passes='osr-deopt<verify>,verify' -S %s -o %t.once.ll
; RUN: clang -w -O1 %t.once.ll %runtime -lm -o %t.once && %t.once | FileCheck %s --check-prefix=OUT
; RUN: env -u MIDFLIGHT_OPTIONS %opt -passes='osr-deopt<prepare>,verify,default<O2>,osr-deopt<when=always;verify>,verify' -S %s -o %t.all.ll
; RUN: clang -w -O1 %t.all.ll %runtime -lm -o %t.all && env MIDFLIGHT_OSR_LOG=%t.all.json %t.all | FileCheck %s --check-prefix=OUT
; RUN: FileCheck %s --check-prefix=ALL < %t.all.json
; With the path profiler in the same pipeline:
; RUN: %opt -passes='osr-deopt<prepare>,default<O2>,osr-deopt<verify>,verify' -S %s -o %t.paths.ll
; RUN: clang -w -O1 %t.paths.ll %runtime -lm -o %t.paths && env MIDFLIGHT_PROFILE=%t.mfp %t.paths | FileCheck %s --check-prefix=OUT
; Nothing of the front end's, nor of the copies of versions, is left.
; RUN: FileCheck %s --check-prefix=GONE < %t.ll
; RUN: FileCheck %s --check-prefix=GONE < %t.once.ll
; RUN: FileCheck %s --check-prefix=GONE < %t.all.ll
; GONE-NOT: call {{.*}}midflight.landing
; GONE-NOT: call {{.*}}llvm.experimental.
; GONE-NOT: .base.midflight
; GONE-NOT: "deopt"(

; CHECK-LABEL: define i32 @sum(
; CHECK: call i32 @sum.base.deopt.1(i32 %n, i32 %step, i32 %i{{[0-9]*}}, i32 %s{{[0-9]*}}, i32 %p)
; The call of sum is inlined: its version goes on first, and then the caller's with what it returns.
; CHECK-LABEL: define i32 @twice(
; CHECK: call i32 @twice.base.deopt.7(i32 %n, i32 poison, i32 %n, i32 3, i32 %i{{.*}}, i32 %s{{.*}}, i32 %p{{.*}})
; CHECK-LABEL: define internal i32 @twice.base.deopt.7(i32 %0, i32 %1, i32 %2, i32 %3, i32 %4, i32 %5, i32 %6)
; CHECK: [[R:%.*]] = {{.*}}call i32 @sum.base.deopt.1(i32 %2, i32 %3, i32 %4, i32 %5, i32 %6)
; CHECK: xor i32 [[R]], %0

; OUT: 14950
; OUT-NEXT: 2147383647
; OUT-NEXT: 7 12
; OUT-NEXT: 5 6
; LOG-DAG: "point":"sum.base:1"{{.*}}"from":"twice","to":"twice.base.deopt.7","transitions":1
; LOG-DAG: "point":"guarded.base:2"{{.*}}"transitions":1
; LOG-DAG: "point":"widened.base:entry"{{.*}}"to":"widened.base","transitions":1
; Behind the call of sum twice is left.
; ALL-DAG: "point":"twice.base:7","file":{{.*}}"from":"twice"{{.*}}"transitions":1

declare void @midflight.landing(i64, ...)
declare i32 @llvm.experimental.deoptimize.i32(...)
declare void @llvm.experimental.guard(i1, ...)
declare i1 @llvm.experimental.widenable.condition()
declare { i32, i1 } @llvm.sadd.with.overflow.i32(i32, i32)
declare i32 @llvm.sadd.sat.i32(i32, i32)
declare i32 @printf(ptr, ...)
@one = private constant [4 x i8] c"%d\0A\00"
@two = private constant [7 x i8] c"%d %d\0A\00"

define i32 @sum.base(i32 %n, i32 %step) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i1, %body ]
  %s = phi i32 [ 0, %entry ], [ %s1, %body ]
  %c = icmp slt i32 %i, %n
  br i1 %c, label %body, label %done
body:
  %p = mul i32 %i, %step
  call void (i64, ...) @midflight.landing(i64 1, i32 %n, i32 %step, i32 %i, i32 %s, i32 %p)
  %s1 = call i32 @llvm.sadd.sat.i32(i32 %s, i32 %p)
  %i1 = add i32 %i, 1
  br label %loop
done:
  ret i32 %s
}
define i32 @sum(i32 %n, i32 %step) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i1, %ok ]
  %s = phi i32 [ 0, %entry ], [ %s1, %ok ]
  %c = icmp slt i32 %i, %n
  br i1 %c, label %body, label %done
body:
  %p = mul i32 %i, %step
  %r = call { i32, i1 } @llvm.sadd.with.overflow.i32(i32 %s, i32 %p)
  %o = extractvalue { i32, i1 } %r, 1
  %s1 = extractvalue { i32, i1 } %r, 0
  br i1 %o, label %deopt, label %ok
deopt:
  %d = call i32 (...) @llvm.experimental.deoptimize.i32() [ "deopt"(ptr @sum.base, i64 1, i32 0, i32 -1, i32 5, i32 %n, i32 %step, i32 %i, i32 %s, i32 %p) ]
  ret i32 %d
ok:
  %i1 = add i32 %i, 1
  br label %loop
done:
  ret i32 %s
}

define i32 @twice.base(i32 %n) {
  %a = call i32 @sum.base(i32 %n, i32 3)
  call void (i64, ...) @midflight.landing(i64 7, i32 %n, i32 %a)
  %b = xor i32 %a, %n
  ret i32 %b
}
define i32 @twice(i32 %n) {
  %a = call i32 @sum(i32 %n, i32 3) [ "deopt"(ptr @twice.base, i64 7, i32 1, i32 1, i32 2, i32 %n, i32 poison) ]
  %b = xor i32 %a, %n
  ret i32 %b
}

define i32 @guarded.base(i32 %a, i32 %b) {
  call void (i64, ...) @midflight.landing(i64 2, i32 %b, i32 %a)
  %s = add i32 %a, %b
  ret i32 %s
}
define i32 @guarded(i32 %a, i32 %b) {
  %is = icmp eq i32 %b, 1
  call void (i1, ...) @llvm.experimental.guard(i1 %is) [ "deopt"(ptr @guarded.base, i64 2, i32 0, i32 -1, i32 2, i32 %b, i32 %a) ]
  %s = add i32 %a, 1
  ret i32 %s
}

; Its base version is entered anew.
define i32 @widened.base(i32 %a) {
  %s = add i32 %a, 1
  ret i32 %s
}
define i32 @widened(i32 %a) {
  %w = call i1 @llvm.experimental.widenable.condition()
  %is = icmp eq i32 %a, 4
  %both = and i1 %is, %w
  br i1 %both, label %fast, label %deopt
fast:
  ret i32 5
deopt:
  %d = call i32 (...) @llvm.experimental.deoptimize.i32() [ "deopt"(ptr @widened.base, i64 -1, i32 0, i32 -1, i32 1, i32 %a) ]
  ret i32 %d
}

define i32 @main() {
  %a = call i32 @twice(i32 100)
  call i32 (ptr, ...) @printf(ptr @one, i32 %a)
  %b = call i32 @twice(i32 100000)
  call i32 (ptr, ...) @printf(ptr @one, i32 %b)
  %c = call i32 @guarded(i32 6, i32 1)
  %d = call i32 @guarded(i32 6, i32 6)
  call i32 (ptr, ...) @printf(ptr @two, i32 %c, i32 %d)
  %e = call i32 @widened(i32 4)
  %f = call i32 @widened(i32 5)
  call i32 (ptr, ...) @printf(ptr @two, i32 %e, i32 %f)
  ret i32 0
}
