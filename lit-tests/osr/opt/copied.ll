; What passes copy is matched: rotated, unrolled, peeled and threaded loops and branches, and blocks
; that became one. Opt leads to base from each copy; base leads into opt where one copy only may be due, or
; where the edge that control came over tells which one is.
; RUN: %opt -passes='print<osr-map>(loop-simplify,lcssa,loop(loop-rotate))' -disable-output %s | FileCheck %s
; RUN: %opt -passes='print<osr-map>(loop-simplify,lcssa,loop(loop-rotate),loop-unroll<full-unroll-max=8>)' -disable-output %s | FileCheck --check-prefixes=CHECK,UNROLL %s
; RUN: %opt -passes='print<osr-map>(jump-threading)' -disable-output %s | FileCheck --check-prefix=THREAD %s
; RUN: %opt -passes='osr-opt<up=always;down=always;checked>(loop-simplify,lcssa,loop(loop-rotate),loop-unroll,jump-threading)' -verify-each -S %s -o /dev/null

declare i32 @take(i32)

; CHECK: "name":"rotated"
; CHECK-SAME: "base_to_opt":{"total":8,{{[^}]*}}"avail":8,
; CHECK-SAME: "opt_to_base":{"total":10,{{[^}]*}}"avail":10,
; CHECK-SAME: "unproved":[]
define i32 @rotated(ptr %p, i32 %n) {
entry:
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %next, %body ]
  %s = phi i32 [ 0, %entry ], [ %sum, %body ]
  %more = icmp slt i32 %i, %n
  br i1 %more, label %body, label %end
body:
  %x = call i32 @take(i32 %i)
  %sum = add i32 %s, %x
  %next = add i32 %i, 1
  br label %head
end:
  ret i32 %s
}

; UNROLL: "name":"unrolled"
; UNROLL-SAME: "base_to_opt":{"total":7,{{[^}]*}}"avail":2,
; UNROLL-SAME: "opt_to_base":{"total":[[N:[0-9]+]],{{[^}]*}}"avail":[[N]],
; UNROLL-SAME: "refused":{"base_to_opt":{{[{][^}]*}}"SeveralCopies":
; UNROLL-SAME: "unproved":[]
define i32 @unrolled(ptr %p) {
entry:
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %next, %head ]
  %s = phi i32 [ 0, %entry ], [ %sum, %head ]
  %x = call i32 @take(i32 %i)
  %sum = add i32 %s, %x
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, 4
  br i1 %more, label %head, label %end
end:
  ret i32 %sum
}

; THREAD: "name":"threaded"
; THREAD-SAME: "opt_to_base":{"total":[[N:[0-9]+]],{{[^}]*}}"avail":[[N]],
; THREAD-SAME: "unproved":[]
define i32 @threaded(i1 %c, i32 %a) {
entry:
  br i1 %c, label %one, label %two
one:
  %x = call i32 @take(i32 %a)
  br label %join
two:
  %y = call i32 @take(i32 7)
  br label %join
join:
  %which = phi i1 [ true, %one ], [ false, %two ]
  %v = phi i32 [ %x, %one ], [ %y, %two ]
  br i1 %which, label %three, label %four
three:
  %z = call i32 @take(i32 %v)
  ret i32 %z
four:
  %w = call i32 @take(i32 1)
  ret i32 %v
}
