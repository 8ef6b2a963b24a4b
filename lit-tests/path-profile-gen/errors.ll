; Bad options are one clear error of the compiler.
; RUN: not %opt -passes='path-profile-gen<k=0>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=ZERO
; RUN: not %opt -passes='path-profile-gen<k=65>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=MANY
; RUN: not %opt -passes='path-profile-gen<q>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=UNKNOWN
; RUN: not %opt -passes='path-profile-gen<functions=%t.missing>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=LIST
; RUN: not %opt -passes='path-profile-gen<functions=@/dev/zero>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=ENDLESS
; RUN: rm -f %t.pipe && mkfifo %t.pipe
; RUN: not %opt -passes='path-profile-gen<functions=%t.pipe>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=PIPE
; RUN: not %opt -passes='path-profile-gen<algorithm=4>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=ALGORITHM
; RUN: not %opt -passes='path-profile-gen<algorithm=published;k=1>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=ONE
; ZERO: error: midflight: pass 'path-profile-gen<k=0>': option 'k=0': it must be a whole number from 1 to 64
; MANY: error: {{.*}}option 'k=65': it must be a whole number from 1 to 64
; UNKNOWN: error: {{.*}}unknown option 'q'; known are k=K
; LIST: error: {{.*}}reading the list of functions '{{.*}}.missing': No such file
; ENDLESS: error: {{.*}}reading the list of functions '/dev/zero': it is a device or a pipe, and must be a file
; PIPE: error: {{.*}}reading the list of functions '{{.*}}.pipe': it is a device or a pipe, and must be a file
; ALGORITHM: error: {{.*}}option 'algorithm=4': it must be automaton or published
; ONE: error: {{.*}}option 'algorithm=published': that algorithm is for k of 2 and more; leave it out for k=1

; A defect inside the plugin is an ordinary error that names the function.
; RUN: not %opt -passes='path-profile-gen<debug-panic-at=f>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=PANIC
; PANIC: error: midflight: internal error while instrumenting function 'f': {{.*}}asked for by debug-panic-at{{.*}}please report it
; PANIC-NOT: backtrace
define void @f() {
  ret void
}
