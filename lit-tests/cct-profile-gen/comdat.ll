; What other modules may define as well has its record under a name that says what it is, outside the function's own
; comdat, as code inlined from the function refers to it.
; RUN: %opt -passes='cct-profile-gen<stage=early;verify>' -S %s | FileCheck %s
target triple = "x86_64-unknown-linux-gnu"

$inline = comdat any
; CHECK: $__midflight_contexts.inline.[[KEY:[0-9a-f]*]] = comdat any
; CHECK: @__midflight_contexts.inline.[[KEY]] = linkonce_odr hidden constant {{.*}} section "midflight_tables", comdat, align 8
define linkonce_odr void @inline() comdat {
  ret void
}
