; LLVM is the compiler's: a second one in the process would have pass registries and options of its own.
; RUN: llvm-readelf --dynamic-table %plugin | FileCheck %s

; CHECK-NOT: NEEDED{{.*}}LLVM
; CHECK: NEEDED{{.*}}libc.so
; CHECK-NOT: NEEDED{{.*}}LLVM
