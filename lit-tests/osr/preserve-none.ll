; Continuations that move into each other preserve no registers, so that a transition saves none. The
; base calls them through a function of the C convention: else it would save all registers itself, in
; activations that never move too.
; RUN: %opt -mtriple=x86_64-unknown-linux-gnu -passes='osr-point<where=call;when=flag;chain>' -S %s | FileCheck %s
; RUN: %opt -mtriple=aarch64-unknown-linux-gnu -passes='osr-point<where=call;when=flag;chain>' -S %s | FileCheck %s
; Other targets have no such convention, and the dispatcher of form=multi no such need.
; RUN: %opt -mtriple=riscv64-unknown-linux-gnu -passes='osr-point<where=call;when=flag;chain>' -S %s | FileCheck %s --check-prefix=PLAIN
; RUN: %opt -mtriple=x86_64-unknown-linux-gnu -passes='osr-point<where=call;when=flag;chain;form=multi>' -S %s | FileCheck %s --check-prefix=PLAIN

; PLAIN-NOT: preserve_nonecc
; PLAIN: define i32 @f(
; PLAIN-NOT: preserve_nonecc

; CHECK-LABEL: define i32 @f(i32 %a)
; CHECK: tail call i32 @f.osr.0.enter(
; CHECK-DAG: define internal preserve_nonecc i32 @f.osr.0(
; CHECK-DAG: musttail call preserve_nonecc i32 @f.osr.1.back(
; CHECK-DAG: musttail call preserve_nonecc i32 @f.osr.1(
; CHECK-DAG: define internal i32 @f.osr.0.enter(
; CHECK-DAG: call preserve_nonecc i32 @f.osr.0(
declare i32 @use(i32)

define i32 @f(i32 %a) {
  %x = call i32 @use(i32 %a)
  %y = call i32 @use(i32 %x)
  ret i32 %y
}
