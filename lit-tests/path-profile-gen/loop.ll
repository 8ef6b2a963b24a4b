; A loop emits on its back edge and at its return; the state is an SSA value. Something in it may wait
; for other threads, so its rounds are not counted in a register.
; RUN: %opt -passes='path-profile-gen<k=4;verify>' -S %s | FileCheck %s
; RUN: %opt -passes='path-profile-gen<k=1;verify>' -S %s | FileCheck %s --check-prefix=ONE

; CHECK-LABEL: define i32 @sum(
; CHECK:       loop:
; CHECK-DAG:     %midflight.path = phi i64 [ {{.*}}, %body ], [ {{.*}}, %midflight.next ]
; CHECK-DAG:     %midflight.state = phi i64 [ %{{.*}}, %body ], [ %[[NEXT:.*]], %midflight.next ]
; CHECK:         br i1
; CHECK:       emit:
; CHECK:         call i64 %{{.*}}(i64 %midflight.state, i32
; CHECK:       midflight.next:
; CHECK-NEXT:    %[[NEXT]] = phi i64
; CHECK-NEXT:    br label %loop
; Behind the last path there is no state: the call says so, and nothing is loaded.
; CHECK:       done:
; CHECK:         %[[LAST:.*]] = getelementptr inbounds i8, ptr %midflight.forest, i64 1
; CHECK:         call i64 %{{.*}}(i64 %{{.*}}, i32 %{{.*}}, ptr %[[LAST]])
; CHECK-NOT:     phi
; CHECK:         ret i32

; With k=1 the same loop counts in an array.
; ONE-LABEL: define i32 @sum(
; ONE-NOT:     call i64
; ONE:       declare ptr @midflight_enter
@flag = global i32 0
define i32 @sum(i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  load volatile i32, ptr @flag
  br i1 %more, label %loop, label %done
done:
  ret i32 %next
}
