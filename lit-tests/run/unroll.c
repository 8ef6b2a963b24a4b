// What cyclic paths tell of loops reaches the unroller, and only where it pays.
// RUN: %cc -O2 --midflight-k=10 %s -o %t
// RUN: env MIDFLIGHT_THREAD_MEMORY=64M MIDFLIGHT_PROFILE=%t.mfp %t > %t.out
// RUN: %midflight export --to weights %t %t.mfp | tee %t.weights | sed 's/{"name"/\n&/g' | FileCheck %s --check-prefix=WEIGHTS
// RUN: %midflight cc --midflight-llvm=%llvm --midflight-use=%t.weights -O2 -gline-tables-only '-Rpass=loop-(unroll|vectorize)' %s -o %t.used 2>%t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: %t.used | diff %t.out -
#include <stdio.h>

static unsigned char text[1 << 14];
static volatile unsigned char sink;

// Always 12 rounds, more than k: a divisor.
// WEIGHTS: "name":"fixed"{{.*}}"loops":[{"header":{{[0-9]+}},"unroll":6}]
__attribute__((noinline)) int fixed(const unsigned char *p, int n) {
  int sum = 0;
  // CHECK-DAG: unroll.c:[[@LINE+1]]:3: remark: unrolled loop by a factor of 6 with run-time trip count
  for (int i = 0; i < n; i++) {
    if (p[i] & 1)
      sink = p[i];
    else
      sum += sink;
  }
  return sum;
}

// Long runs of either way.
// WEIGHTS: "name":"runs"{{.*}}"loops":[{"header":{{[0-9]+}},"unroll":8}]
__attribute__((noinline)) long runs(const unsigned char *p, long n) {
  long words = 0;
  // CHECK-DAG: unroll.c:[[@LINE+1]]:3: remark: unrolled loop by a factor of 8 with run-time trip count
  for (long i = 0; i < n; i++) {
    if (p[i] == ' ')
      words++;
    else
      sink = p[i];
  }
  return words;
}

// Always 3 rounds, fewer than k, then leaves from the latch: known exactly.
// WEIGHTS: "name":"threes"{{.*}}"loops":[{"header":{{[0-9]+}},"unroll":3}]
__attribute__((noinline)) int threes(const unsigned char *p, int n) {
  int i = 0;
  // CHECK-DAG: unroll.c:[[@LINE+1]]:3: remark: unrolled loop by a factor of 3 with run-time trip count
  do {
    if (p[i] & 1)
      sink = p[i];
  } while (++i < n);
  return i;
}

// Now 2, now 5 rounds, by turns one way and the other at random: nothing.
// WEIGHTS: "name":"varied"
// WEIGHTS-NOT: loops
__attribute__((noinline)) int varied(const unsigned char *p, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    if (p[i] & 1)
      sink = p[i];
    else
      sum += sink;
  }
  return sum;
}

// Long runs, but it can be vectorized: what comes of it is unrolled as without a profile.
// WEIGHTS: "name":"vector"{{.*}}"loops":[{"header":{{[0-9]+}},"unroll":8}]
__attribute__((noinline)) int vector(const int *p, long n) {
  int sum = 0;
  // CHECK-DAG: unroll.c:[[@LINE+1]]:3: remark: vectorized loop
  for (long i = 0; i < n; i++)
    if (p[i] > 3)
      sum += p[i];
  // CHECK-NOT: unroll.c:[[@LINE-3]]:3: remark: unrolled loop
  return sum;
}

int main(void) {
  static int numbers[4096];
  unsigned seed = 1;
  long sum = 0;
  for (int i = 0; i < 4096; i++) {
    seed = seed * 1664525u + 1013904223u;
    text[i] = seed >> 24;
    numbers[i] = i & 512 ? 5 : 1;
  }
  for (int i = 0; i < 1000; i++) {
    sum += fixed(text + i, 12) + threes(text + i, 3);
    sum += varied(text + i, i & 1 ? 2 : 5);
  }
  for (int i = 0; i < 1 << 14; i++)
    text[i] = i & 512 ? ' ' : 'x';
  for (int i = 0; i < 4; i++)
    sum += runs(text, 1 << 14) + vector(numbers, 4096);
  printf("%ld\n", sum);
  return 0;
}
