; The rounds of a loop with a single path are counted in a register, and emitted where it is left.
; RUN: %opt -passes='path-profile-gen<k=4;verify>' -S %s | FileCheck %s
; RUN: %opt -passes='path-profile-gen<k=1;verify>' -S %s | FileCheck %s --check-prefix=ONE

; CHECK-LABEL: define i32 @sum(
; CHECK:       loop:
; CHECK-DAG:     %midflight.rounds = phi i64 [ 0, %body ], [ %[[MORE:.*]], %loop ]
; CHECK-DAG:     %midflight.state = phi i64 [ %{{.*}}, %body ], [ %midflight.state, %loop ]
; CHECK-NOT:     midflight_step
; CHECK:         %[[MORE]] = add i64 %midflight.rounds, 1
; CHECK:         br i1 %more, label %loop, label %emit
; CHECK:       emit:
; CHECK-NEXT:    %[[NONE:.*]] = icmp eq i64 %midflight.rounds, 0
; CHECK-NEXT:    br i1 %[[NONE]], label %[[NEXT:.*]], label %[[FIRST:.*]], !prof
; CHECK:         call i64 @midflight_step(i64 %midflight.state, i32
; CHECK:         %[[OTHERS:.*]] = sub i64 %midflight.rounds, 1
; CHECK-NEXT:    icmp eq i64 %midflight.rounds, 1
; CHECK:         %[[LAST:.*]] = call i64 @midflight_run(i64 %{{.*}}, i32 2, i64 %[[OTHERS]], ptr %midflight.forest)
; CHECK:       [[NEXT]]:
; CHECK-NEXT:    %[[STATE:.*]] = phi i64 [ %midflight.state, %emit ], {{.*}}, [ %[[LAST]], %midflight.more ]
; CHECK:       done:
; CHECK-NEXT:    %[[JOINED:.*]] = phi i64 [ %[[STATE]], %{{.*}} ]
; CHECK:         call i64 @midflight_step(i64 %[[JOINED]], i32

; ONE-LABEL: define i32 @sum(
; ONE:       emit:
; ONE-NEXT:    getelementptr inbounds i8, ptr %midflight.forest, i64 40
; ONE-NEXT:    %[[IS:.*]] = icmp ne i64 %midflight.rounds, 0
; ONE-NEXT:    %[[ANY:.*]] = zext i1 %[[IS]] to i64
; ONE:         sub i64 %midflight.rounds, %[[ANY]]
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

; With more than one path, with a call that may not come back, or around another loop: as ever.
; CHECK-LABEL: define void @others(
; CHECK-NOT:     midflight.rounds
declare void @f()
define void @others(i32 %n, i1 %c) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  br i1 %c, label %then, label %latch
then:
  br label %latch
latch:
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %calls
calls:
  %j = phi i32 [ 0, %latch ], [ %j.next, %calls ]
  call void @f()
  %j.next = add i32 %j, 1
  %again = icmp slt i32 %j.next, %n
  br i1 %again, label %calls, label %done
done:
  ret void
}
