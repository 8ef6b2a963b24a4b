// In clang the pass runs once, at the stage that is asked for, at every level.
// RUN: %clang -O0 -S -emit-llvm -mllvm -midflight=k=4 %s -o - | FileCheck %s
// RUN: %clang -O1 -S -emit-llvm -mllvm -midflight=k=4 %s -o - | FileCheck %s
// RUN: %clang -O2 -S -emit-llvm -mllvm '-midflight=k=4;verify' %s -o - | FileCheck %s
// RUN: %clang -O3 -S -emit-llvm -mllvm '-midflight=stage=late;verify' %s -o - | FileCheck %s
// RUN: %clang -O0 -S -emit-llvm -mllvm '-midflight=stage=late;verify' %s -o - | FileCheck %s
// RUN: %clang -O2 -flto -S -emit-llvm -mllvm '-midflight=stage=late;verify' %s -o - | FileCheck %s
// RUN: %clang -O2 -flto=thin -S -emit-llvm -mllvm '-midflight=stage=early;verify' %s -o - | FileCheck %s
// RUN: env MIDFLIGHT_OPTIONS=k=1 %clang -O1 -S -emit-llvm %s -o - | FileCheck %s --check-prefix=ONE
// CHECK: section "midflight_tables"
// CHECK: call{{.*}}midflight_enter
// CHECK: call{{.*}} i64 %{{.*}}(i64 %
// ONE: call{{.*}}midflight_enter
// ONE-NOT: call{{.*}} i64 %

// A bad option fails the compilation, in one line, and leaves nothing behind.
// RUN: rm -f %t.o
// RUN: not %clang -O2 -c -mllvm -midflight=k=99 %s -o %t.o 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not ls %t.o
// BAD: error: midflight: options 'k=99': option 'k=99': it must be a whole number from 1 to 64
int sum(const int *p, int n) {
  int total = 0;
  for (int i = 0; i < n; i++)
    total += p[i] > 3 ? p[i] : 1;
  return total;
}
