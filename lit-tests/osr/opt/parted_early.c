// GVN puts a load of an element before a loop, at an address that it makes anew. That both read one place is known only
// as long as the versions have not parted at another removed load, above.
// RUN: clang -O0 -Xclang -disable-O0-optnone -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='function(sroa),print<osr-map;function=rows>(gvn)' -disable-output %t.ll | FileCheck %s --check-prefix=ROWS
// RUN: %cc --midflight-osr-fuzz=sroa --midflight-osr-opt=gvn %level %s -o %t
// RUN: %midflight osr fuzz --seconds 5 -- %t | FileCheck %s
// RUN: %cc --midflight-osr-fuzz=sroa '--midflight-osr-opt=default<O2>' %level %s -o %t
// RUN: %midflight osr fuzz --seconds 5 -- %t | FileCheck %s
#include <stdio.h>

static int seen, given = 5;

__attribute__((noinline)) static void see(int n) { seen = seen * 31 + n; }

__attribute__((noinline)) static void fill(int *p) { *p = given++; }

__attribute__((noinline)) static int bound(int i) { return (i * 3 + seen) & 7; }

// ROWS: "name":"rows"
// ROWS-SAME: "base_to_opt":{"total":[[N:[0-9]+]],{{[^}]*}}"avail":[[N]],
// ROWS-SAME: "opt_to_base":{"total":[[M:[0-9]+]],{{[^}]*}}"avail":[[M]],
// ROWS-SAME: "unproved":[]
__attribute__((noinline)) int rows(int mode, int n, int *to) {
  int kind, counts[4];
  fill(&kind);
  for (int i = 0; i < 4; ++i)
    counts[i] = bound(i);
  if (mode > 3)
    kind = n;
  else if (mode)
    kind = kind - 1;
  if (kind & 1)
    see(kind);
  else
    see(n);
  int sum = 0;
  for (int i = 0; i < 4; ++i) {
    if (kind & (1 << i))
      for (int j = 0; j < counts[i]; ++j) {
        if (j & 1)
          sum += to[j];
        to[j] = i;
      }
  }
  return sum;
}

int main(void) {
  int to[8] = {1, 2, 3, 4, 5, 6, 7, 8}, sum = 0;
  for (int i = 0; i < 7; ++i)
    sum = sum * 7 + rows(i, i * 5, to);
  printf("%d %d\n", sum, seen);
  return 0;
}
// CHECK: no mismatch
