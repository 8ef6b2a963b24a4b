// A division that leaves no remainder where it runs is a shift there; one that may leave some is not,
// though both divide the same.
// RUN: %cc --midflight-osr-fuzz=mem2reg '--midflight-osr-opt=instcombine<no-verify-fixpoint>,loop-simplify,lcssa,loop-mssa(licm),sink' %level %s -o %t
// RUN: %midflight osr fuzz --seconds 20 -- %t | FileCheck %s
#include <stdio.h>

static unsigned seen;

__attribute__((noinline)) static void use(long value) { seen = seen * 31 + (unsigned)value; }

// The optimized version shifts before the loop, and divides behind it.
__attribute__((noinline)) static long divided(char *p, char *q, int n) {
  long bytes = p - q;
  long words = bytes / 4;
  for (int i = 0; i < n; i++) {
    if ((bytes & 3) == 0)
      use((int *)p - (int *)q);
    use(i);
  }
  return words;
}

int main(void) {
  static char room[64];
  long sum = 0;
  for (int i = 0; i < 40; i++)
    sum = sum * 7 + divided(room + 20, room + i, 5);
  printf("%ld %u\n", sum, seen);
  return 0;
}
// CHECK: no mismatch
