// LICM keeps a place in a register while a loop runs. On the way back to base it is written to, on the
// way to opt it is read. The mutant that leaves out the store is found.
// RUN: %cc --midflight-osr-fuzz=mem2reg '--midflight-osr-opt=loop-simplify,lcssa,loop-mssa(licm)' %level %s -o %t
// RUN: %midflight osr fuzz --seconds 20 -- %t | FileCheck %s
// RUN: %cc '--midflight-osr-fuzz=mem2reg;debug-mutant=store' '--midflight-osr-opt=loop-simplify,lcssa,loop-mssa(licm)' %level %s -o %t.store
// RUN: not %midflight osr fuzz --seconds 20 -- %t.store | FileCheck %s --check-prefix=MUTANT
#include <stdio.h>

__attribute__((noinline)) static int sum(int *place, int n) {
  int total = 0, i = 0;
  do {
    *place = *place * 3 + i;
    if (*place & 1)
      total += *place;
    i++;
  } while (i < n);
  return total;
}

int main(void) {
  int place = 7;
  unsigned total = 0;
  for (int n = 0; n < 30; n++)
    total = total * 5 + (unsigned)sum(&place, n);
  printf("%u %d\n", total, place);
  return 0;
}
// CHECK: no mismatch
// MUTANT: 1 mismatch
