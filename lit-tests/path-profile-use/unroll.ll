; In front of the vectorizer the mark of a profile becomes a count of unrolling, or goes.
; RUN: %opt -passes='path-profile-unroll' -S %s | FileCheck %s

declare void @g()

; Two ways around: what the profile asks for.
; CHECK-LABEL: define void @two_ways(
; CHECK: br i1 %more, label %head, label %done, !llvm.loop ![[COUNT8:[0-9]+]]
define void @two_ways(ptr %p, i64 %n) {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %i.next, %latch ]
  %c = load volatile i1, ptr %p
  br i1 %c, label %way, label %latch
way:
  store volatile i64 %i, ptr %p
  br label %latch
latch:
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %n
  br i1 %more, label %head, label %done, !llvm.loop !0
done:
  ret void
}

; What the source says stays, and other metadata too.
; CHECK-LABEL: define void @pragma(
; CHECK: br i1 %more, label %head, label %done, !llvm.loop ![[PRAGMA:[0-9]+]]
define void @pragma(ptr %p, i64 %n) {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %i.next, %latch ]
  %c = load volatile i1, ptr %p
  br i1 %c, label %way, label %latch
way:
  store volatile i64 %i, ptr %p
  br label %latch
latch:
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %n
  br i1 %more, label %head, label %done, !llvm.loop !3
done:
  ret void
}

; LLVM knows what to do with a single block,
; CHECK-LABEL: define void @one_block(
; CHECK: br i1 %more, label %head, label %done, !llvm.loop ![[NONE1:[0-9]+]]
define void @one_block(ptr %p, i64 %n) {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %i.next, %head ]
  store volatile i64 %i, ptr %p
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %n
  br i1 %more, label %head, label %done, !llvm.loop !7
done:
  ret void
}

; and with a loop whose length is a constant.
; CHECK-LABEL: define void @constant(
; CHECK: br i1 %more, label %head, label %done, !llvm.loop ![[NONE2:[0-9]+]]
define void @constant(ptr %p) {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %i.next, %latch ]
  %c = load volatile i1, ptr %p
  br i1 %c, label %way, label %latch
way:
  store volatile i64 %i, ptr %p
  br label %latch
latch:
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, 100
  br i1 %more, label %head, label %done, !llvm.loop !9
done:
  ret void
}

; Beside a call the jump back costs nothing.
; CHECK-LABEL: define void @calls(
; CHECK: br i1 %more, label %head, label %done, !llvm.loop ![[NONE3:[0-9]+]]
define void @calls(ptr %p, i64 %n) {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %i.next, %latch ]
  %c = load volatile i1, ptr %p
  br i1 %c, label %way, label %latch
way:
  call void @g()
  br label %latch
latch:
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %n
  br i1 %more, label %head, label %done, !llvm.loop !11
done:
  ret void
}

; Where size matters nothing is unrolled.
; CHECK-LABEL: define void @small(
; CHECK: br i1 %more, label %head, label %done, !llvm.loop ![[NONE4:[0-9]+]]
define void @small(ptr %p, i64 %n) optsize {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %i.next, %latch ]
  %c = load volatile i1, ptr %p
  br i1 %c, label %way, label %latch
way:
  store volatile i64 %i, ptr %p
  br label %latch
latch:
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %n
  br i1 %more, label %head, label %done, !llvm.loop !13
done:
  ret void
}

; Of a round with more than 16 instructions the jump back is a small part.
; CHECK-LABEL: define void @large(
; CHECK: br i1 %more, label %head, label %done, !llvm.loop ![[NONE5:[0-9]+]]
define void @large(ptr %p, i64 %n) {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %i.next, %latch ]
  %c = load volatile i1, ptr %p
  br i1 %c, label %way, label %latch
way:
  store volatile i64 %i, ptr %p
  br label %latch
latch:
  store volatile i64 0, ptr %p
  store volatile i64 1, ptr %p
  store volatile i64 2, ptr %p
  store volatile i64 3, ptr %p
  store volatile i64 4, ptr %p
  store volatile i64 5, ptr %p
  store volatile i64 6, ptr %p
  store volatile i64 7, ptr %p
  store volatile i64 8, ptr %p
  store volatile i64 9, ptr %p
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %n
  br i1 %more, label %head, label %done, !llvm.loop !15
done:
  ret void
}

; A vectorized loop does not keep the count.
; CHECK-DAG: ![[COUNT8]] = distinct !{![[COUNT8]], ![[PROGRESS:[0-9]+]], ![[BY8:[0-9]+]], ![[FOLLOW:[0-9]+]]}
; CHECK-DAG: ![[PROGRESS]] = !{!"llvm.loop.mustprogress"}
; CHECK-DAG: ![[BY8]] = !{!"llvm.loop.unroll.count", i32 8}
; CHECK-DAG: ![[FOLLOW]] = !{!"llvm.loop.vectorize.followup_all", ![[VECTORIZED:[0-9]+]], ![[NOT_AGAIN:[0-9]+]]}
; CHECK-DAG: ![[VECTORIZED]] = !{!"llvm.loop.isvectorized", i32 1}
; CHECK-DAG: ![[NOT_AGAIN]] = !{!"llvm.loop.unroll.runtime.disable"}
; CHECK-DAG: ![[PRAGMA]] = distinct !{![[PRAGMA]], ![[BY2:[0-9]+]]}
; CHECK-DAG: ![[BY2]] = !{!"llvm.loop.unroll.count", i32 2}
; CHECK-DAG: ![[NONE1]] = distinct !{![[NONE1]]}
; CHECK-DAG: ![[NONE2]] = distinct !{![[NONE2]]}
; CHECK-DAG: ![[NONE3]] = distinct !{![[NONE3]]}
; CHECK-DAG: ![[NONE4]] = distinct !{![[NONE4]]}
; CHECK-DAG: ![[NONE5]] = distinct !{![[NONE5]]}
; CHECK-NOT: midflight.unroll
!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.mustprogress"}
!2 = !{!"midflight.unroll", i32 8}
!3 = distinct !{!3, !4, !2}
!4 = !{!"llvm.loop.unroll.count", i32 2}
!7 = distinct !{!7, !2}
!9 = distinct !{!9, !2}
!11 = distinct !{!11, !2}
!13 = distinct !{!13, !2}
!15 = distinct !{!15, !2}
