// Folded recursion of functions that call each other as numbers tell, also in callbacks and over jumps: each context is there with
// its count, and where hot ones alone are kept, all counts are within their bounds, whatever is under way when one is removed.
// RUN: %cc %level -fno-optimize-sibling-calls --midflight-contexts %s -o %t.levels
// RUN: %cc %level -fno-optimize-sibling-calls --midflight-contexts --midflight-recursion=folded %s -o %t
// RUN: env MIDFLIGHT_PROFILE=%t.levels.mfp %t.levels && %show --contexts %t.levels %t.levels.mfp > %t.levels.json
// RUN: env MIDFLIGHT_PROFILE=%t.mfp %t && %show --contexts %t %t.mfp > %t.json
// RUN: python3 %S/Inputs/fold.py %t.levels.json %t.json
// RUN: %tree %s "elsewhere == 0" "nodes > 3000" < %t.json
// RUN: env MIDFLIGHT_CONTEXTS=hcct:0.05:0.04 MIDFLIGHT_PROFILE=%t.hot.mfp %t && %show --contexts %t %t.hot.mfp > %t.hot.json
// RUN: python3 %S/Inputs/fold.py --bounds %t.json %t.hot.json && %tree %s "elsewhere == 0" "nodes < 200" < %t.hot.json
// RUN: env MIDFLIGHT_CONTEXTS=hcct:0.005:0.001 MIDFLIGHT_PROFILE=%t.hot.mfp %t && %show --contexts %t %t.hot.mfp > %t.hot.json
// RUN: python3 %S/Inputs/fold.py --bounds %t.json %t.hot.json && %tree %s "elsewhere == 0" < %t.hot.json
// Memory that is not much more than these need is used again and again.
// RUN: env MIDFLIGHT_CONTEXTS=hcct:0.05:0.04 MIDFLIGHT_THREAD_MEMORY=128K MIDFLIGHT_PROFILE=%t.hot.mfp %t && %show --contexts %t %t.hot.mfp > %t.hot.json
// RUN: python3 %S/Inputs/fold.py --bounds %t.json %t.hot.json && %tree %s "elsewhere == 0" < %t.hot.json
#include <setjmp.h>
#include <stdlib.h>

static volatile int sink;
static unsigned state = 8;
static int budget, sorts;
static jmp_buf *top;

static unsigned below(unsigned n) { return ((state = state * 1103515245u + 12345u) >> 16) % n; }
static int f0(int), f1(int), f2(int), f3(int), f4(int), f5(int), f6(int), f7(int);
static int (*const all[])(int) = {f0, f1, f2, f3, f4, f5, f6, f7};

static int compare(const void *a, const void *b) {
  if (budget > 0 && sorts < 4 && below(5) == 0)
    sink += all[below(8)](3);
  return *(const int *)a - *(const int *)b;
}

#define FUNCTION(name, ...) \
  __attribute__((noinline)) static int name(int depth) { \
    volatile int sum = 0; \
    if (depth <= 0 || --budget < 0) \
      return 1; \
    __VA_ARGS__ \
    return sum; \
  }
#define MAYBE(callee) \
  if (below(3)) \
    sum += callee(depth - 1);
#define ANY sum += all[below(8)](depth - 1);
#define JUMPS \
  if (below(50) == 0) \
    longjmp(*top, 1);
#define SORTS \
  if (below(4) == 0 && sorts < 4) { \
    int numbers[] = {3, 1, 2, 5, 4}; \
    sorts++; \
    qsort(numbers, 5, sizeof *numbers, compare); \
    sorts--; \
  }
#define LANDS \
  { \
    jmp_buf here, *volatile before = top; \
    volatile int sorts_before = sorts; \
    top = &here; \
    if (!setjmp(here)) \
      ANY; \
    top = before; \
    sorts = sorts_before; \
    ANY; \
  }

FUNCTION(f0, ANY LANDS)
FUNCTION(f1, MAYBE(f7))
FUNCTION(f2, MAYBE(f6) SORTS MAYBE(f0) LANDS)
FUNCTION(f3, MAYBE(f0) ANY MAYBE(f3) ANY)
FUNCTION(f4, JUMPS)
FUNCTION(f5, MAYBE(f0))
FUNCTION(f6, ANY JUMPS SORTS ANY)
FUNCTION(f7, JUMPS ANY MAYBE(f3) SORTS)

int main(void) {
  for (volatile int round = 0; round < 400; round++) {
    jmp_buf here;
    budget = 200;
    sorts = 0;
    top = &here;
    if (!setjmp(here))
      sink += all[below(8)](12);
  }
  return 0;
}
