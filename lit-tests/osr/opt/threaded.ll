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
; MERGE-SAME: "base_to_opt":{"total":20,{{[^}]*}}"avail":20,
; MERGE-SAME: "opt_to_base":{"total":20,{{[^}]*}}"avail":20,
; MERGE-SAME: "unproved":[]
; THREAD: "name":"find"
; THREAD-SAME: "base_to_opt":{"total":20,{{[^}]*}}"avail":20,
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

; A test that a join repeats: each way to it has decided that, one by a constant, one by a branch.
; THREAD: "name":"retry"
; THREAD-SAME: "opt_to_base":{"total":[[R:[0-9]+]],{{[^}]*}}"avail":[[R]],
; THREAD-SAME: "unproved":[]
define i32 @retry(i32 %many) {
entry:
  br label %head
head:
  %left = phi i32 [ %many, %entry ], [ %left.next, %join ]
  %r = call i32 @take(i32 %left)
  %failed = icmp slt i32 %r, 0
  br i1 %failed, label %error, label %some
error:
  %e = call i32 @take(i32 -1)
  %again = icmp eq i32 %e, 4
  br i1 %again, label %interrupted, label %give.up
interrupted:
  br label %join
some:
  %any = icmp sgt i32 %r, 0
  br i1 %any, label %less, label %none.left
less:
  %fewer = sub i32 %left, %r
  br label %none.left
none.left:
  %left.some = phi i32 [ %fewer, %less ], [ %left, %some ]
  br label %join
join:
  %got = phi i32 [ 1, %interrupted ], [ %r, %none.left ]
  %left.next = phi i32 [ %left, %interrupted ], [ %left.some, %none.left ]
  %more = icmp sgt i32 %got, 0
  br i1 %more, label %head, label %done
done:
  ret i32 %left.next
give.up:
  ret i32 %e
}

; A test behind a loop that repeats the second part of the loop's condition: its phi is what the
; branch was on that decided it.
; THREAD: "name":"either"
; THREAD-SAME: "opt_to_base":{"total":[[E:[0-9]+]],{{[^}]*}}"avail":[[E]],
; THREAD-SAME: "unproved":[]
define i32 @either(ptr %p, i32 %n) {
entry:
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %i.next, %body ]
  %x = phi i32 [ 0, %entry ], [ %r, %body ]
  %v = load i32, ptr %p
  %c = icmp slt i32 %i, %v
  br i1 %c, label %second, label %test
second:
  %d = icmp eq i32 %x, 0
  br label %test
test:
  %goes = phi i1 [ false, %head ], [ %d, %second ]
  br i1 %goes, label %body, label %behind
body:
  %r = call i32 @take(i32 %n)
  %i.next = add nsw i32 %i, 1
  br label %head
behind:
  %f = icmp eq i32 %x, 0
  br i1 %f, label %yes, label %out
yes:
  br label %out
out:
  %q = phi i32 [ 5, %yes ], [ %x, %behind ]
  ret i32 %q
}

; A store that is copied with its block: each copy runs with the copy that was threaded.
; THREAD: "name":"stored"
; THREAD-SAME: "opt_to_base":{"total":[[S:[0-9]+]],{{[^}]*}}"avail":[[S]],
; THREAD-SAME: "unproved":[]
define void @stored(ptr %p, ptr %q, i32 %n) {
entry:
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %i.next, %end ]
  %v = load i32, ptr %p
  %over = icmp uge i32 %i, %v
  br i1 %over, label %past, label %within
past:
  br label %both
within:
  %a = load ptr, ptr %q
  br label %both
both:
  %f = phi ptr [ null, %past ], [ %a, %within ]
  store i32 0, ptr %p
  %is = icmp ne ptr %f, null
  br i1 %is, label %calls, label %end
calls:
  %r = call i32 @compare(ptr %f, ptr %q)
  br label %end
end:
  call void @none()
  %i.next = add i32 %i, 1
  %last = icmp eq i32 %i.next, %n
  br i1 %last, label %out, label %head
out:
  ret void
}
