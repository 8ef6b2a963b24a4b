; Where a result does not fit registers, a continuation cannot leave its frame by a tail call: there are
; no further transitions, and the backend is content. Vectors whose registers depend on where an
; always_inline function is inlined are refused.
; RUN: %opt -passes='osr-point<where=all;when=flag;chain;verify>' -S %s -o %t.ll
; RUN: FileCheck %s <%t.ll
; RUN: llc -O0 %t.ll -o /dev/null
; RUN: llc -O2 %t.ll -o /dev/null
; RUN: llc -O2 -mattr=+avx2 %t.ll -o /dev/null
; RUN: llc -O2 -mattr=+avx512f,+avx512vl,+avx512bw %t.ll -o /dev/null
; RUN: python3 %S/Inputs/result-types.py x86_64-linux-gnu >%t.types.ll
; RUN: %opt -passes='osr-point<where=call;callee=use;when=always;chain;form=multi>' %t.types.ll -o %t.bc
; RUN: llc -O0 -relocation-model=pic -filetype=obj %t.bc -o %t.o && clang %t.o -o %t.exe && %t.exe
; RUN: llc -O2 -relocation-model=pic -filetype=obj %t.bc -o %t.o && clang %t.o -o %t.exe && %t.exe
; RUN: llc -O1 -mattr=+avx2,+f16c -filetype=null %t.bc
; RUN: llc -O1 -mattr=+avx512f,+avx512vl,+avx512bw,+avx512dq -filetype=null %t.bc
; RUN: python3 %S/Inputs/result-types.py aarch64-linux-gnu >%t.types.ll
; RUN: %opt -passes='osr-point<where=call;callee=use;when=always;chain;form=multi>' %t.types.ll -o %t.bc
; RUN: llc -O1 -filetype=null %t.bc
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

; What the target splits into more registers than there are, whatever its features.
; SUMS: points of 'odd': 2 points, 2 eligible (2 not for further transitions), 0 refused
; CHECK-LABEL: define internal {{.*}}@odd.osr.0(
; CHECK-NOT: musttail
; CHECK: {{^}$}}
define <5 x float> @odd(<5 x float> %a, i32 %n) {
  call void @use(i32 %n)
  ret <5 x float> %a
}

; SUMS: points of 'pointers': 3 points, 3 eligible (3 not for further transitions), 0 refused
define <5 x ptr> @pointers(ptr %a, i32 %n) {
  call void @use(i32 %n)
  %v = load <5 x ptr>, ptr %a
  ret <5 x ptr> %v
}

; SUMS: points of 'mask': 2 points, 2 eligible (2 not for further transitions), 0 refused
define <7 x i1> @mask(<7 x i1> %a, i32 %n) {
  call void @use(i32 %n)
  ret <7 x i1> %a
}

; SUMS: points of 'colour': 2 points, 2 eligible, 0 refused
; CHECK-LABEL: define internal {{.*}}@colour.osr.0(
; CHECK: musttail
define <3 x float> @colour(<3 x float> %a, i32 %n) {
  call void @use(i32 %n)
  ret <3 x float> %a
}
