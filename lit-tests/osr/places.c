// Points at markers and at source lines.
// RUN: %clang %level -DMIDFLIGHT_OSR -I%runtime_include -S -emit-llvm %s -o - %osr='osr-point;where=marker;when=flag;verify' | FileCheck %s --check-prefix=MARKER --implicit-check-not="call void @midflight_osr_point_here"
// RUN: %clang %level -gline-tables-only -S -emit-llvm %s -I%runtime_include -o - %osr='osr-point;where=places.c:28;when=flag;verify' | FileCheck %s --check-prefix=LINE
// RUN: %clang %level -gline-tables-only -S -emit-llvm %s -I%runtime_include -o - %osr='osr-point;where=osr/places.c:28;when=flag;verify' | FileCheck %s --check-prefix=LINE

// Points of other places that a marker stands at have its name, and a marker that is not asked for does
// nothing.
// RUN: %clang %level -DMIDFLIGHT_OSR -I%runtime_include -S -emit-llvm %s -o - %osr='osr-point;where=all;when=flag;verify' | FileCheck %s --check-prefix=ALL --implicit-check-not="call void @midflight_osr_point_here"
// RUN: %clang %level -DMIDFLIGHT_OSR -I%runtime_include -S -emit-llvm %s -o - %osr='osr-point;where=call;callee=nobody;when=flag;verify' | FileCheck %s --check-prefix=NONE --implicit-check-not="call void @midflight_osr_point_here"

// MARKER: c"inside\00"
// MARKER: c"behind\00"
// LINE: c"f#{{[0-9]+}}\00"
// LINE-NOT: c"f#
// ALL-DAG: c"inside\00"
// ALL-DAG: c"behind\00"
// ALL-DAG: c"f#0\00"
// NONE-NOT: midflight_osr"
// NONE: define {{.*}}@f(
#include <midflight.h>

int f(volatile int *p, int n) {
  for (int i = 0; i < n; i++) {
    MIDFLIGHT_OSR_POINT("inside");
    *p += i; // the line
  }
  MIDFLIGHT_OSR_POINT("behind");
  return *p;
}
