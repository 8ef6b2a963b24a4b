// Line tables that are for the profiler alone are gone once it has read them; code and lines are the same.
// RUN: %cc %level --midflight-stage=early -c %s -o %t.o && llvm-readelf -S %t.o | FileCheck %s --check-prefix=GONE
// RUN: %cc %level --midflight-stage=late -c %s -o %t.late.o && llvm-readelf -S %t.late.o | FileCheck %s --check-prefix=GONE
// RUN: %cc %level -Rpass=none -c %s -o %t.kept.o && llvm-readelf -S %t.kept.o | FileCheck %s --check-prefix=KEPT
// RUN: %cc %level -g -c %s -o %t.asked.o && llvm-readelf -S %t.asked.o | FileCheck %s --check-prefix=KEPT
// GONE-NOT: .debug_
// KEPT: .debug_line
// RUN: llvm-objdump -d %t.o | tail -n +4 > %t.code && llvm-objdump -d %t.kept.o | tail -n +4 > %t.kept.code
// RUN: test -s %t.code && diff %t.code %t.kept.code
// RUN: %midflight show --tables %t.o > %t.tables && %midflight show --tables %t.kept.o | diff %t.tables -
// RUN: FileCheck %s --check-prefix=LINE < %t.tables
// LINE: lines {{.*}}20

// What was made of sources by somebody else keeps what that had.
// RUN: clang -O1 -g -emit-llvm -c %s -o %t.bc && %cc %level -c %t.bc -o %t.ir.o
// RUN: llvm-readelf -S %t.ir.o | FileCheck %s --check-prefix=KEPT
int sum(const int *p, int n) {
  int total = 0;
  for (int i = 0; i < n; i++)
    total += p[i] > 3 ? p[i] : 1;
  return total;
}
