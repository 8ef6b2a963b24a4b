// Paths have lines without debug information, of which objects have what clang alone makes; code and lines are
// those with line tables.
// RUN: %cc %level --midflight-stage=early -c %s -o %t.o && llvm-readelf -S %t.o | FileCheck %s --check-prefix=NONE
// RUN: %cc %level --midflight-stage=late -c %s -o %t.late.o && llvm-readelf -S %t.late.o | FileCheck %s --check-prefix=NONE
// RUN: %cc %level -Rpass=none -c %s -o %t.remarks.o && llvm-readelf -S %t.remarks.o | FileCheck %s --check-prefix=NONE
// RUN: %cc %level --midflight-osr-fuzz -c %s -o %t.osr.o && llvm-readelf -S %t.osr.o | FileCheck %s --check-prefix=NONE
// RUN: %cc %level -gline-tables-only -c %s -o %t.kept.o && llvm-readelf -S %t.kept.o | FileCheck %s --check-prefix=KEPT
// RUN: %cc %level -g -c %s -o %t.asked.o && llvm-readelf -S %t.asked.o | FileCheck %s --check-prefix=KEPT
// NONE-NOT: .debug_
// KEPT: .debug_line
// RUN: llvm-objdump -d %t.o | tail -n +4 > %t.code && llvm-objdump -d %t.kept.o | tail -n +4 > %t.kept.code
// RUN: test -s %t.code && diff %t.code %t.kept.code
// RUN: %midflight show --tables %t.o > %t.tables && %midflight show --tables %t.kept.o | diff %t.tables -
// RUN: %cc %level -g0 -c %s -o %t.zero.o && %midflight show --tables %t.zero.o | diff %t.tables -
// RUN: FileCheck %s --check-prefix=LINE < %t.tables
// LINE: lines {{.*}}[[#@LINE+21]]

// In the IR behind the profiler they are only where something else may read them.
// RUN: %cc %level -S -emit-llvm %s -o - | FileCheck %s --check-prefix=UNREAD
// RUN: %cc %level --midflight-stage=late -S -emit-llvm %s -o - | FileCheck %s --check-prefix=UNREAD
// RUN: %cc %level -Rpass=none -S -emit-llvm %s -o - | FileCheck %s --check-prefix=READ
// RUN: %cc %level -fsave-optimization-record -S -emit-llvm %s -o %t.ll && FileCheck %s --check-prefix=READ < %t.ll
// RUN: echo 'sum:12:1' > %t.prof && echo ' 1: 12' >> %t.prof
// RUN: %cc %level -fprofile-sample-use=%t.prof -S -emit-llvm %s -o - | FileCheck %s --check-prefix=READ
// RUN: %cc %level --coverage -S -emit-llvm %s -o %t.gcov.ll && FileCheck %s --check-prefix=READ < %t.gcov.ll
// RUN: %cc %level -g -S -emit-llvm %s -o - | FileCheck %s --check-prefix=READ
// RUN: %cc %level -fstack-usage -S -emit-llvm %s -o %t.su.ll && FileCheck %s --check-prefix=READ < %t.su.ll
// UNREAD-NOT: !DI
// READ: !DILocation(

// What was made of sources by somebody else keeps what that had.
// RUN: clang -O1 -g -emit-llvm -c %s -o %t.bc && %cc %level -c %t.bc -o %t.ir.o
// RUN: llvm-readelf -S %t.ir.o | FileCheck %s --check-prefix=KEPT
int sum(const int *p, int n) {
  int total = 0;
  for (int i = 0; i < n; i++)
    total += p[i] > 3 ? p[i] : 1;
  return total;
}
