// Paths and calling contexts in one build and one profile: both are what either is alone.
// RUN: %cc %level -fno-unroll-loops --midflight-contexts %s -o %t.calls && env MIDFLIGHT_PROFILE=%t.calls.mfp %t.calls
// RUN: %cc %level -fno-unroll-loops --midflight-stage=late --midflight-k=2 %s -o %t.paths && env MIDFLIGHT_PROFILE=%t.paths.mfp %t.paths
// RUN: %cc %level -fno-unroll-loops --midflight-contexts --midflight-k=2 %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t
// RUN: %midflight show --contexts %t.calls %t.calls.mfp > %t.calls.txt && %midflight show --contexts %t %t.mfp | diff %t.calls.txt -
// RUN: %midflight show %t.paths %t.paths.mfp > %t.paths.txt && %midflight show %t %t.mfp | diff %t.paths.txt -
// RUN: %midflight check %t %t.mfp
// Before optimization, too, and by Algorithm 4 as published.
// RUN: %cc %level --midflight-contexts --midflight-stage=early %s -o %t.calls && env MIDFLIGHT_PROFILE=%t.calls.mfp %t.calls
// RUN: %cc %level --midflight-stage=early --midflight-algorithm=published %s -o %t.paths && env MIDFLIGHT_PROFILE=%t.paths.mfp %t.paths
// RUN: %cc %level --midflight-contexts --midflight-stage=early --midflight-algorithm=published %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t
// RUN: %midflight show --contexts %t.calls %t.calls.mfp > %t.calls.txt && %midflight show --contexts %t %t.mfp | diff %t.calls.txt -
// RUN: %midflight show %t.paths %t.paths.mfp > %t.paths.txt && %midflight show %t %t.mfp | diff %t.paths.txt -
// In bursts paths are counted all the same.
// RUN: %cc %level -fno-unroll-loops --midflight-contexts --midflight-bursts --midflight-k=2 %s -o %t && env MIDFLIGHT_BURSTS=2ms:10us MIDFLIGHT_PROFILE=%t.mfp %t
// RUN: %midflight show --contexts %t %t.mfp | FileCheck %s
// RUN: %midflight show %t %t.mfp | FileCheck %s --check-prefix=SHOWN
// CHECK: bursts=2000000ns:10000ns
// SHOWN: walk
#include <stdlib.h>
#define APART __attribute__((noinline))
static volatile int sink;
APART static int leaf(int x) {
  sink = x;
  return x & 3 ? x + 1 : x - 1;
}
APART static int walk(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += i % 3 ? leaf(i) : leaf(-i) + (i & 8 ? leaf(sum) : 2);
  return sum + 1;
}
static int compare(const void *a, const void *b) {
  int x = leaf(*(const int *)a), y = leaf(*(const int *)b);
  return x < y ? -1 : x > y;
}
APART static int recursive(int n) { return n < 2 ? leaf(n) + 1 : recursive(n - 1) + recursive(n - 2); }
int main(void) {
  int numbers[100];
  for (int i = 0; i < 100; i++)
    numbers[i] = (i * 7919) % 101;
  for (int i = 0; i < 20; i++) {
    sink = walk(100) + recursive(8);
    qsort(numbers, 100, sizeof *numbers, compare);
  }
  return 0;
}
