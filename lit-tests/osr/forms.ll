; How many continuations there are, and how they move into each other.
; RUN: %opt -passes='osr-point<where=call;when=flag>' -S %s | FileCheck %s --check-prefix=SINGLE
; RUN: %opt -passes='osr-point<where=call;when=flag;chain>' -S %s | FileCheck %s --check-prefix=CHAIN
; RUN: %opt -passes='osr-point<where=call;when=flag;form=multi>' -S %s | FileCheck %s --check-prefix=MULTI
; RUN: %opt -passes='osr-point<where=call;when=flag;form=multi;chain>' -S %s | FileCheck %s --check-prefix=BOTH

; The first transition of an activation is an ordinary call, which may be in tail position, since there
; is no alloca here (see allocas.ll). It is never musttail, so any signature of the base will do.

; One continuation for each point: each takes just what is live.
; SINGLE-LABEL: define i32 @f(
; SINGLE-NOT: musttail
; SINGLE: tail call i32 @f.osr.0(i32 %a, double %d, i32 %b)
; SINGLE: tail call i32 @f.osr.3(i32 %z, i32 %b)
; SINGLE-LABEL: define internal i32 @f.osr.0(i32 %0, double %1, i32 %2)
; SINGLE-NOT: osr.fire
; SINGLE-LABEL: define internal i32 @f.osr.3(i32 %0, i32 %1)
; SINGLE-NOT: osr.fire

; Continuations that have points too: two for each, which lead to each other. All have one prototype, so
; that they can leave their frames by musttail. What is not live travels as poison. What landed at a
; point goes on behind its check. The base enters them through a function of its own kind, so that what
; is said of continuations (noduplicate, against specialization) does not hold for it.
; CHAIN-LABEL: define i32 @f(
; CHAIN-NOT: musttail
; CHAIN: tail call i32 @f.osr.0.enter(i32 poison, i32 %a, double %d, i32 %b)
; CHAIN: tail call i32 @f.osr.3.enter(i32 %z, i32 poison, double poison, i32 %b)
; CHAIN-LABEL: define internal i32 @f.osr.0(i32 %0, i32 %1, double %2, i32 %3)
; CHAIN-NEXT: osr.entry:
; CHAIN-NEXT: br label %osr.cont
; CHAIN: osr.cont:
; CHAIN-NEXT: %x = call i32 @use(i32 %1)
; CHAIN: [[RESULT:%.*]] = musttail call i32 @f.osr.3.back(i32 %z, i32 poison, double poison, i32 %3)
; CHAIN-NEXT: ret i32 [[RESULT]]
; CHAIN-LABEL: define internal i32 @f.osr.3(i32 %0, i32 %1, double %2, i32 %3)
; CHAIN-LABEL: define internal i32 @f.osr.0.back(i32 %0, i32 %1, double %2, i32 %3)
; CHAIN: musttail call i32 @f.osr.3(i32 %z, i32 poison, double poison, i32 %3)
; CHAIN-LABEL: define internal i32 @f.osr.3.back(i32 %0, i32 %1, double %2, i32 %3)
; CHAIN-NOT: osr.fire

; One continuation for all points: its first parameter says where to land.
; MULTI-LABEL: define i32 @f(
; MULTI-NOT: musttail
; MULTI: tail call i32 @f.osr(i32 0, i32 poison, i32 %a, double %d, i32 %b)
; MULTI: tail call i32 @f.osr(i32 1, i32 %z, i32 poison, double poison, i32 %b)
; MULTI-LABEL: define internal i32 @f.osr(i32 %0, i32 %1, i32 %2, double %3, i32 %4)
; MULTI-NEXT: osr.entry:
; MULTI-NEXT: switch i32 %0, label %osr.enter [
; MULTI-NEXT: i32 1, label %osr.enter1
; MULTI: phi i32 [ {{%1, %osr.enter1|%z, %osr.landing}} ], [ {{%1, %osr.enter1|%z, %osr.landing}} ]
; MULTI-NOT: osr.fire
; MULTI-NOT: define internal

; And with points of its own, which lead to itself.
; BOTH-LABEL: define internal i32 @f.osr(i32 %0, i32 %1, i32 %2, double %3, i32 %4)
; BOTH: switch i32 %0
; BOTH: [[RESULT:%.*]] = musttail call i32 @f.osr(i32 1, i32 %z, i32 poison, double poison, i32 %4)
; BOTH-NEXT: ret i32 [[RESULT]]
; BOTH-LABEL: define internal i32 @f.osr.enter(
; BOTH-NOT: define internal

declare i32 @use(i32)

define i32 @f(i32 %a, double %d, i32 %b) {
entry:
  %x = call i32 @use(i32 %a)
  %y = fptosi double %d to i32
  %z = add i32 %y, %x
  %w = call i32 @use(i32 %z)
  %r = add i32 %w, %b
  ret i32 %r
}
