// MemorySSA looks at a hundred states of memory for what a load reads. Passes that remove code bring closer what the
// loads behind it read: base's loads of a local array read the same all the same.
// RUN: clang -O0 -Xclang -disable-O0-optnone -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='function(sroa),print<osr-map;function=rows>(sccp,loop-simplify,lcssa,loop-mssa(licm))' -disable-output %t.ll | FileCheck %s --check-prefix=ROWS
// RUN: %cc --midflight-osr-fuzz=sroa '--midflight-osr-opt=sccp,loop-simplify,lcssa,loop-mssa(licm)' %level %s -o %t
// RUN: %midflight osr fuzz --seconds 5 -- %t | FileCheck %s
// RUN: %cc --midflight-osr-fuzz=sroa '--midflight-osr-opt=default<O2>' %level %s -o %t
// RUN: %midflight osr fuzz --seconds 5 -- %t | FileCheck %s
#include <stdio.h>

#define WRITE(N) to[N] = to[N] * 3 + i;
#define WRITE_8(N) \
  WRITE(N) WRITE(N + 1) WRITE(N + 2) WRITE(N + 3) WRITE(N + 4) WRITE(N + 5) WRITE(N + 6) WRITE(N + 7)
#define WRITE_32(N) WRITE_8(N) WRITE_8(N + 8) WRITE_8(N + 16) WRITE_8(N + 24)

// ROWS: "name":"rows"
// ROWS-SAME: "base_to_opt":{"total":[[N:[0-9]+]],{{[^}]*}}"avail":[[N]],
// ROWS-SAME: "opt_to_base":{"total":[[M:[0-9]+]],{{[^}]*}}"avail":[[M]],
// ROWS-SAME: "unproved":[]
__attribute__((noinline)) void rows(int n, volatile unsigned *to) {
  int counts[4], never = 0;
  for (int i = 0; i < 4; ++i)
    counts[i] = i * n;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < counts[i]; ++j)
      WRITE(0)
    if (never) {
      WRITE_32(0) WRITE_32(0) WRITE_32(0) WRITE_32(0)
    }
    WRITE_8(0)
  }
}

// Where the array is written to in the loop.
__attribute__((noinline)) void written(int n, volatile unsigned *to) {
  int counts[4], never = 0;
  for (int i = 0; i < 4; ++i)
    counts[i] = i * n;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < counts[i]; ++j)
      WRITE(0)
    if (never) {
      WRITE_32(0) WRITE_32(0) WRITE_32(0) WRITE_32(0)
    }
    counts[(i + n) & 3] = to[i] & 3;
  }
}

int main(void) {
  unsigned to[32] = {0}, sum = 0;
  for (int i = 0; i < 3; ++i) {
    rows(i, to);
    written(i, to);
  }
  for (int i = 0; i < 32; ++i)
    sum = sum * 31 + to[i];
  printf("%u\n", sum);
  return 0;
}
// CHECK: no mismatch
