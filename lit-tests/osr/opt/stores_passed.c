// A store behind a branch in base is one that opt has yet to do, where opt is on an edge that is a block of its own: from
// there base is entered before the branch, though all that is needed behind it is less.
// RUN: %cc --midflight-osr-fuzz '--midflight-osr-opt=simplifycfg,sink,break-crit-edges' -O0 %s -o %t
// RUN: %midflight osr fuzz --seconds 20 -- %t | FileCheck %s
#include <stdio.h>

__attribute__((noinline)) void see(int x) { printf("%d\n", x); }

__attribute__((noinline)) void store(int first, int i, int x, int z) {
  int all[4] = {1, 2, 3, 4};
  all[0] = i;
  int *p = &all[1];
  int w = z * 5 + x;
  if (first)
    see(1);
  if (*p < 3)
    *p = w;
  see(2);
  see(all[x & 3] + 16 * all[z & 3]);
}

int main(void) {
  for (int first = 0; first < 2; first++)
    for (int z = 0; z < 4; z++)
      store(first, z, z, 20 + z);
  return 0;
}
// CHECK: no mismatch
