; The loop runs once, as the solver finds: its back edge is never taken. What the phi would take from
; there is not live behind its definition, so no point hands it on.
; RUN: %opt -passes='osr-opt<fuzz;verify>(sccp)' -S %s -o %t.ll
; RUN: FileCheck %s <%t.ll
; RUN: clang -w -O0 %t.ll -o %t %runtime
; RUN: env MIDFLIGHT_OSR_FIRE=always %t | FileCheck %s --check-prefix=PRINTED
; RUN: env MIDFLIGHT_OSR_FIRE=every:2 %t | FileCheck %s --check-prefix=PRINTED
; RUN: env MIDFLIGHT_OSR_FIRE=every:3 %t | FileCheck %s --check-prefix=PRINTED

; PRINTED: 0
; CHECK-LABEL: define internal i32 @main.base.osr(
; CHECK: phi i32 {{.*}}[ poison,

@format = constant [4 x i8] c"%d\0A\00"
declare i32 @printf(ptr, ...)
declare void @abort()

define i32 @main() {
entry:
  br label %loop

loop:
  %b = phi i32 [ 0, %entry ], [ %next.b, %body ]
  %i = phi i32 [ -1, %entry ], [ %next.i, %body ]
  %is = icmp ne i32 %b, 0
  br i1 %is, label %wrong, label %body

wrong:
  call void @abort()
  unreachable

body:
  %next.i = add nsw i32 %i, 1
  %two = add nsw i32 %next.i, 2
  %next.b = mul nsw i32 %two, 4
  %more = icmp slt i32 %next.i, 0
  br i1 %more, label %loop, label %done

done:
  %1 = call i32 (ptr, ...) @printf(ptr @format, i32 %next.i)
  ret i32 0
}
