; Functions that are left alone, each with its reason as a remark.
; RUN: %opt -passes='path-profile-gen<verify>' -pass-remarks-missed=midflight -S %s 2>%t.remarks | FileCheck %s
; RUN: FileCheck %s --check-prefix=REMARK < %t.remarks

; The command learns what is not profiled anywhere.
; CHECK: @__midflight_skipped = private constant [{{.*}}] c"unprofiled\00NoProfileAttribute\00coroutine\00Coroutine\00convergent\00ConvergenceControl\00anchored\00ConvergenceControl\00resolver\00IfuncResolver\00{{.*}}", section "midflight_skipped", align 1
; CHECK: @llvm.used = appending global {{.*}}@__midflight_skipped

; REMARK: not profiled: its attributes ask for no profiling
; CHECK-LABEL: define void @unprofiled()
; CHECK-NEXT: ret void
define void @unprofiled() noprofile {
  ret void
}

; CHECK-LABEL: define available_externally void @copy()
; CHECK-NEXT: ret void
define available_externally void @copy() {
  ret void
}

; REMARK: not profiled: it is a coroutine
; CHECK-LABEL: define void @coroutine()
; CHECK-NEXT: ret void
define void @coroutine() presplitcoroutine {
  ret void
}

; Where the entry begins with a convergence token, nothing may come before it.
; REMARK: not profiled: its calls are tied to convergence tokens
; CHECK-LABEL: define i32 @convergent(
; CHECK-NEXT: entry:
; CHECK-NEXT: %entry.token = call token @llvm.experimental.convergence.entry()
; CHECK-NEXT: br label %loop
; CHECK-NOT: midflight
; CHECK-LABEL: define i32 @anchored(
; CHECK-NOT: midflight
define i32 @convergent(i32 %n) convergent {
entry:
  %entry.token = call token @llvm.experimental.convergence.entry()
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %token = call token @llvm.experimental.convergence.loop() [ "convergencectrl"(token %entry.token) ]
  %next = add i32 %i, 1
  call void @together() [ "convergencectrl"(token %token) ]
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %done
done:
  ret i32 %next
}

define i32 @anchored() convergent {
  %token = call token @llvm.experimental.convergence.anchor()
  call void @together() [ "convergencectrl"(token %token) ]
  ret i32 0
}

declare void @together() convergent

; REMARK: not profiled: it resolves an ifunc
@indirect = ifunc void (), ptr @resolver
; CHECK-LABEL: define ptr @resolver()
; CHECK-NEXT: ret ptr
define ptr @resolver() {
  ret ptr @target
}

; CHECK-LABEL: define internal void @target()
; CHECK: midflight_enter
define internal void @target() {
  ret void
}
