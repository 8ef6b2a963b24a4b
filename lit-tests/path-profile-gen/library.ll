; In code for shared libraries the slot is found by a call: the forest is looked up on entry alone.
; RUN: %opt -passes='path-profile-gen<k=1;verify>' -S %s | FileCheck %s
; RUN: sed 's/PIC Level/PIE Level/' %s | %opt -passes='path-profile-gen<k=1;verify>' -S \
; RUN:   | FileCheck --check-prefix=PROGRAM %s

; CHECK-LABEL:     define i32 @calls(
; CHECK:             call ptr @midflight_enter(
; CHECK:             call i32 @f()
; CHECK-NEXT:        %s = add
; CHECK-NEXT:        getelementptr inbounds i8, ptr %midflight.forest, i64 40
; CHECK-NOT:         midflight_enter
; CHECK:             ret i32
; PROGRAM-LABEL:   define i32 @calls(
; PROGRAM:           call i32 @f()
; PROGRAM-NEXT:      %s = add
; PROGRAM-NEXT:      load ptr, ptr @
; PROGRAM:           call ptr @midflight_enter(
; PROGRAM:           ret i32
declare i32 @f()
define i32 @calls(i32 %x) {
  %c = icmp eq i32 %x, 0
  br i1 %c, label %done, label %call
call:
  %z = call i32 @f()
  %s = add i32 %z, 1
  ret i32 %s
done:
  ret i32 0
}
!llvm.module.flags = !{!0}
!0 = !{i32 8, !"PIC Level", i32 2}
