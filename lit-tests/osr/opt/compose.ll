; Passes applied one after the other, each with its own mapping, composed both ways.
; RUN: %opt -passes='print<osr-map;compose;maps>(early-cse,loop-mssa(licm),sink)' -disable-output %s | FileCheck %s
; RUN: not %opt -passes='print<osr-map;compose>(early-cse,no-such-pass)' -disable-output %s 2>&1 | FileCheck --check-prefix=NONE %s

; CHECK: "composed":{"base_to_opt":{"total":9,"direct":9,"composed":9,"lost":0,"checked":9,"undecided":0,"wrong":0},
; CHECK-SAME: "opt_to_base":{"total":8,"direct":8,"composed":8,"lost":0,"checked":8,"undecided":0,"wrong":0}}
; CHECK-SAME: "maps":{"arguments":3,"instructions":{"base":["br label %loop",
; The product is made before the loop, as opt has it; then all goes under its own name.
; CHECK-SAME: "base_to_opt":[{"point":0,"at":0,"landing":1,"values":[{{\[}}2,0],[3,3]],"exprs":[{"source":2},{"source":0},{"source":1},{"repeat":0,"of":[1,2]}],"keep":[]}

; NONE: midflight: running the passes 'early-cse,no-such-pass'

define i32 @f(i32 %a, i32 %b, i32 %n) {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %product = mul i32 %a, %b
  %same = mul i32 %a, %b
  %next = add i32 %i, %same
  call void @use(i32 %next)
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %done

done:
  %late = add i32 %product, %next
  ret i32 %late
}

declare void @use(i32)

; What the second pass takes instead of the load is not live between the store and the load. To go over
; there, the comparison of both versions keeps it; the first pass, which has no need of it, does not.
; RUN: %opt -passes='print<osr-map;compose;function=g>(adce,early-cse)' -disable-output %s | FileCheck --check-prefix=LOST %s

; LOST: "composed":{"base_to_opt":{"total":7,"direct":7,"composed":5,"lost":2,"checked":5,"undecided":0,"wrong":0},
; LOST-SAME: "opt_to_base":{"total":6,"direct":6,"composed":6,"lost":0,"checked":6,"undecided":0,"wrong":0}}

define i32 @g(i32 %a, ptr %p) {
  %got = call i32 @get()
  store i32 %got, ptr %p
  %next = add i32 %a, 1
  %loaded = load i32, ptr %p
  %sum = add i32 %loaded, %next
  call void @use(i32 %sum)
  ret i32 %sum
}

declare i32 @get()
