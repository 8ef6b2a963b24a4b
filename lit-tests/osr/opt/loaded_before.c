// What was loaded above a branch that stores to the place is not what the place has behind it, though the load
// reads what the caller left there, as one behind the branch would: a phi of opt (GVN) was taken for it.
// RUN: %cc --midflight-osr-fuzz=sroa --midflight-osr-opt=dse,gvn,reassociate %level %s -o %t
// RUN: %midflight osr fuzz --seconds 5 -- %t | FileCheck %s
// RUN: %cc --midflight-osr-fuzz=sroa '--midflight-osr-opt=default<O2>' %level %s -o %t
// RUN: %midflight osr fuzz --seconds 5 -- %t | FileCheck %s
#include <stdio.h>

static volatile int hidden;

__attribute__((noinline)) static void see(int x) { printf("%d\n", x); }

__attribute__((noinline)) static void hide(int x) { hidden = x; }

__attribute__((noinline)) int loaded(int mode, int *from, int other, int *back) {
  int before = *from, now, sum;
  if (mode)
    *from = other;
  int same = *back;
  *back = same;
  now = *from;
  hide(1);
  sum = before + now;
  hide(3);
  see(sum);
  return sum;
}

int main(void) {
  int from[2] = {5, 6};
  for (int n = 0; n < 6; n++)
    see(loaded(n & 1, from, n * 5 + 100, from + 1));
  return 0;
}
// CHECK: no mismatch
