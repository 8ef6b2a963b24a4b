; The step of the automaton is inlined: the protocol of the ABI, in a function with few paths and in
; one with more.
; RUN: %opt -passes='path-profile-gen<k=4;verify>' -S %s | FileCheck %s

; CHECK-LABEL: define void @few(
; CHECK:       emit:
; CHECK-NEXT:    %[[TABLE:.*]] = inttoptr i64 %midflight.state to ptr
; CHECK:         %[[PLACE:.*]] = getelementptr inbounds i64, ptr %[[TABLE]], i64
; CHECK-NEXT:    %[[COUNT:.*]] = getelementptr inbounds i8, ptr %[[PLACE]], i64 12
; CHECK-NEXT:    %[[KEY:.*]] = getelementptr inbounds i8, ptr %[[PLACE]], i64 8
; CHECK-NEXT:    %[[FOUND:.*]] = load atomic i32, ptr %[[KEY]] acquire, align 4
; CHECK:         %[[OTHER:.*]] = icmp ne i32 %[[FOUND]],
; CHECK:         load atomic i32, ptr %[[COUNT]] monotonic, align 4
; CHECK:         %[[FULL:.*]] = icmp sle i32 {{.*}}, -1
; CHECK-NEXT:    %[[COLD:.*]] = or i1 %[[OTHER]], %[[FULL]]
; CHECK-NEXT:    br i1 %[[COLD]], label %midflight.cold, label %midflight.hit, !prof
; CHECK:       midflight.hit:
; CHECK-NEXT:    %[[OLD:.*]] = load atomic i32, ptr %[[COUNT]] monotonic
; CHECK-NEXT:    %[[NEW:.*]] = add i32 %[[OLD]], 1
; CHECK-NEXT:    store atomic i32 %[[NEW]], ptr %[[COUNT]] monotonic
; CHECK-NEXT:    %[[KNOWN:.*]] = load atomic i64, ptr %[[PLACE]] monotonic
; CHECK-NEXT:    br label %[[NEXT:.*]]
; CHECK:       midflight.cold:
; CHECK-NEXT:    %[[MADE:.*]] = call i64 @midflight_step(i64 %midflight.state, i32 %[[ID:.*]], ptr %midflight.forest)
; CHECK-NEXT:    br label %[[NEXT]]
; CHECK:       [[NEXT]]:
; CHECK-NEXT:    phi i64 [ %[[KNOWN]], %midflight.hit ], [ %[[MADE]], %midflight.cold ]
@flag = global i32 0
define void @few(i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  load volatile i32, ptr @flag
  br i1 %more, label %loop, label %done
done:
  ret void
}

; CHECK-LABEL: define void @many(
; CHECK:         mul i32 {{.*}}, -1640531535
; CHECK-NEXT:    lshr i32 {{.*}}, 12
; CHECK-NEXT:    %[[MASK:.*]] = lshr i64 %[[STATE:.*]], 48
; CHECK-NEXT:    zext i32
; CHECK-NEXT:    %[[OFFSET:.*]] = and i64 %[[MASK]],
; CHECK-NEXT:    %[[ADDRESS:.*]] = and i64 %[[STATE]], 281474976710655
; CHECK-NEXT:    %[[TABLE:.*]] = inttoptr i64 %[[ADDRESS]] to ptr
; CHECK-NEXT:    getelementptr inbounds i8, ptr %[[TABLE]], i64 %[[OFFSET]]
define void @many(i32 %n, i1 %a, i1 %b) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  br i1 %a, label %left, label %right
left:
  br label %middle
right:
  br label %middle
middle:
  br i1 %b, label %up, label %latch
up:
  br label %latch
latch:
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}
