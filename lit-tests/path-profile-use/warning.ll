; A unit of which nothing matches, or something has another control flow, gets one warning, and so do
; weights that another LLVM has made.
; RUN: %opt -passes='path-profile-use<file=%S/Inputs/weights.json>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=SOME
; RUN: sed 's/"loop"/"no_loop"/' %S/Inputs/weights.json > %t.none
; RUN: %opt -passes='path-profile-use<file=%t.none>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=NONE
; RUN: sed 's/@stranger/@never/' %s > %t.ll
; RUN: %opt -passes='path-profile-use<file=%t.none>' -disable-output %t.ll 2>&1 | count 0
; RUN: sed 's/"stage":"early"/"stage":"early","llvm":18/' %t.none > %t.llvm
; RUN: %opt -passes='path-profile-use<file=%t.llvm>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=LLVM
; RUN: sed 's/"llvm":18/"llvm":%llvm/' %t.llvm > %t.same
; RUN: %opt -passes='path-profile-use<file=%t.same>' -disable-output %t.ll 2>&1 | count 0

; SOME: warning: {{.*}}midflight: 0 of 2 functions matched the profile '{{.*}}weights.json'; 1 with another control flow there: another version of the source, or other options; 1 not there (-Rpass-missed=midflight names them)
; SOME-NOT: warning
; NONE: warning: {{.*}}midflight: 0 of 2 functions matched the profile '{{.*}}.none'; 2 not there (-Rpass-missed=midflight names them)
; NONE-NOT: warning
; LLVM: warning: {{.*}}midflight: 1 of 2 functions matched the profile '{{.*}}.llvm'; 1 not there; it was made with LLVM 18, and this is LLVM {{19|22}} (-Rpass-missed=midflight names them)
; LLVM-NOT: warning
define void @loop(i1 %c) {
  br i1 %c, label %a, label %b
a:
  ret void
b:
  ret void
}

define void @stranger() {
  ret void
}

; Nobody profiles this one.
define void @naked() naked {
  unreachable
}
