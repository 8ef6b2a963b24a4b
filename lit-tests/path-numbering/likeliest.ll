; The likelier way out of a block has the value 0, which costs nothing. Which that is says a former profile.
; RUN: %opt -passes='print<path-numbering>' -disable-output %s | FileCheck %s --check-prefix=FIRST
; RUN: sed 's/i32 9, i32 1/i32 1, i32 9/' %s | %opt -passes='print<path-numbering>' -disable-output | FileCheck %s --check-prefix=SECOND
define i32 @way(i1 %c) {
  br i1 %c, label %first, label %second, !prof !0
first:
  ret i32 1
second:
  ret i32 2
}
!0 = !{!"branch_weights", i32 9, i32 1}

; FIRST:       0 -> 1: value 0
; FIRST-NEXT:  0 -> 2: value 1
; SECOND:      0 -> 1: value 1
; SECOND-NEXT: 0 -> 2: value 0
