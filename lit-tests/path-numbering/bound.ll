; Four diamonds in a row have 16 paths. With a bound of 13, edges are cut until there are no more.
; RUN: %opt -passes='print<path-numbering;max-paths=13>' -disable-output %s | FileCheck %s
; RUN: %opt -passes='print<path-numbering>' -disable-output %s | FileCheck %s --check-prefix=WHOLE

; CHECK: paths of 'diamonds': 13 paths, 4 cut edges
; CHECK: 3 -> 4: cut for the bound, ends with {{[0-9]+}}, starts with
; WHOLE: paths of 'diamonds': 16 paths, 0 cut edges
; WHOLE-NOT: cut for the bound
define void @diamonds(i1 %a, i1 %b, i1 %c, i1 %d) {
  br i1 %a, label %a1, label %a2
a1:
  br label %b0
a2:
  br label %b0
b0:
  br i1 %b, label %b1, label %b2
b1:
  br label %c0
b2:
  br label %c0
c0:
  br i1 %c, label %c1, label %c2
c1:
  br label %d0
c2:
  br label %d0
d0:
  br i1 %d, label %d1, label %d2
d1:
  ret void
d2:
  ret void
}
