// Before inlining, and behind that of small functions, all calls of the source are counted, and those that were inlined
// are there with their callers' lines.
// RUN: %cc -O2 -fno-unroll-loops --midflight-contexts --midflight-stage=early %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t
// RUN: %show --contexts %t %t.mfp | %tree %s "elsewhere == 0" "c('main') == 1" "c('main', 'outer@outer') == 100" \
// RUN:   "c('main', 'outer@outer', 'middle@middle') == 100" "c('main', 'outer@outer', 'middle@middle', 'inner@inner') == 100" \
// RUN:   "c('main', 'outer@outer', 'middle@middle', 'inner@inner', 'leaf@leaf') == 200" \
// RUN:   "c('main', 'outer@outer', 'inner@other') == 50" "c('main', 'outer@outer', 'inner@other', 'leaf@leaf') == 100" \
// RUN:   "c('main', 'fib@fib') == 1" "n('fib') == 177" "n('compare') == c('main', 'compare@sort')" "n('value') == 2 * n('compare') > 100"
// Late, what was inlined is none.
// RUN: %cc -O2 -fno-unroll-loops --midflight-contexts %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t
// RUN: %show --contexts %t %t.mfp | %tree %s "elsewhere == 0" "c('main') == 1" "c('main', 'outer@outer') == 100" "n('middle') == 0" "n('inner') == 0" \
// RUN:   "c('main', 'outer@outer', 'leaf@leaf') == 300" "n('value') == 0"
// RUN: %midflight show --contexts %t %t.mfp | FileCheck %s
// CHECK: leaf  {{.*}}early.c:[[#]] inlined in line [[#]]
// RUN: %cc -O2 -fno-unroll-loops --midflight-contexts --midflight-stage=inlined %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t
// RUN: %show --contexts %t %t.mfp | %tree %s "elsewhere == 0" "c('main') == 1" "c('main', 'outer@outer') == 100" "n('leaf') == 300" "n('fib') == 177" \
// RUN:   "n('compare') == c('main', 'compare@sort')"
#include <stdlib.h>
#define APART __attribute__((noinline))
static volatile int sink;
APART static void leaf(void) { __asm__ volatile(""); }
static void inner(void) {
  for (int i = 0; i < 2; i++)
    leaf(); // @leaf
  sink = 1;
}
static void middle(void) {
  inner(); // @inner
  sink = 2;
}
APART static void outer(int n) {
  middle(); // @middle
  if (n % 2)
    inner(); // @other
  sink = n;
}
static int value(const void *p) { return *(const int *)p; }
static int compare(const void *a, const void *b) { return value(a) - value(b); }
APART static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(void) {
  int numbers[60];
  for (int i = 0; i < 100; i++)
    outer(i); // @outer
  for (int i = 0; i < 60; i++)
    numbers[i] = i * 37 % 60;
  qsort(numbers, 60, sizeof *numbers, compare); // @sort
  return fib(10) != 55;                         // @fib
}
