; What other modules may define as well is shared under a name that says what it is; it is not in
; the function's own comdat, as code inlined from the function refers to it from outside.
; RUN: %opt -passes='path-profile-gen<verify>' -S %s | FileCheck %s

$inline = comdat any
; CHECK: $__midflight_table.inline.[[KEY:[0-9a-f]*]] = comdat any
; CHECK: $__midflight_slot.inline.[[KEY]] = comdat any
; CHECK: @__midflight_table.inline.[[KEY]] = linkonce_odr hidden constant {{.*}} section "midflight_tables", comdat, align 8
; CHECK: @__midflight_slot.inline.[[KEY]] = linkonce_odr hidden thread_local global ptr null, comdat
define linkonce_odr void @inline() comdat {
  ret void
}
