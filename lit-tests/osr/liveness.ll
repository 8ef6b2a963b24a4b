; The values live at each point: before its instruction. A phi uses its operands on the edges that
; they come from and defines its result at the head of its block; an invoke's result lives on the
; normal edge only.
; RUN: %opt -passes='print<osr-liveness>' -disable-output %s 2>&1 | FileCheck %s

declare i32 @may_throw(i32)
declare void @use(i32)
declare i32 @__gxx_personality_v0(...)

; What comes in by a phi is live at the end of the block that it comes from, not in the phi's block.
; CHECK-LABEL: liveness of 'phis':
; CHECK-NEXT: %entry: {%c, %a, %b}
; CHECK-NEXT:   br: {%c, %a, %b}
; CHECK-NEXT: %left: {%a}
; CHECK-NEXT:   %x = add: {%a}
; CHECK-NEXT:   br: {%a, %x}
; CHECK-NEXT: %join: {}
; CHECK-NEXT:   %r = add: {%p, %q}
; CHECK-NEXT:   ret: {%r}
define i32 @phis(i1 %c, i32 %a, i32 %b) {
entry:
  br i1 %c, label %left, label %join
left:
  %x = add i32 %a, 1
  br label %join
join:
  %p = phi i32 [ %x, %left ], [ %b, %entry ]
  %q = phi i32 [ %a, %left ], [ %a, %entry ]
  %r = add i32 %q, %p
  ret i32 %r
}

; What is used in a loop is live all around it; a dead value is live nowhere.
; CHECK-LABEL: liveness of 'nested':
; CHECK: %outer: {%n, %k}
; CHECK: %inner: {%n, %k, %i}
; CHECK-NEXT: %dead = mul: {%n, %k, %i, %j}
; CHECK-NEXT: %j1 = add: {%n, %k, %i, %j}
; CHECK-NEXT: %again = icmp: {%n, %k, %i, %j1}
; CHECK-NEXT: br: {%n, %k, %i, %j1, %again}
; CHECK: %latch: {%n, %k, %i}
; CHECK: %exit: {%k}
; CHECK-NEXT: ret: {%k}
define i32 @nested(i32 %n, i32 %k) {
entry:
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %i1, %latch ]
  br label %inner
inner:
  %j = phi i32 [ 0, %outer ], [ %j1, %inner ]
  %dead = mul i32 %j, %k
  %j1 = add i32 %j, 1
  %again = icmp slt i32 %j1, %n
  br i1 %again, label %inner, label %latch
latch:
  %i1 = add i32 %i, 1
  %more = icmp slt i32 %i1, %n
  br i1 %more, label %outer, label %exit
exit:
  ret i32 %k
}

; Two phis that exchange their values use each other's result on the back edge.
; CHECK-LABEL: liveness of 'swap':
; CHECK: %loop: {%n}
; CHECK-NEXT: %i1 = sub: {%n, %x, %y, %i}
; CHECK-NEXT: %more = icmp: {%n, %x, %y, %i1}
; CHECK-NEXT: br: {%n, %x, %y, %i1, %more}
; CHECK: %exit: {%x}
define i32 @swap(i32 %a, i32 %b, i32 %n) {
entry:
  br label %loop
loop:
  %x = phi i32 [ %a, %entry ], [ %y, %loop ]
  %y = phi i32 [ %b, %entry ], [ %x, %loop ]
  %i = phi i32 [ 0, %entry ], [ %i1, %loop ]
  %i1 = sub i32 %i, 1
  %more = icmp sgt i32 %i1, %n
  br i1 %more, label %loop, label %exit
exit:
  ret i32 %x
}

; CHECK-LABEL: liveness of 'exceptions':
; CHECK: %entry: {%a}
; CHECK-NEXT: invoke: {%a}
; CHECK-NEXT: %normal: {%r}
; CHECK: %pad: {%a}
; CHECK-NEXT: %e = landingpad: {%a}
; CHECK-NEXT: call: {%a, %e}
; CHECK-NEXT: resume: {%e}
define i32 @exceptions(i32 %a) personality ptr @__gxx_personality_v0 {
entry:
  %r = invoke i32 @may_throw(i32 %a) to label %normal unwind label %pad
normal:
  ret i32 %r
pad:
  %e = landingpad { ptr, i32 } cleanup
  call void @use(i32 %a)
  resume { ptr, i32 } %e
}

; Blocks that cannot be reached are not there, and what they use is not live.
; CHECK-LABEL: liveness of 'unreached':
; CHECK-NEXT: %entry: {%a}
; CHECK-NEXT: ret: {%a}
; CHECK-NOT: %island
define i32 @unreached(i32 %a, i32 %b) {
entry:
  ret i32 %a
island:
  call void @use(i32 %b)
  br label %island
}
