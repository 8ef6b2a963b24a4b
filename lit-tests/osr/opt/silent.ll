; A point of a block that only base has, on the way round a loop: what the loop's head computes anew
; there is not what it computed the last time, though it is the same instruction.
; RUN: %opt -passes='print<osr-map;maps>(early-cse,simplifycfg)' -disable-output %s | FileCheck %s

; Point 8 is in %again. %i is not the same value on both ways, and %w not yet what it will be.
; CHECK: "at":7,"landing":6,
; CHECK-SAME: "at":8,"refused":"NeedsPhi"},{"point":{{[0-9]+}},"at":9,"refused":"NeedsPhi"}
; CHECK-SAME: "at":10,"landing":2,"values":[{{\[}}2,0]],"exprs":[{"source":6}]
; CHECK-SAME: "at":11,"landing":2,"values":[{{\[}}2,0]],"exprs":[{"source":7}]
define i32 @f(i32 %a) {
entry:
  br label %head

head:
  %i = phi i32 [ %a, %entry ], [ %p, %left ], [ %q, %right ]
  %w = add i32 %i, 5
  call void @use(i32 %w)
  %more = call i1 @more(i32 %w)
  %p = mul i32 %w, 3
  %q = mul i32 %w, 3
  br i1 %more, label %again, label %exit

again:
  %less = icmp ult i32 %w, 77
  br i1 %less, label %left, label %right

left:
  br label %head

right:
  br label %head

exit:
  ret i32 %w
}

declare void @use(i32)
declare i1 @more(i32)
