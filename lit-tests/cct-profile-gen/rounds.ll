; A second run of the pass leaves functions alone that have been instrumented, and so does the other profiler's.
; RUN: %opt -passes='cct-profile-gen<verify>' -S %s > %t.once
; RUN: %opt -passes='cct-profile-gen<verify>,cct-profile-gen<verify>' -S %s > %t.twice
; RUN: diff %t.once %t.twice
; RUN: %opt -passes='cct-profile-gen<verify>' -S %t.once | FileCheck %s
; RUN: %opt -passes='path-profile-gen<k=2;verify>,cct-profile-gen<verify>' -S %s | FileCheck %s --check-prefix=BOTH
target triple = "x86_64-unknown-linux-gnu"
declare i32 @f(i32)

; CHECK-LABEL: define i32 @calls(
; CHECK:         load atomic ptr, ptr @midflight_context_word
; CHECK-NOT:     load atomic ptr, ptr @midflight_context_word
; CHECK:         ret i32
; BOTH-LABEL: define i32 @calls(
; BOTH-DAG:     @__midflight_slot.calls
; BOTH-DAG:     load atomic ptr, ptr @midflight_context_word
; BOTH:         call i32 @f(
; BOTH:         ret i32
define i32 @calls(i32 %n) {
  %x = call i32 @f(i32 %n)
  %y = call i32 @f(i32 %x)
  %z = add i32 %x, %y
  ret i32 %z
}
; CHECK-NOT: @__midflight_skipped
