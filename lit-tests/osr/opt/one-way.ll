; Where no point of opt leads back to base, base's continuation is never entered.
; RUN: %opt -passes='osr-opt<up-at=all;up=always;down-at=call;down=always;verify>(instcombine<no-verify-fixpoint>)' -S %s | FileCheck %s

; CHECK-LABEL: define internal i32 @f.base.osr(
; CHECK-NEXT: osr.entry:
; CHECK-NEXT: unreachable
; CHECK-LABEL: define internal i32 @f.opt.osr(
; CHECK-NOT: musttail
; CHECK: ret i32

define i32 @f(i32 %n) {
  %twice = add i32 %n, %n
  ret i32 %twice
}
