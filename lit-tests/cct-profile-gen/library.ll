; The word is the program's: code for shared libraries finds it by a look-up, code of executables has its place.
; RUN: %opt -passes='cct-profile-gen<verify>' -S %s | FileCheck %s
; RUN: sed 's/PIC Level/PIE Level/' %s | %opt -passes='cct-profile-gen<verify>' -S | FileCheck --check-prefix=PROGRAM %s
; RUN: %opt -passes='cct-profile-gen<verify>' -S %s | llc -O2 --relocation-model=pic | FileCheck %s --check-prefix=CODE
; RUN: sed 's/PIC Level/PIE Level/' %s | %opt -passes='cct-profile-gen<verify>' -S | llc -O2 | FileCheck %s --check-prefix=PROGRAM_CODE
target triple = "x86_64-unknown-linux-gnu"

; CHECK:        @midflight_context_word = external thread_local(initialexec) global ptr
; PROGRAM:      @midflight_context_word = external thread_local(localexec) global ptr
; CODE:         midflight_context_word@GOTTPOFF
; CODE-NOT:     __tls_get_addr
; PROGRAM_CODE: midflight_context_word@TPOFF
declare i32 @f()
define i32 @calls(i32 %x) {
  %z = call i32 @f()
  %s = add i32 %z, 1
  ret i32 %s
}

; Others may define what a library exports: it is not certain who is called.
; CHECK-LABEL: define i32 @exported(
; CHECK:         store atomic i64 %{{.*}}, ptr %midflight.node monotonic
; CHECK-NEXT:    %z = tail call i32 @calls(
define i32 @exported(i32 %x) {
  %z = tail call i32 @calls(i32 %x)
  ret i32 %z
}

; CHECK-LABEL: define i32 @hidden_too(
; CHECK:         store atomic ptr %{{.*}}, ptr @midflight_context_word
; CHECK-NEXT:    %z = tail call i32 @unseen(
define i32 @hidden_too(i32 %x) {
  %z = tail call i32 @unseen(i32 %x)
  ret i32 %z
}
define hidden i32 @unseen(i32 %x) {
  ret i32 %x
}
!llvm.module.flags = !{!0}
!0 = !{i32 8, !"PIC Level", i32 2}
