// What a load gave before its place was written to is kept, not loaded again: `sink` moves the
// multiplication behind the store. The mutant that loads again is found.
// RUN: %cc --midflight-osr-fuzz=mem2reg --midflight-osr-opt=sink %level %s -o %t
// RUN: %midflight osr fuzz --seconds 20 -- %t | FileCheck %s
// RUN: %cc '--midflight-osr-fuzz=mem2reg;debug-mutant=load' --midflight-osr-opt=sink %level %s -o %t.load
// RUN: not %midflight osr fuzz --seconds 20 -- %t.load | FileCheck %s --check-prefix=MUTANT
#include <stdio.h>

__attribute__((noinline)) static int sum(int *place, int n) {
  int total = 0;
  for (int i = 0; i < n; i++) {
    int product = *place * 3;
    *place = i ^ total;
    if (i & 1)
      total += product;
  }
  return total;
}

int main(void) {
  int place = 7;
  unsigned total = 0;
  for (int n = 0; n < 30; n++)
    total = total * 5 + (unsigned)sum(&place, n);
  printf("%u\n", total);
  return 0;
}
// CHECK: no mismatch
// MUTANT: 1 mismatch
