; Loops in which values of the one version are those of the other only if all of a cycle are.
; `loop-simplify` merges the ways round, so that a phi and a state of memory that were one are two.
; RUN: %opt -passes='print<osr-map>(loop-simplify)' -disable-output %s | FileCheck %s
; RUN: %opt -passes='print<osr-map>(lcssa)' -disable-output %s | FileCheck %s --check-prefix=LCSSA

; CHECK: "name":"ways"
; CHECK-SAME: "refused":{"base_to_opt":{},"opt_to_base":{}}
define i32 @ways(ptr %p, i32 %n) {
entry:
  br label %head

head:
  %at = phi ptr [ %p, %entry ], [ %next, %even ], [ %next, %null ], [ %next, %again ]
  %i = phi i32 [ %n, %entry ], [ %less, %even ], [ %less, %null ], [ %less, %again ]
  %more = icmp sgt i32 %i, 0
  br i1 %more, label %body, label %done

body:
  %less = add i32 %i, -1
  %next = getelementptr inbounds i8, ptr %at, i64 16
  %flags = load i16, ptr %next, align 8
  %is.even = icmp eq i16 %flags, 0
  br i1 %is.even, label %even, label %odd

even:
  br label %head

odd:
  %list.at = getelementptr inbounds i8, ptr %next, i64 8
  %list = load ptr, ptr %list.at, align 8
  %is.null = icmp eq ptr %list, null
  br i1 %is.null, label %null, label %ask

null:
  br label %head

ask:
  %found = call i1 @find(ptr %list)
  br i1 %found, label %done, label %again

again:
  br label %head

done:
  %result = phi i32 [ 1, %ask ], [ 0, %head ]
  ret i32 %result
}

; The head is split in two: %x, which only changes on the way round the outer loop, moves up, and so
; does the state of memory.
; CHECK: "name":"split"
; CHECK-SAME: "replace_all":{"instruction":1,
; CHECK-SAME: "refused":{"base_to_opt":{},"opt_to_base":{}}
define i32 @split(ptr %p, i32 %n) {
entry:
  br label %head

head:
  %x = phi i32 [ 0, %entry ], [ %x, %inner ], [ %x.next, %outer ]
  %i = phi i32 [ 0, %entry ], [ %i.next, %inner ], [ %i.next, %outer ]
  %i.next = add i32 %i, 1
  %old = load i32, ptr %p, align 4
  %sum = add i32 %old, %x
  %more = icmp ult i32 %sum, %n
  br i1 %more, label %inner, label %test

inner:
  %even = and i32 %i, 6
  br label %head

test:
  %again = call i1 @find(ptr %p)
  br i1 %again, label %outer, label %done

outer:
  %x.next = add i32 %x, %sum
  store i32 %x.next, ptr %p, align 4
  br label %head

done:
  ret i32 %x
}

; Behind the loop %v has names that are made of each other.
; LCSSA: "name":"names"
; LCSSA-SAME: "refused":{"base_to_opt":{},"opt_to_base":{}}
define i32 @names(ptr %p) {
entry:
  br label %loop

loop:
  %v = phi i32 [ 0, %entry ], [ %next, %latch ]
  %next = add i32 %v, 3
  %left = call i1 @find(ptr %p)
  br i1 %left, label %one, label %latch

latch:
  %right = call i1 @find(ptr %p)
  br i1 %right, label %other, label %loop

one:
  br label %there

other:
  br label %back

there:
  %leave = call i1 @find(ptr %p)
  br i1 %leave, label %done, label %back

back:
  %stay = call i1 @find(ptr %p)
  br i1 %stay, label %there, label %done

done:
  ret i32 %v
}

declare i1 @find(ptr)
