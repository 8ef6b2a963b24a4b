; Where a result does not fit registers, a continuation cannot leave its frame by a tail call: there are
; no further transitions, and the backend is content. Vectors whose registers depend on where an
; always_inline function is inlined are refused.
; RUN: %opt -passes='osr-point<where=all;when=flag;chain;verify>' -S %s -o %t.ll
; RUN: FileCheck %s <%t.ll
; RUN: llc -O0 %t.ll -o /dev/null
; RUN: llc -O2 %t.ll -o /dev/null
; RUN: %opt -passes='print<osr-points;summary>' -disable-output %s | FileCheck %s --check-prefix=SUMS

target triple = "x86_64-unknown-linux-gnu"

declare void @use(i32)

; SUMS: points of 'large': 2 points, 2 eligible (2 not for further transitions), 0 refused
; CHECK-LABEL: define [9 x i64] @large(
; CHECK: call [9 x i64] @large.osr.0.enter(
; CHECK-LABEL: define internal {{.*}}[9 x i64] @large.osr.0(
; CHECK-NOT: musttail
; CHECK-LABEL: define internal {{.*}}@small.osr.0(
define [9 x i64] @large([9 x i64] %a, i32 %n) {
  call void @use(i32 %n)
  ret [9 x i64] %a
}

; SUMS: points of 'small': 2 points, 2 eligible, 0 refused
define { i64, double } @small({ i64, double } %a, i32 %n) {
  call void @use(i32 %n)
  ret { i64, double } %a
}

; SUMS: points of 'inlined': 2 points, 0 eligible, 2 refused (InlinedVectors 2)
define void @inlined(ptr %p, <8 x float> %v) alwaysinline {
  store <8 x float> %v, ptr %p
  ret void
}
