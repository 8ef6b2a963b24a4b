// Debug information: each continuation is a function of its own, at the same lines, and its variables
// stay with the values that came in. The verifier is content, with `-g` at both levels.
// RUN: %clang -g -O1 -S -emit-llvm %s -o %t.ll %osr='osr-point;where=loop-header;when=every:3;chain;verify'
// RUN: FileCheck %s --input-file=%t.ll
// RUN: %clang %level -g -c %s -o %t.o %osr='osr-fuzz;verify'
// RUN: llvm-dwarfdump --verify %t.o
// RUN: llvm-dwarfdump --debug-info %t.o | FileCheck %s --check-prefix=DWARF

// CHECK-DAG: define {{.*}}@sum({{.*}} !dbg [[BASE:![0-9]+]]
// CHECK-DAG: define internal {{.*}}@sum.osr.{{[0-9]+}}({{.*}} !dbg [[TO:![0-9]+]]
// CHECK-DAG: define internal {{.*}}@sum.osr.{{[0-9]+}}.back({{.*}} !dbg [[BACK:![0-9]+]]
// CHECK-DAG: [[BASE]] = distinct !DISubprogram(name: "sum"
// CHECK-DAG: [[TO]] = distinct !DISubprogram(name: "sum", linkageName: "sum.osr.{{[0-9]+}}"
// CHECK-DAG: [[BACK]] = distinct !DISubprogram(name: "sum", linkageName: "sum.osr.{{[0-9]+}}.back"

// DWARF: DW_AT_linkage_name ("sum.osr")
__attribute__((noinline)) long sum(const int *list, int count) {
  long total = 0;
  for (int i = 0; i < count; i++)
    total += list[i];
  return total;
}
