; A loop emits on its back edge and at its return; the state is an SSA value.
; RUN: %opt -passes='path-profile-gen<k=4;verify>' -S %s | FileCheck %s
; RUN: %opt -passes='path-profile-gen<k=1;verify>' -S %s | FileCheck %s --check-prefix=ONE

; CHECK-LABEL: define i32 @sum(
; CHECK:       loop:
; CHECK-DAG:     %midflight.path = phi i32 [ {{.*}}, %body ], [ {{.*}}, %emit ]
; CHECK-DAG:     %midflight.state = phi ptr [ %midflight.forest, %body ], [ %[[NEXT:.*]], %emit ]
; CHECK:         br i1
; CHECK:       emit:
; CHECK-NEXT:    %[[NEXT]] = call ptr @midflight_step(ptr %midflight.state, i32
; CHECK-NEXT:    br label %loop
; CHECK:         call ptr @midflight_step(
; CHECK-NEXT:    ret i32
; CHECK:       declare ptr @midflight_step(ptr, i32)

; With k=1 the same loop counts in an array.
; ONE-LABEL: define i32 @sum(
; ONE-NOT:     midflight_step
; ONE:       declare ptr @midflight_enter
define i32 @sum(i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret i32 %next
}
