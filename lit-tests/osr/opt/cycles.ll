; Loops in which values of the one version are those of the other only if all of a cycle are.
; `loop-simplify` merges the ways round, so that a phi and a state of memory that were one are two.
; RUN: %opt -passes='print<osr-map>(loop-simplify)' -disable-output %s | FileCheck %s

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

declare i1 @find(ptr)
