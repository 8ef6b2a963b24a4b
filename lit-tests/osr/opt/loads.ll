; Loads that a pass removed: what stands in their place is what memory had there.
; RUN: %opt -passes='print<osr-map>(gvn)' -disable-output %s | FileCheck %s
; RUN: %opt -passes='osr-opt<up=always;down=always;checked>(gvn)' -verify-each -S %s -o /dev/null

declare i32 @take(i32)

; Loaded on one way, and there again on the other one.
; CHECK: "name":"again"
; CHECK-SAME: "base_to_opt":{"total":13,{{[^}]*}}"avail":13,
; CHECK-SAME: "opt_to_base":{"total":[[O:[0-9]+]],{{[^}]*}}"avail":[[O]],
; CHECK-SAME: "unproved":[]
define i32 @again(ptr %p, i1 %c) {
entry:
  %x = load i32, ptr %p, align 4
  %use = call i32 @take(i32 %x)
  %y = load i32, ptr %p, align 4
  br i1 %c, label %one, label %join
one:
  %z = call i32 @take(i32 %y)
  br label %join
join:
  %last = load i32, ptr %p, align 4
  %wide = zext i32 %last to i64
  %more = icmp ugt i64 %wide, 7
  br i1 %more, label %two, label %end
two:
  %w = call i32 @take(i32 %last)
  ret i32 %w
end:
  ret i32 0
}

; The address is another one in each round.
; CHECK: "name":"list"
; CHECK-SAME: "base_to_opt":{"total":14,{{[^}]*}}"avail":14,
; CHECK-SAME: "opt_to_base":{"total":[[O:[0-9]+]],{{[^}]*}}"avail":[[O]],
; CHECK-SAME: "unproved":[]
define void @list(ptr %first) {
entry:
  %key0 = getelementptr inbounds i8, ptr %first, i64 8
  %k = load i32, ptr %key0, align 8
  %use = call i32 @take(i32 %k)
  %q = load i32, ptr %key0, align 8
  %again = icmp eq i32 %q, 1
  br i1 %again, label %head, label %end
head:
  %at = phi ptr [ %first, %entry ], [ %next, %body ]
  %key = getelementptr inbounds i8, ptr %at, i64 8
  %v = load i32, ptr %key, align 8
  %is = icmp eq i32 %v, 3
  br i1 %is, label %end, label %body
body:
  %x = call i32 @take(i32 %v)
  %next = load ptr, ptr %at, align 8
  br label %head
end:
  ret void
}

; A store of what the place has.
; CHECK: "name":"left"
; CHECK-SAME: "base_to_opt":{"total":[[B:[0-9]+]],{{[^}]*}}"avail":[[B]],
; CHECK-SAME: "opt_to_base":{"total":[[O:[0-9]+]],{{[^}]*}}"avail":[[O]],
; CHECK-SAME: "unproved":[]
define i32 @left(ptr %p, ptr %q) {
  %x = load i32, ptr %p, align 4
  store i32 %x, ptr %q, align 4
  %y = load i32, ptr %p, align 4
  %u = call i32 @take(i32 %y)
  ret i32 %u
}

; The place may be written to in part: GVN leaves the load, and so it is matched.
; CHECK: "name":"in_part"
; CHECK-SAME: "base_to_opt":{"total":[[B:[0-9]+]],{{[^}]*}}"avail":[[B]],
define i32 @in_part(ptr %p, ptr %q) {
  %x = load i32, ptr %p, align 1
  store i32 %x, ptr %q, align 1
  %y = load i32, ptr %p, align 1
  %u = call i32 @take(i32 %y)
  ret i32 %u
}
