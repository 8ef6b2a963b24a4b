; Phis that a branch decides. `simplifycfg` makes selects of them, and merges what is before the branch with
; what is behind the join; a phi that nobody has is made again from the condition.
; RUN: %opt -passes='osr-opt<fuzz;verify>(simplifycfg,sink)' -S %s | FileCheck %s --check-prefix=CODE
; RUN: %opt -passes='print<osr-map;maps;function=merged>(simplifycfg)' -disable-output %s | FileCheck %s --check-prefix=MERGED
; RUN: %opt -passes='print<osr-map;maps;function=sunk>(simplifycfg,sink)' -disable-output %s | FileCheck %s --check-prefix=SUNK
; RUN: %opt -passes='print<osr-map;maps;function=common>(simplifycfg<sink-common-insts>)' -disable-output %s | FileCheck %s --check-prefix=COMMON
; RUN: %opt -passes='print<osr-map;maps;function=traps>(simplifycfg<sink-common-insts>)' -disable-output %s | FileCheck %s --check-prefix=TRAPS

; All points, in both directions. In %then %sum is done again if it is not there. Behind the select, base
; goes on behind the join.
; MERGED: "base_to_opt":{"total":6,{{.*}}"avail":6,{{.*}}"opt_to_base":{"total":5,{{.*}}"avail":5,
; MERGED-SAME: "base_to_opt":[
; MERGED-SAME: "at":2,"landing":2,"values":{{[^"]*}},"exprs":[{"source":0},{"source":1},{"source":2},{"repeat":1,"of":[1,2]}]
; MERGED-SAME: "at":5,"landing":3,"values":[{{\[}}5,0]],"exprs":[{"source":7}]
; MERGED-SAME: "opt_to_base":[
; MERGED-SAME: "at":2,"landing":5,"values":[{{\[}}7,3]],"exprs":[{"source":0},{"source":4},{"source":1},{"repeat":4,"of":[0,1,2]}]
; MERGED-SAME: "at":3,"landing":5,"values":[{{\[}}7,0]],"exprs":[{"source":5}]
define i32 @merged(i1 %c, i32 %a, i32 %b) {
entry:
  call void @use(i32 %a)
  br i1 %c, label %then, label %done

then:
  %sum = add i32 %a, %b
  br label %done

done:
  %either = phi i32 [ %sum, %then ], [ %a, %entry ]
  call void @use(i32 %either)
  ret i32 %either
}

; The select has gone to where it is used: before, it is made of the arguments, %either (instruction 3) too.
; SUNK: "base_to_opt":{"total":8,{{.*}}"live_e":8,{{.*}}"opt_to_base":{"total":7,{{.*}}"live_e":7,
; SUNK-SAME: "opt_to_base":[{"point":0,"at":0,"landing":4,
; SUNK-SAME: {"repeat":1,"of":[1,3]},{"repeat":3,"of":[2,4,1]}]
define i32 @sunk(i1 %c, i1 %d, i32 %a, i32 %b) {
entry:
  br i1 %c, label %then, label %done

then:
  %sum = add i32 %a, %b
  br label %done

done:
  %either = phi i32 [ %sum, %then ], [ %a, %entry ]
  call void @use(i32 %a)
  br i1 %d, label %uses, label %exit

uses:
  call void @use(i32 %either)
  br label %exit

exit:
  ret i32 %a
}

; Each version has a phi that the other one has not: of products here, a factor there.
; COMMON: "base_to_opt":{"total":8,{{.*}}"avail":8,{{.*}}"opt_to_base":{"total":7,{{.*}}"avail":7,
; COMMON-SAME: "base_to_opt":[
; COMMON-SAME: "at":8,"landing":7,"values":[{{\[}}9,0]],"exprs":[{"source":10}]
; COMMON-SAME: "opt_to_base":[
; COMMON-SAME: "at":6,"landing":8,{{[^}]*}}{"source":0},{{[^k]*}}{"repeat":7,"of":[0,3,6]}]
define i32 @common(i1 %c, i32 %a, i32 %b) {
entry:
  br i1 %c, label %then, label %else

then:
  call void @one()
  %left = mul i32 %a, 3
  br label %done

else:
  call void @two()
  %right = mul i32 %b, 3
  br label %done

done:
  %either = phi i32 [ %left, %then ], [ %right, %else ]
  ret i32 %either
}

; What only one side divides by may be zero where the other side was taken.
; TRAPS: "refused":{"base_to_opt":{},"opt_to_base":{"NeedsValue":2}}
define i32 @traps(i1 %c, i32 %a, i32 %b) {
entry:
  br i1 %c, label %then, label %else

then:
  call void @one()
  %left = udiv i32 3, %a
  br label %done

else:
  call void @two()
  %right = udiv i32 3, %b
  br label %done

done:
  %either = phi i32 [ %left, %then ], [ %right, %else ]
  ret i32 %either
}

declare void @use(i32)
declare void @one()
declare void @two()

; CODE-LABEL: define internal {{.*}}@sunk.base.osr(
; CODE: %[[SUM:[0-9]+]] = add i32
; CODE-NEXT: select i1 %{{.*}}, i32 %[[SUM]], i32 %
