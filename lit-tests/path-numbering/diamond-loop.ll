; The graph of thesis Fig. 3.5: A enters the loop B, which takes C or D to E; E goes back or to F.
; RUN: %opt -passes='print<path-numbering>' -disable-output %s | FileCheck %s

; Block 0 is A, 1 is B, 2 is C, 3 is D, 4 is E, 5 is F. Two ways through the body times two ways to
; leave it times two ways to come into it: 8 paths, as in the thesis.
; CHECK-LABEL: paths of 'fig_3_5': 8 paths, 1 cut edges
; CHECK-NEXT: 0 -> 1: value 0
; CHECK-NEXT: 1 -> 2: value {{0|2}}
; CHECK-NEXT: 1 -> 3: value {{0|2}}
; CHECK-NEXT: 2 -> 4: value 0
; CHECK-NEXT: 3 -> 4: value 0
; CHECK-NEXT: 4 -> 1: retreating, ends with 0, starts with 4
; CHECK-NEXT: 4 -> 5: value 1
; CHECK-NEXT: 5 -> exit: value 0
define void @fig_3_5(i1 %c, i1 %d) {
A:
  br label %B
B:
  br i1 %c, label %C, label %D
C:
  br label %E
D:
  br label %E
E:
  br i1 %d, label %B, label %F
F:
  ret void
}

; CHECK-LABEL: paths of 'straight': 1 paths, 0 cut edges
; CHECK-NEXT: 0 -> exit: value 0
define i32 @straight() {
  ret i32 0
}

; Parallel edges are one edge.
; CHECK-LABEL: paths of 'parallel': 2 paths, 0 cut edges
; CHECK-NEXT: 0 -> 2: value
; CHECK-NEXT: 0 -> 1: value
define void @parallel(i32 %x) {
  switch i32 %x, label %other [ i32 0, label %one
                                i32 1, label %one
                                i32 2, label %one ]
one:
  ret void
other:
  ret void
}

; CHECK-LABEL: paths of 'naked': none (Naked: it is naked
define void @naked() naked {
  unreachable
}
