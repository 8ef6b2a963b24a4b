; What passes rewrote by flags of base, by what its branches say, and by what values can be: conditions and
; addresses, which base must have well defined.
; RUN: %opt -passes='print<osr-map>(instcombine<no-verify-fixpoint>)' -disable-output %s | FileCheck %s
; RUN: %opt -passes='osr-opt<up=always;down=always;checked>(instcombine<no-verify-fixpoint>)' -verify-each -S %s -o /dev/null
; RUN: %opt -passes='osr-opt<fuzz;verify>(instcombine<no-verify-fixpoint>)' -S %s -o /dev/null

declare i32 @take(i32 noundef)
declare i32 @memcmp(ptr noundef, ptr noundef, i64 noundef) nounwind willreturn memory(read)

; `x + 1 > y` is `x >= y`: it does not wrap.
; CHECK: "name":"compares"
; CHECK-SAME: "base_to_opt":{"total":[[B:[0-9]+]],{{[^}]*}}"avail":[[B]],
; CHECK-SAME: "opt_to_base":{"total":[[O:[0-9]+]],{{[^}]*}}"avail":[[O]],
; CHECK-SAME: "unproved":[]
define i32 @compares(i32 noundef %x, i32 noundef %y) {
  %use = call i32 @take(i32 %y)
  %more = add nsw i32 %x, 1
  %is = icmp sgt i32 %more, %y
  br i1 %is, label %one, label %end
one:
  %one.use = call i32 @take(i32 %use)
  br label %end
end:
  %r = phi i32 [ %one.use, %one ], [ 0, %0 ]
  ret i32 %r
}

; A bit whose number is a sum that has become an `or`: `%i` is below 2 there. Both would shift too far at the
; same times.
; CHECK: "name":"bits"
; CHECK-SAME: "base_to_opt":{"total":[[B:[0-9]+]],{{[^}]*}}"avail":[[B]],
; CHECK-SAME: "opt_to_base":{"total":[[O:[0-9]+]],{{[^}]*}}"avail":[[O]],
; CHECK-SAME: "unproved":[]
define void @bits(i32 noundef %mask, i32 noundef %k) {
entry:
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  %more = icmp slt i32 %i, 2
  br i1 %more, label %body, label %end
body:
  %twice = mul nsw i32 2, %k
  %number = add nsw i32 %i, %twice
  %bit = shl i32 1, %number
  %masked = and i32 %mask, %bit
  %is = icmp ne i32 %masked, 0
  br i1 %is, label %one, label %latch
one:
  %use = call i32 @take(i32 %number)
  br label %latch
latch:
  %next = add nsw i32 %i, 1
  br label %head
end:
  ret void
}

; The last one of an array: its address is computed without the subtraction.
; CHECK: "name":"last"
; CHECK-SAME: "base_to_opt":{"total":[[B:[0-9]+]],{{[^}]*}}"avail":[[B]],
; CHECK-SAME: "opt_to_base":{"total":[[O:[0-9]+]],{{[^}]*}}"avail":[[O]],
; CHECK-SAME: "unproved":[]
define i32 @last(ptr noundef %p, i32 noundef %n) {
  %use = call i32 @take(i32 %n)
  %before = sub nsw i32 %n, 1
  %place = sext i32 %before to i64
  %at = getelementptr inbounds i32, ptr %p, i64 %place
  %v = load i32, ptr %at, align 4
  %is = icmp eq i32 %v, 3
  br i1 %is, label %one, label %end
one:
  %one.use = call i32 @take(i32 %v)
  ret i32 %one.use
end:
  ret i32 0
}

; A counter is never negative, so that its extension is unsigned; it counts down in another place.
; CHECK: "name":"counts"
; CHECK-SAME: "unproved":[]
define void @counts(ptr noundef %p, i32 noundef %n) {
  %first = sub nsw i32 %n, 1
  br label %down
down:
  %j = phi i32 [ %first, %0 ], [ %j.next, %down.body ]
  %is = icmp sge i32 %j, 0
  br i1 %is, label %down.body, label %begin
down.body:
  %use = call i32 @take(i32 %j)
  %j.next = add nsw i32 %j, -1
  br label %down
begin:
  br label %up
up:
  %i = phi i32 [ 0, %begin ], [ %i.next, %up.body ]
  %more = icmp slt i32 %i, %n
  br i1 %more, label %up.body, label %end
up.body:
  %place = sext i32 %i to i64
  %at = getelementptr inbounds i32, ptr %p, i64 %place
  %v = load i32, ptr %at, align 4
  %v.use = call i32 @take(i32 %v)
  %i.next = add nsw i32 %i, 1
  br label %up
end:
  ret void
}

; Only whether memory is the same matters.
; CHECK: "name":"same"
; CHECK-SAME: "unproved":[]
define i32 @same(ptr noundef %p, ptr noundef %q, i64 noundef %n) {
  %use = call i32 @take(i32 1)
  %differs = call i32 @memcmp(ptr noundef %p, ptr noundef %q, i64 noundef %n)
  %is = icmp eq i32 %differs, 0
  br i1 %is, label %one, label %end
one:
  %one.use = call i32 @take(i32 2)
  ret i32 %one.use
end:
  ret i32 0
}

; A list: its loads are one load of a phi of addresses.
; CHECK: "name":"list"
; CHECK-SAME: "unproved":[]
define void @list(ptr noundef %p) {
  %first = getelementptr inbounds i8, ptr %p, i64 8
  %n = load ptr, ptr %first, align 8
  br label %head
head:
  %at = phi ptr [ %n, %0 ], [ %next, %body ]
  %is = icmp ne ptr %at, null
  br i1 %is, label %body, label %end
body:
  %v = load i32, ptr %at, align 4
  %use = call i32 @take(i32 %v)
  %link = getelementptr inbounds i8, ptr %at, i64 8
  %next = load ptr, ptr %link, align 8
  br label %head
end:
  ret void
}
