; What sink moves into a branch is not there yet when base needs it: the way back computes it from what
; it is made of, which opt keeps for that.
; RUN: %opt -passes='osr-sink<up-at=call;up=always;down-at=call;down=always;verify>' -S %s | FileCheck %s

; CHECK-LABEL: define i32 @f(i1 %take, i32 %a, i32 %b)
; CHECK: %sum = add i32 %a, %b
; CHECK: call i32 @f.opt.osr.enter(i32 0, i1 %take, i32 %a, i32 %b)

; CHECK-LABEL: define internal i32 @f.base.osr(
; CHECK-SAME: i32 %0, i1 %1, i32 %2, i32 %3)
; CHECK: osr.entry:
; CHECK-NEXT: [[SUM:%.*]] = add i32 %2, %3
; CHECK: call void @use(i32 %2)
; CHECK: shl i32 [[SUM]], 1

; CHECK-LABEL: define internal i32 @f.opt.osr(
; CHECK: call void @use(i32 %2)
; CHECK: br i1 %1, label %yes, label %no
; CHECK: yes:
; CHECK-NEXT: %sum = add i32 %2, %3

define i32 @f(i1 %take, i32 %a, i32 %b) {
entry:
  %sum = add i32 %a, %b
  call void @use(i32 %a)
  br i1 %take, label %yes, label %no

yes:
  %twice = shl i32 %sum, 1
  ret i32 %twice

no:
  ret i32 %a
}

declare void @use(i32)
