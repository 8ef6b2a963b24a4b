// Branches that store, with loads between that may be of the same places: opt has one store for each branch.
// What is loaded between is the same as between those of base. (Viterbi's algorithm, as hmmer has it.)
// RUN: clang -O0 -Xclang -disable-O0-optnone -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='function(sroa),print<osr-map>(default<O1>)' -disable-output %t.ll | FileCheck %s --check-prefix=MAP
// RUN: %cc --midflight-osr-fuzz=sroa '--midflight-osr-opt=default<O1>' %level %s -o %t
// RUN: %midflight osr fuzz --seconds 20 -- %t | FileCheck %s
// RUN: %cc '--midflight-osr-fuzz=sroa;debug-mutant=store' '--midflight-osr-opt=default<O1>' %level %s -o %t.store
// RUN: not %midflight osr fuzz --seconds 20 -- %t.store | FileCheck %s --check-prefix=STORE
// STORE: mismatch
// RUN: %cc --midflight-osr-fuzz=sroa '--midflight-osr-opt=simplifycfg<sink-common-insts>,instcombine<no-verify-fixpoint>' %level %s -o %t.sunk
// RUN: %midflight osr fuzz --seconds 20 -- %t.sunk | FileCheck %s
#include <stdio.h>

// MAP: "name":"step"
// MAP-SAME: "unproved":[]
__attribute__((noinline)) int step(int *m, int *d, const int *was, const int *by, int k) {
  int sum;
  m[k] = was[k - 1] + by[0];
  if ((sum = was[k] + by[1]) > m[k])
    m[k] = sum;
  if ((sum = d[k - 1] + by[2]) > m[k])
    m[k] = sum;
  m[k] += by[3];
  if (m[k] < -90)
    m[k] = -90;
  d[k] = d[k - 1] + by[4];
  if ((sum = m[k - 1] + by[5]) > d[k])
    d[k] = sum;
  if (d[k] < -90)
    d[k] = -90;
  return m[k] * 3 + d[k];
}

// Base stores once more in each arm, opt behind them.
__attribute__((noinline)) int again(int *p, int *q, int arm, int c, int a, int b) {
  int was;
  if (arm) {
    printf("one\n");
    *p = a;
    if (c)
      *p = b;
    was = *q;
    *p = 5;
  } else {
    printf("other\n");
    *p = b;
    if (c)
      *p = a;
    was = *q + 1;
    *p = 6;
  }
  printf("%d %d\n", was, *q);
  return was;
}

// The address that is loaded from is computed behind the stores.
__attribute__((noinline)) int behind(int *p, int *q, int c, int a, int b) {
  int before = q[1], *at;
  if (c) {
    *p = a;
    at = q + 1;
  } else {
    *p = b;
    at = q + 1;
  }
  int after = *at;
  printf("%d\n", p[0] + q[0]);
  return before * 3 + after;
}

// CHECK: no mismatch
int main(void) {
  int small[4] = {0, 0, 0, 0}, other = 77;
  for (int n = 0; n < 16; n++) {
    printf("%d\n", again(small, n & 8 ? small : &other, n & 1, n & 2, n + 100, n + 200));
    printf("%d\n", behind(small + n % 2, small + (n >> 1) % 2, n & 4, n + 100, n + 200));
  }
  int all[24], by[8];
  for (int apart = 0; apart < 4; apart++)
    for (int round = 0; round < 6; round++) {
      for (int i = 0; i < 24; i++)
        all[i] = (i * 37 + round * 11) % 61 - 40;
      for (int i = 0; i < 8; i++)
        by[i] = (i * 23 + round * 17) % 41 - 25;
      // They overlap, too.
      int result = step(&all[8], &all[8 + apart], &all[6 + apart], apart & 1 ? &all[9] : by, 1 + round % 3);
      int sum = 0;
      for (int i = 0; i < 24; i++)
        sum = sum * 5 + all[i];
      printf("%d %d\n", result, sum);
    }
  return 0;
}
