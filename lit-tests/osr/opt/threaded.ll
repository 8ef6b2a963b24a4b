; Branches that a pass threaded or merged are followed through both versions together: what a way
; that was taken decides is known on it.
; RUN: %opt -passes='print<osr-map>(simplifycfg)' -disable-output %s | FileCheck --check-prefix=MERGE %s
; RUN: %opt -passes='print<osr-map>(jump-threading)' -disable-output %s | FileCheck --check-prefix=THREAD %s
; RUN: %opt -passes='osr-opt<up=always;down=always>(simplifycfg)' -verify-each -S %s -o /dev/null
; RUN: %opt -passes='osr-opt<up=always;down=always>(jump-threading)' -verify-each -S %s -o /dev/null

declare i32 @take(i32)
declare i32 @compare(ptr, ptr)
declare void @none()

; A loop whose test of a pointer is repeated behind it.
; MERGE: "name":"find"
; MERGE-SAME: "base_to_opt":{"total":20,{{[^}]*}}"avail":17,
; MERGE-SAME: "opt_to_base":{"total":20,{{[^}]*}}"avail":20,
; MERGE-SAME: "unproved":[]
; THREAD: "name":"find"
; THREAD-SAME: "base_to_opt":{"total":20,{{[^}]*}}"avail":17,
; THREAD-SAME: "opt_to_base":{"total":17,{{[^}]*}}"avail":17,
; THREAD-SAME: "unproved":[]
define void @find(ptr %list, ptr %key) {
entry:
  %first = load ptr, ptr %list
  br label %head
head:
  %n = phi i32 [ 0, %entry ], [ %n.next, %latch ]
  %p = phi ptr [ %first, %entry ], [ %p.next, %latch ]
  %more = icmp ne ptr %p, null
  br i1 %more, label %look, label %test
look:
  %name = load ptr, ptr %p
  %r = call i32 @compare(ptr %name, ptr %key)
  %differs = icmp ne i32 %r, 0
  br label %test
test:
  %goes = phi i1 [ false, %head ], [ %differs, %look ]
  br i1 %goes, label %latch, label %end
latch:
  %n.next = add nsw i32 %n, 1
  %link = getelementptr i8, ptr %p, i64 8
  %p.next = load ptr, ptr %link
  br label %head
end:
  %found = icmp ne ptr %p, null
  br i1 %found, label %yes, label %no
yes:
  %y = call i32 @take(i32 %n)
  br label %out
no:
  call void @none()
  br label %out
out:
  ret void
}

; A test that is repeated behind a join: where it held before, one copy of what comes next is left.
; THREAD: "name":"again"
; THREAD-SAME: "base_to_opt":{"total":14,{{[^}]*}}"avail":12,
; THREAD-SAME: "opt_to_base":{"total":11,{{[^}]*}}"avail":11,
; THREAD-SAME: "unproved":[]
define i32 @again(ptr %q, i32 %k, i32 %m) {
entry:
  %c = icmp eq i32 %k, 0
  br i1 %c, label %one, label %two
one:
  %x = call i32 @take(i32 1)
  br label %join
two:
  %y = call i32 @take(i32 2)
  br label %join
join:
  %s = phi i32 [ %x, %one ], [ %y, %two ]
  %again = icmp eq i32 %k, 0
  br i1 %again, label %three, label %four
three:
  %z = call i32 @take(i32 %s)
  br label %five
four:
  %l = load i32, ptr %q
  %d = icmp eq i32 %l, %m
  br i1 %d, label %three, label %five
five:
  %r = phi i32 [ %z, %three ], [ %l, %four ]
  ret i32 %r
}
