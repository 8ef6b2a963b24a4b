// What was stored to an element of a local array last is found across any number of joins, where LLVM gives
// up; and what a branch decides by is computed again before the next one, as -O0 code does.
// RUN: clang -O0 -Xclang -disable-O0-optnone -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='function(sroa),print<osr-map;function=rows>(loop-simplify,lcssa,loop(loop-rotate,loop-unroll-full),gvn)' -disable-output %t.ll | FileCheck %s --check-prefix=ROWS
// RUN: %opt -passes='function(sroa),print<osr-map;function=date>(jump-threading)' -disable-output %t.ll | FileCheck %s --check-prefix=DATE
// RUN: %cc --midflight-osr-fuzz=sroa '--midflight-osr-opt=loop-simplify,lcssa,loop(loop-rotate,loop-unroll-full),gvn' %level %s -o %t
// RUN: %midflight osr fuzz --seconds 8 -- %t | FileCheck %s
// RUN: %cc --midflight-osr-fuzz=sroa --midflight-osr-opt=jump-threading '-DSTEPS(k)=' %level %s -o %t
// RUN: %midflight osr fuzz --seconds 8 -- %t | FileCheck %s
#include <stdio.h>

static int seen;

__attribute__((noinline)) static void see(int n) { seen = seen * 31 + n; }

#define STEP(k)                                                                                                        \
  if (mode & (1 << (k & 7)))                                                                                           \
    out[k] = mode + k;                                                                                                 \
  else                                                                                                                 \
    out[k + 1] = mode * k;
#ifndef STEPS
#define STEPS(k) STEP(k) STEP(k + 1) STEP(k + 2) STEP(k + 3) STEP(k + 4) STEP(k + 5) STEP(k + 6) STEP(k + 7)
#endif

// ROWS: "name":"rows"
// ROWS-SAME: "opt_to_base":{"total":[[N:[0-9]+]],{{[^}]*}}"avail":[[N]],
// ROWS-SAME: "unproved":[]
__attribute__((noinline)) int rows(const int *from, int *out, int mode) {
  int left[2];
  left[0] = from[mode];
  left[1] = from[mode + 1];
  STEPS(0) STEPS(8) STEPS(16) STEPS(24) STEPS(32) STEPS(40) STEPS(48)
  int sum = 0;
  for (int i = 0; i < 2; ++i) {
    if (left[i] & 1) {
      see(left[i]);
      sum += 3;
    } else {
      see(mode);
      sum += left[i];
    }
  }
  see(sum);
  return sum;
}

// One of the elements may be another one where many ways have met.
__attribute__((noinline)) int changed(const int *from, int *out, int mode) {
  int left[2], first = from[mode], second = from[mode + 1];
  left[0] = first;
  left[1] = second;
  STEPS(0) STEPS(8) STEPS(16)
  if (mode & 2)
    left[mode & 1] = mode;
  STEPS(24) STEPS(32) STEPS(40) STEPS(48)
  int sum = 0;
  for (int i = 0; i < 2; ++i) {
    int it = left[i];
    see(mode);
    see(it + first);
    sum += it + second;
  }
  see(sum);
  return sum + first;
}

// DATE: "name":"date"
// DATE-SAME: "opt_to_base":{"total":[[N:[0-9]+]],{{[^}]*}}"avail":[[N]],
// DATE-SAME: "unproved":[]
__attribute__((noinline)) int date(const int *from, int flags) {
  int year, month, days = 0;
  if (flags & 4) {
    year = from[0];
    month = from[1];
  } else {
    year = 2000;
    month = 1;
  }
  if (year < -4713 || year > 9999 || (flags & 2)) {
    see(year);
    return 0;
  }
  if (month <= 2) {
    --year;
    month += 12;
  }
  days = year * 12 + month;
  see(days);
  if (flags & 4) {
    see(month);
    days += 5;
  }
  return days;
}

// The same is asked of another value each time.
__attribute__((noinline)) int others(int x, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    if ((x >> 1) & 4)
      sum += n * 3;
    else
      sum += n + 5;
    see(sum);
    x = x * 5 + i;
    if ((x >> 1) & 4)
      see(n);
    else
      see(x);
  }
  return sum;
}

int main(void) {
  int a[9] = {1, 2, 3, 4, 6, 6, 9, 8, 7}, out[64] = {0}, sum = 0;
  for (int i = 0; i < 8; ++i) {
    sum = sum * 7 + rows(a, out, i) + changed(a, out, i) + out[i * 7];
    sum = sum * 7 + date(a, i) + others(i * 3, i);
  }
  printf("%d %d\n", sum, seen);
  return 0;
}
// CHECK: no mismatch
