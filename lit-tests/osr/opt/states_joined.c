// Where copies of a block meet, what its stores left meets. Only what is read was looked at: behind the join
// memory was taken to be as the first of the two stores left it.
// RUN: %cc --midflight-osr-fuzz=sroa '--midflight-osr-opt=jump-threading,loop-simplify,lcssa,loop(loop-rotate,loop-unroll-full),gvn,simplifycfg' %level -fwrapv %s -o %t
// RUN: %midflight osr fuzz --seconds 8 -- %t | FileCheck %s
#include <stdio.h>

static volatile int hidden;

__attribute__((noinline)) static void see(long x) { printf("%ld\n", x); }

__attribute__((noinline)) static int hide(int x) {
  hidden = x;
  return hidden * 7;
}

__attribute__((noinline)) int joined(int x, int y, int mode, int *out) {
  int a[2], made[2], t, read;
  for (int j = 0; j < 2; j++) {
    int it = hide(x + j);
    a[j] = it;
    made[j] = it;
  }
  if (mode)
    see(1);
  else
    see(2);
  a[1] = y;
  a[0] = y;
  if (mode)
    t = x;
  else
    t = y * 3;
  read = a[1];
  if (x & 4) {
    out[0] = t;
  } else {
    out[0] = read;
    see(8);
  }
  for (int i = 0; i < 1; i++) {
    int v = a[i];
    if (x & 1)
      see(5);
    else
      see(6);
    see(made[0]);
    if (i > 5)
      see(v);
    a[i] = t;
  }
  see(t);
  see(out[0]);
  return read;
}

int main(void) {
  int out[2];
  for (int n = 0; n < 6; n++)
    see(joined(n, n * 5 + 100, n & 1, out));
  return 0;
}
// CHECK: no mismatch
