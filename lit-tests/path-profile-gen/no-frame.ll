; The runtime is entered without a call, so whoever leaves a function early does not pay for a frame that it needs later.
; RUN: %opt -passes='path-profile-gen<k=1;stage=late;verify>' -S %s | llc -O2 | FileCheck %s
; RUN: sed 's/+sse2/+avx/' %s | %opt -passes='path-profile-gen<k=1;stage=late;verify>' -S | FileCheck %s --check-prefix=CALL
; RUN: sed 's/"wchar_size", i32 4/"ThinLTO", i32 0/' %s | %opt -passes='path-profile-gen<k=1;stage=late;verify>' -S | FileCheck %s --check-prefix=CALL
; RUN: %opt -passes='path-profile-gen<k=1;verify>' -S %s | FileCheck %s --check-prefix=CALL
; RUN: sed 's/"wchar_size", i32 4/"Code Model", i32 4/' %s | %opt -passes='path-profile-gen<k=1;stage=late;verify>' -S | FileCheck %s --check-prefix=CALL
target triple = "x86_64-unknown-linux-gnu"

; CHECK-LABEL: f:
; CHECK-NOT:     push
; CHECK:         %fs:
; CHECK-NOT:     push
; CHECK:         incq 8(%rax)
; CHECK-NOT:     push
; CHECK:         retq
; CHECK:         push
; CHECK:         callq g
; CHECK:         leaq .L__midflight_table.f.{{.*}}(%rip), %r10
; CHECK:         jmpq *midflight_enter_sparing@GOTPCREL(%rip)
; CHECK:         endbr64
; CALL-LABEL: define {{.*}} @f(
; CALL:         call ptr @midflight_enter(
; CALL-NOT:     midflight_enter_sparing
define i32 @f(ptr %p, i32 %n) "target-features"="+sse2" {
entry:
  %nothing = icmp eq ptr %p, null
  br i1 %nothing, label %early, label %more, !prof !0
early:
  ret i32 0
more:
  %m = call i32 @g(ptr %p)
  %o = call i32 @g(ptr %p)
  %sum = add i32 %m, %o
  %all = add i32 %sum, %n
  ret i32 %all
}

declare i32 @g(ptr)

!llvm.module.flags = !{!1}
!0 = !{!"branch_weights", i32 1000, i32 1}
!1 = !{i32 1, !"wchar_size", i32 4}
