; Passes under which too few points lead to the other version are left out, which a remark tells.
; RUN: %opt -passes='osr-opt(early-cse,simplifycfg,dce)' -pass-remarks-missed=midflight-osr -S %s 2>&1 | FileCheck %s --check-prefix=ALL
; RUN: %opt -passes='osr-opt<keep=90;verify>(early-cse,simplifycfg,dce)' -pass-remarks-missed=midflight-osr -S %s 2>&1 | FileCheck %s --check-prefix=KEEP
; RUN: %opt -passes='osr-opt<keep=0>(early-cse,simplifycfg,dce)' -pass-remarks-missed=midflight-osr -S %s 2>&1 | FileCheck %s --check-prefix=ALL
; RUN: %opt -passes='osr-opt<keep=99>(default<O1>)' -pass-remarks-missed=midflight-osr -disable-output %s 2>&1 | FileCheck %s --check-prefix=LEVEL
; RUN: not %opt -passes='osr-opt<keep=101>(early-cse)' -disable-output %s 2>&1 | FileCheck %s --check-prefix=ERROR

; ALL-NOT: left out
; ALL-NOT: @f.opt.osr
; KEEP: remark: {{.*}}left out pass 2 of 3, 'simplifycfg': with it 1 of 15 points would lead to the optimized version, and 1 of 12 back; keep=90% asks for more
; KEEP-NOT: left out
; What early-cse makes one sum is one in the optimized version.
; KEEP: define internal i32 @f.opt.osr(
; LEVEL: left out pass {{[0-9]+}} of {{[0-9]+}}, 'simplifycfg'
; LEVEL-SAME: keep=99% asks for more
; ERROR: option 'keep=101': it must be a whole number from 0 to 100

declare i32 @take(i32)
define i32 @f(i1 %c, i32 %a, i32 %b, i32 %n) {
entry:
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  br i1 %c, label %then, label %done
then:
  %sum = add i32 %a, %b
  %frozen = freeze i32 %sum
  br label %done
done:
  %either = phi i32 [ %frozen, %then ], [ %a, %head ]
  %x = call i32 @take(i32 %either)
  %twice = add i32 %a, %b
  %again = add i32 %a, %b
  %y = add i32 %twice, %again
  %z = call i32 @take(i32 %y)
  br label %latch
latch:
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %head, label %end
end:
  ret i32 %a
}
