; An exit to a host: in place of a continuation, a function that lays the live values out and calls back.
; RUN: %opt -passes='osr-point<where=call;callee=stop;when=flag;exit=host>' -S %s | FileCheck %s
; RUN: %opt -passes='osr-point<where=call;callee=stop;when=flag;exit=host>' -pass-remarks-missed=midflight-osr -disable-output %s 2>&1 | FileCheck %s --check-prefix=SCALABLE

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

declare void @stop()

; The function itself pays nothing for it: a call, as to a continuation.
; CHECK-LABEL: define double @f(
; CHECK: call double @f.osr.1(i32 %a, ptr %list, double %sum, <4 x i32> %v)
define double @f(i32 %count, ptr %list, double %sum, <4 x i32> %v) {
  %a = add i32 %count, 1
  call void @stop()
  store i32 %a, ptr %list
  %e = extractelement <4 x i32> %v, i32 0
  store i32 %e, ptr %list
  ret double %sum
}

define void @nothing() {
  call void @stop()
  ret void
}

; A value is { name, address, kind, bits }: kind 2 is a pointer, 1 a float, 3 another type, 0 an integer.
; CHECK-LABEL: define internal double @f.osr.1(i32 %0, ptr %1, double %2, <4 x i32> %3)
; CHECK: [[VALUES:%values]] = alloca [96 x i8], align 8
; CHECK: %exit = alloca [48 x i8], align 8
; CHECK: %result = alloca double
; CHECK: store i32 %0, ptr %value,
; CHECK: store ptr %value, ptr
; CHECK: store i32 0, ptr
; CHECK: store i32 32, ptr
; CHECK: store ptr %1, ptr %value1
; CHECK: store i32 2, ptr
; CHECK: store i32 64, ptr
; CHECK: store double %2, ptr %value2
; CHECK: store i32 1, ptr
; CHECK: store i32 64, ptr
; CHECK: store <4 x i32> %3, ptr %value3
; CHECK: store i32 3, ptr
; CHECK: store i32 128, ptr
; The result is zero unless the host stores another one.
; CHECK: store double 0.0{{.*}}, ptr %result
; The version of the structures, and how many values there are.
; CHECK: store i32 1, ptr %exit
; CHECK: store i32 4, ptr
; CHECK: call void @host(ptr %exit)
; CHECK: [[RESULT:%.*]] = load double, ptr %result
; CHECK-NEXT: ret double [[RESULT]]

; CHECK-LABEL: define internal void @nothing.osr.0()
; CHECK: call void @host(ptr %exit)
; CHECK-NEXT: ret void

; A host does not know the size of a scalable vector, be it live or the result.
; SCALABLE-COUNT-2: remark: {{.*}}: no OSR point here: a scalable vector would be handed to the host
; SCALABLE-NOT: remark
; CHECK-NOT: @live_scalable.osr
; CHECK-NOT: @scalable_result.osr
define i32 @live_scalable(<vscale x 4 x i32> %v) {
  call void @stop()
  %e = extractelement <vscale x 4 x i32> %v, i32 0
  ret i32 %e
}

define <vscale x 4 x i32> @scalable_result(<vscale x 4 x i32> %v) {
  call void @stop()
  ret <vscale x 4 x i32> zeroinitializer
}
