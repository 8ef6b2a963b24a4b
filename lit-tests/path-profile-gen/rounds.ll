; The rounds of a loop with a single path are counted in a register behind the first k - 1, and
; emitted where it is left.
; RUN: %opt -passes='path-profile-gen<k=4;verify>' -S %s | FileCheck %s

; CHECK-LABEL: define i32 @sum(
; CHECK:       {{^}}loop:
; CHECK-DAG:     %midflight.rounds = phi i64 [ 0, %body ], [ %[[MORE:.*]], %[[BACK:.*]] ]
; CHECK-DAG:     %midflight.path = phi i64 [ {{.*}}, %body ], [ 32, %[[BACK]] ]
; CHECK-NOT:     call i64
; CHECK:         br i1 %more, label %[[ROUND:.*]], label %[[OUT:.*]]
; CHECK:       {{^}}[[OUT]]:
; CHECK-NEXT:    %[[MANY:.*]] = icmp sgt i64 %midflight.rounds, 3
; CHECK-NEXT:    %[[OTHERS:.*]] = sub i64 %midflight.rounds, 3
; CHECK-NEXT:    br i1 %[[MANY]], label %[[SOME:.*]], label %[[NEXT:.*]]
; CHECK:       {{^}}[[SOME]]:
; CHECK-NEXT:    %[[LAST:.*]] = call i64 @midflight_run(i64 %midflight.state, i32 2, i64 %[[OTHERS]], ptr %midflight.forest)
; CHECK:       {{^}}[[NEXT]]:
; CHECK-NEXT:    %[[STATE:.*]] = phi i64 [ %midflight.state, %[[OUT]] ], [ %[[LAST]], %[[SOME]] ]
; CHECK:       {{^}}[[ROUND]]:
; CHECK-NEXT:    %[[FEW:.*]] = icmp sle i64 %midflight.rounds, 2
; CHECK-NEXT:    br i1 %[[FEW]], label %midflight.some{{.*}}, label %[[BACK]]
; CHECK:         call i64 %{{.*}}(i64 %midflight.state, i32
; CHECK:       {{^}}[[BACK]]:
; CHECK:         %[[MORE]] = add i64 %midflight.rounds, 1
; CHECK-NEXT:    br label %loop
; CHECK:       {{^}}done:
; CHECK-NEXT:    %[[JOINED:.*]] = phi i64 [ %[[STATE]], %{{.*}} ]
; CHECK:         call i64 %{{.*}}(i64 %[[JOINED]], i32
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

; Where nothing leaves the loop, no place would emit what the register has: as ever.
; CHECK-LABEL: define void @forever(
; CHECK-NOT:     midflight.rounds
define void @forever() {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %next = add i32 %i, 1
  br label %loop
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
