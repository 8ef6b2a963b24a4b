; What is wrong with the file of weights is one error of the compiler.
; RUN: not %opt -passes='path-profile-use' -disable-output %s 2>&1 | FileCheck %s --check-prefix=NONE
; RUN: not %opt -passes='path-profile-use<file=%t.none>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=MISSING
; RUN: not %opt -passes='path-profile-use<file=/dev/zero>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=ENDLESS
; RUN: not %opt -passes='path-profile-use<file=%s>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=FOREIGN
; RUN: sed 's/"version":2/"version":9/' %S/Inputs/weights.json > %t.newer
; RUN: not %opt -passes='path-profile-use<file=%t.newer>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=NEWER
; RUN: not %opt -passes='path-profile-use<file=%S/Inputs/weights.json;k=3>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=OPTION

; NONE: error: midflight: pass 'path-profile-use': the option file=FILE is missing
; MISSING: error: midflight: {{.*}}reading the weights '{{.*}}.none': No such file
; ENDLESS: error: midflight: {{.*}}reading the weights '/dev/zero': it is a device or a pipe, and must be a file
; FOREIGN: error: midflight: {{.*}}it is not a file of weights
; NEWER: error: midflight: {{.*}}it has version 9, and this Midflight reads version 2
; OPTION: error: midflight: {{.*}}unknown option 'k=3'
define void @f() {
  ret void
}
