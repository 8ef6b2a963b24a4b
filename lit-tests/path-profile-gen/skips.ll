; Functions that are left alone, each with its reason as a remark.
; RUN: %opt -passes='path-profile-gen<verify>' -pass-remarks-missed=midflight -S %s 2>%t.remarks | FileCheck %s
; RUN: FileCheck %s --check-prefix=REMARK < %t.remarks

; What is not profiled anywhere is told to the command.
; CHECK: @__midflight_skipped = private constant [{{.*}}] c"unprofiled\00NoProfileAttribute\00coroutine\00Coroutine\00resolver\00IfuncResolver\00{{.*}}", section "midflight_skipped", align 1
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
