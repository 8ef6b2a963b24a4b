; Functions that are left alone, each with its reason as a remark and for the command.
; RUN: %opt -passes='cct-profile-gen<verify>' -pass-remarks-missed=midflight -S %s 2>%t.remarks | FileCheck %s
; RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
target triple = "x86_64-unknown-linux-gnu"

; CHECK: @__midflight_skipped = private constant [{{.*}}] c"quiet\00NoProfileAttribute\00bare\00Naked\00coroutine\00Coroutine\00resolver\00IfuncResolver\00", section "midflight_skipped", align 1
; CHECK: @llvm.used = appending global {{.*}}@__midflight_skipped

declare void @f()

; REMARK: calls are not profiled: its attributes ask for no profiling
; CHECK-LABEL: define void @quiet()
; CHECK-NEXT:    call void @f()
; CHECK-NEXT:    ret void
define void @quiet() noprofile {
  call void @f()
  ret void
}

; REMARK: calls are not profiled: it is naked
; CHECK-LABEL: define void @bare()
; CHECK-NEXT:    call void asm sideeffect "ret", ""()
; CHECK-NEXT:    unreachable
define void @bare() naked {
  call void asm sideeffect "ret", ""()
  unreachable
}

; Another unit has it.
; REMARK-NOT: available
; CHECK-LABEL: define available_externally void @copy()
; CHECK-NEXT:    call void @f()
; CHECK-NEXT:    ret void
define available_externally void @copy() {
  call void @f()
  ret void
}

; REMARK: calls are not profiled: it is a coroutine
; CHECK-LABEL: define void @coroutine()
; CHECK-NEXT:    ret void
define void @coroutine() presplitcoroutine {
  ret void
}

; REMARK: calls are not profiled: it resolves an ifunc
@indirect = ifunc void (), ptr @resolver
; CHECK-LABEL: define ptr @resolver()
; CHECK-NEXT:    ret ptr
define ptr @resolver() {
  ret ptr @target
}

; CHECK-LABEL: define internal void @target()
; CHECK:         midflight_context_word
define internal void @target() {
  ret void
}
