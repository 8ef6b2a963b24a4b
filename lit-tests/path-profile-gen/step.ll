; The step of the automaton is inlined: the protocol of the ABI, in a function with few paths and in
; one with more.
; RUN: %opt -passes='path-profile-gen<k=4;verify>' -S %s | FileCheck %s

; CHECK-LABEL: define void @few(
; CHECK:       loop:
; CHECK-DAG:     %midflight.path = phi i64 [ 0, %body ], [ 32, %midflight.next ]
; CHECK:       emit:
; CHECK-NEXT:    %[[TABLE:.*]] = inttoptr i64 %midflight.state to ptr
; CHECK-NEXT:    %[[TALLY:.*]] = getelementptr inbounds i8, ptr %[[TABLE]], i64 %midflight.path
; CHECK-NEXT:    %[[PLACE:.*]] = getelementptr inbounds i8, ptr %[[TALLY]], i64 -8
; CHECK-NEXT:    %[[KNOWN:.*]] = load atomic i64, ptr %[[PLACE]] monotonic, align 8
; CHECK-NEXT:    %[[COLD:.*]] = icmp eq i64 %[[KNOWN]], 0
; CHECK-NEXT:    br i1 %[[COLD]], label %midflight.cold, label %midflight.hit, !prof
; CHECK:       midflight.hit:
; CHECK-NEXT:    %[[OLD:.*]] = load atomic i64, ptr %[[TALLY]] monotonic
; CHECK-NEXT:    %[[NEW:.*]] = add i64 %[[OLD]], 1
; CHECK-NEXT:    store atomic i64 %[[NEW]], ptr %[[TALLY]] monotonic
; CHECK-NEXT:    br label %[[NEXT:.*]]
; CHECK:       midflight.cold:
; CHECK-NEXT:    %[[OFFSET:.*]] = trunc i64 %midflight.path to i32
; CHECK-NEXT:    %[[FIELD:.*]] = getelementptr inbounds i8, ptr %midflight.forest, i64 32
; CHECK-NEXT:    %[[STEP:.*]] = load ptr, ptr %[[FIELD]]
; CHECK-NEXT:    %[[MADE:.*]] = call i64 %[[STEP]](i64 %midflight.state, i32 %[[OFFSET]], ptr %midflight.forest) #[[RETURNS:[0-9]+]]
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
; CHECK:         %[[HASH:.*]] = lshr i32 %[[REGISTER:.*]], 16
; CHECK-NEXT:    %[[MASK:.*]] = trunc i64 %[[STATE:.*]] to i32
; CHECK-NEXT:    %[[MASKED:.*]] = and i32 %[[HASH]], %[[MASK]]
; CHECK-NEXT:    %[[OFFSET:.*]] = zext i32 %[[MASKED]] to i64
; CHECK-NEXT:    %[[ADDRESS:.*]] = lshr i64 %[[STATE]], 16
; CHECK-NEXT:    %[[TABLE:.*]] = inttoptr i64 %[[ADDRESS]] to ptr
; CHECK-NEXT:    %[[PLACE:.*]] = getelementptr inbounds i8, ptr %[[TABLE]], i64 %[[OFFSET]]
; CHECK-NEXT:    %[[TALLY:.*]] = getelementptr inbounds i8, ptr %[[PLACE]], i64 8
; CHECK-NEXT:    %[[KEYS:.*]] = getelementptr inbounds i8, ptr %[[PLACE]], i64 12
; CHECK-NEXT:    %[[FOUND:.*]] = load atomic i32, ptr %[[KEYS]] acquire, align 4
; CHECK-NEXT:    %[[COLD:.*]] = icmp ne i32 %[[FOUND]], %[[REGISTER]]
; CHECK-NEXT:    br i1 %[[COLD]], label %midflight.cold{{[0-9]*}}, label %midflight.hit{{[0-9]*}}, !prof
; CHECK:       midflight.hit{{[0-9]*}}:
; CHECK-NEXT:    load atomic i64, ptr %[[TALLY]] monotonic
; CHECK-NEXT:    add i64 {{.*}}, 1
; CHECK-NEXT:    store atomic i64 {{.*}}, ptr %[[TALLY]] monotonic
; CHECK-NEXT:    load atomic i64, ptr %[[PLACE]] monotonic
; CHECK:       midflight.cold{{[0-9]*}}:
; CHECK:         call i64 %{{.*}}(i64 %[[STATE]], i32 %[[REGISTER]], ptr %midflight.forest) #[[RETURNS]]
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

; On x86-64 the runtime keeps most registers.
; RUN: %opt -mtriple=x86_64-unknown-linux-gnu -passes='path-profile-gen<k=4;verify>' -S %s | FileCheck %s --check-prefix=X86
; X86: call preserve_mostcc i64 %{{.*}}(i64

; Where a path seldom ends, the call is all there is, without a block of its own.
; X86-LABEL: define void @seldom(
; X86:       emit:
; X86:         load atomic i32
; X86:       seldom:
; X86-NEXT:    %[[LAST:.*]] = getelementptr inbounds i8, ptr %midflight.forest, i64 1
; X86-NEXT:    %[[STEP:.*]] = getelementptr inbounds i8, ptr %midflight.forest, i64 32
; X86-NEXT:    %[[CALLEE:.*]] = load ptr, ptr %[[STEP]]
; X86-NEXT:    call preserve_mostcc i64 %[[CALLEE]](i64 %{{.*}}, i32 {{.*}}, ptr %[[LAST]])
; X86-NEXT:    ret void
; X86:       done:
; CHECK-LABEL: define void @seldom(
; CHECK:       seldom:
; CHECK-NOT:   ret
; CHECK:         load atomic i32
; CHECK:       attributes #[[RETURNS]] = { nounwind willreturn }
define void @seldom(i32 %n, i1 %a, i1 %b) {
entry:
  br i1 %a, label %loop, label %seldom, !prof !0
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
seldom:
  ret void
done:
  ret void
}
!0 = !{!"branch_weights", i32 1000, i32 1}
