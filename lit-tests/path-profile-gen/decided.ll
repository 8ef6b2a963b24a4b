; With k = 1 a path is counted as soon as it is clear how it will most likely end; on another way that is
; undone.
; RUN: %opt -passes='path-profile-gen<k=1;verify>' -S %s | FileCheck %s

; A counter for each arm, on an edge of its own: no path register behind them.
; CHECK-LABEL: define i32 @arms(
; CHECK:       body:
; CHECK:         br i1 %c, label %then, label %[[ELSE:.*]]
; CHECK:       {{^}}then:
; CHECK:         %[[COUNTERS:.*]] = getelementptr inbounds i8, ptr %midflight.forest, i64 48
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

; The loop's rounds are counted in it. Where it is left, the last is one that did not go back.
; CHECK-LABEL: define i32 @sum(
; CHECK:       {{^}}loop:
; CHECK-NEXT:    %midflight.path = phi i64 [ {{.*}}, %body ], [ [[START:.*]], %loop ]
; CHECK:         store atomic i64
; CHECK-NEXT:    br i1 %more, label %loop, label %[[OUT:.*]], !prof
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
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done, !prof !0
done:
  ret i32 %next
}
!0 = !{!"branch_weights", i32 100, i32 1}

; Not where a call may not come back.
; CHECK-LABEL: define i32 @calls(
; CHECK:         %z = call i32 @f()
; CHECK-NEXT:    %s = add
; CHECK-NEXT:    getelementptr
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
