; A value that base has extended, and opt has as it is. Opt extends it too, but of no use: its
; continuation has nothing of that, so the lowest bits of base's cannot be taken by it.
; RUN: %opt -passes='osr-opt<up=always;down=always;up-at=call;down-at=call;checked>(early-cse)' \
; RUN:   -verify-each -S %s | FileCheck %s

declare i1 @test(i32)
declare void @work()

; CHECK-LABEL: define i1 @f(
; CHECK: tail call i1 @f.opt.osr.enter(i32 1, i1 %c, i32 poison)
; CHECK-LABEL: define internal i1 @f.opt.osr(
; CHECK-NOT: zext
; CHECK: ret i1
define i1 @f(i32 %n) {
  %c = call i1 @test(i32 %n)
  %wide = zext i1 %c to i8
  call void @work()
  call void @work()
  %narrow = trunc i8 %wide to i1
  ret i1 %narrow
}
