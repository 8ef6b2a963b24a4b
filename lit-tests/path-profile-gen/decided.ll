; With k = 1 a path is counted as soon as it is clear how it will most likely end; on another way that is
; undone.
; RUN: %opt -passes='path-profile-gen<k=1;verify>' -S %s | FileCheck %s

; A counter for each arm, on an edge of its own: no path register behind them.
; CHECK-LABEL: define i32 @arms(
; CHECK:       body:
; CHECK:         br i1 %c, label %then, label %[[ELSE:.*]]
; CHECK:       {{^}}then:
; CHECK:         %[[COUNTERS:.*]] = getelementptr inbounds i8, ptr %midflight.forest, i64 40
; CHECK-NEXT:    %[[COUNTER:.*]] = getelementptr inbounds i64, ptr %[[COUNTERS]], i64 {{[01]}}
; CHECK-NEXT:    %[[COUNT:.*]] = load atomic i64, ptr %[[COUNTER]] monotonic
; CHECK-NEXT:    %[[MORE:.*]] = add i64 %[[COUNT]], 1
; CHECK-NEXT:    store atomic i64 %[[MORE]], ptr %[[COUNTER]] monotonic
; CHECK:       {{^}}join:
; CHECK-NEXT:    phi i32
; CHECK-NEXT:    ret i32
define i32 @arms(i1 %c, i32 %x) {
  br i1 %c, label %then, label %join
then:
  %y = add i32 %x, 1
  br label %join
join:
  %r = phi i32 [ %x, %0 ], [ %y, %then ]
  ret i32 %r
}

; A counter for each arm in the loop. Where the loop is left, the last round is one that did not go back.
; CHECK-LABEL: define i32 @sum(
; CHECK:       {{^}}loop:
; CHECK:         br i1 %odd, label %[[ODD:.*]], label %[[EVEN:.*]]
; CHECK:       {{^}}join:
; CHECK:         br i1 %more, label %loop, label %[[OUT:.*]], !prof
; CHECK:       {{^}}[[OUT]]:
; CHECK:         add i64 %{{.*}}, -1
; CHECK-NEXT:    store atomic i64
; CHECK:         br label %done
; CHECK:       {{^}}done:
; CHECK:         add i64 %{{.*}}, 1
; CHECK-NEXT:    store atomic i64
; CHECK-NEXT:    ret i32
define i32 @sum(i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %join ]
  %odd = trunc i32 %i to i1
  br i1 %odd, label %then, label %join
then:
  %double = shl i32 %i, 1
  br label %join
join:
  %x = phi i32 [ %i, %loop ], [ %double, %then ]
  %next = add i32 %x, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done, !prof !0
done:
  ret i32 %next
}
!0 = !{!"branch_weights", i32 100, i32 1}

; With one way around there is nothing to be undone: the edge that goes back counts.
; CHECK-LABEL: define i32 @count(
; CHECK:       {{^}}loop:
; CHECK-NOT:     store
; CHECK:         br i1 %more, label %[[BACK:.*]], label %done, !prof
; CHECK:       {{^}}[[BACK]]:
; CHECK:         add i64 %{{.*}}, 1
; CHECK-NEXT:    store atomic i64
; CHECK-NEXT:    br label %loop
; CHECK-NOT:     add i64 %{{.*}}, -1
; CHECK:         ret i32
define i32 @count(i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done, !prof !0
done:
  ret i32 %next
}

; Not where a call may not come back.
; CHECK-LABEL: define i32 @calls(
; CHECK:         %z = call i32 @f()
; CHECK-NEXT:    %s = add
; CHECK:         getelementptr
; CHECK:         ret i32
declare i32 @f()
define i32 @calls(i1 %c) {
  br i1 %c, label %then, label %join
then:
  br label %join
join:
  %z = call i32 @f()
  %s = add i32 %z, 1
  ret i32 %s
}
