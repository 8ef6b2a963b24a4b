// Phis are made again from the conditions of branches, in both directions, and of values that only one
// side of the branch computes. The mutant that exchanges what they choose from is found.
// RUN: %cc --midflight-osr-fuzz=mem2reg '--midflight-osr-opt=simplifycfg<sink-common-insts>,sink' %level %s -o %t
// RUN: %midflight osr fuzz --seconds 20 -- %t | FileCheck %s
// RUN: %cc '--midflight-osr-fuzz=mem2reg;debug-mutant=arms' '--midflight-osr-opt=simplifycfg<sink-common-insts>,sink' %level %s -o %t.arms
// RUN: not %midflight osr fuzz --seconds 20 -- %t.arms | FileCheck %s --check-prefix=MUTANT
#include <stdio.h>

static unsigned seen;

__attribute__((noinline)) static void use(unsigned value) { seen = seen * 31 + value; }

// The optimized version multiplies behind the join.
__attribute__((noinline)) static unsigned common(unsigned c, unsigned a, unsigned b) {
  unsigned either;
  if (c & 1) {
    use(1);
    either = a * 3;
  } else {
    seen += 2;
    either = b * 3;
  }
  return either;
}

// It makes a select of the branch, and sinks it to where it is used.
__attribute__((noinline)) static unsigned sunk(unsigned c, unsigned a, unsigned b) {
  unsigned either = a;
  if (c & 1)
    either = a + b;
  use(b);
  if (seen & 4)
    use(either);
  return a;
}

int main(void) {
  unsigned total = 0;
  for (unsigned n = 0; n < 200; n++)
    total = total * 7 + common(n, n + 3, n * n) + sunk(n + 1, n + 5, total);
  printf("%u %u\n", total, seen);
  return 0;
}
// CHECK: no mismatch
// MUTANT: mismatch
