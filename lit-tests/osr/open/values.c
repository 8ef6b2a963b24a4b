// REQUIRES: level-O2
// What a function has that travels or stays: 200 live values, arrays of variable size, thread-local
// and weak variables, statics, volatile and atomic accesses, and activations of itself.
// RUN: clang -O1 -fwrapv %s -o %t.plain
// RUN: %clang %level -fwrapv %s -o %t %osr='osr-point;where=loop-header;when=count:10;to=open:inline-callee;stage=early;verify' %runtime
// RUN: %open %t.plain %t %jit never now background always every:2 every:3 'at:*:1' 'at:*:2' 'at:*:40'
// RUN: %clang %level -fwrapv %s -o %t.value %osr='osr-point;where=loop-header;when=count:10;to=open:specialize-value;stage=early;verify' %runtime
// RUN: %open %t.plain %t.value %jit never now background always every:2 every:3 'at:*:1' 'at:*:2' 'at:*:40'
// RUN: %clang %level -fwrapv -fPIC -ftls-model=global-dynamic %s -o %t.pic %osr='osr-point;where=loop-header;when=count:10;to=open:inline-callee;stage=early;verify' %runtime
// RUN: %open %t.plain %t.pic %jit now background every:3
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))
typedef long (*step)(long, long);

static _Thread_local long in_thread;
_Thread_local int exported = 3;
__attribute__((weak)) long weak = 5;
extern __attribute__((weak)) long absent;
static volatile int noted;
static atomic_long counted;
const char *volatile name = "name";

static long add(long a, long b) { in_thread += b & 3; return a * 3 + b; }
static long mix(long a, long b) { exported ^= (int)b; return (a ^ b) - exported; }
static long note(long a, long b) { noted++; noted += (int)(b & 1); return a - noted + weak++; }
static long count(long a, long b) {
  long before = atomic_fetch_add(&counted, b & 7);
  atomic_compare_exchange_strong(&counted, &before, before + 1);
  return a + atomic_load_explicit(&counted, memory_order_acquire) + (&absent ? absent : 1);
}
static step const steps[] = {add, mix, note, count};

#define EACH(x) x(0) x(1) x(2) x(3) x(4) x(5) x(6) x(7) x(8) x(9)
#define TEN(x, t) x(t##0) x(t##1) x(t##2) x(t##3) x(t##4) x(t##5) x(t##6) x(t##7) x(t##8) x(t##9)
#define TENS(x, h) TEN(x, h##0) TEN(x, h##1) TEN(x, h##2) TEN(x, h##3) TEN(x, h##4) TEN(x, h##5) TEN(x, h##6) TEN(x, h##7) TEN(x, h##8) TEN(x, h##9)
#define ALL(x) TENS(x, 1) TENS(x, 2)
/* 200 values that change in each round, in a way that none is another's. */
NOINLINE long crowd(step f, int n, long seed) {
#define DECLARE(i) long v##i = seed * i + i;
  ALL(DECLARE)
  for (int r = 0; r < n; r++) {
    long x = f(v100, r);
#define CHANGE(i) v##i = v##i * 3 + (x ^ i);
    ALL(CHANGE)
    v100 ^= v299;
  }
  long sum = 0;
#define SUM(i) sum = sum * 5 + v##i;
  ALL(SUM)
  return sum;
}

/* An array of variable size before the loop, and one in it. */
NOINLINE long sized(step f, int n) {
  long array[n + 1];
  memset(array, 0, sizeof array);
  for (int i = 0; i < n; i++) {
    long inner[i % 7 + 1];
    inner[i % (i % 7 + 1)] = i;
    array[i] = f(array[i / 2], inner[i % (i % 7 + 1)]);
    if (i % 5 == 0) {
      char *block = __builtin_alloca((size_t)i + 1);
      block[i] = (char)i;
      array[i] += block[i];
    }
  }
  long sum = 0;
  for (int i = 0; i < n; i++)
    sum = sum * 3 + array[i];
  return sum;
}

/* An address of the frame is kept elsewhere, and used by the callee. */
static long *kept;
static long through(long a, long b) { *kept += b; return a ^ *kept; }
static long away(long a, long b) { *kept -= a; return b; }
NOINLINE long escapes(step f, int n) {
  long here = 7, more[3] = {1, 2, 3};
  kept = &here;
  long x = 0;
  for (int i = 0; i < n; i++) {
    x += f(x, i) + here;
    if (i == n / 2)
      kept = &more[i % 3];
  }
  return x + here + more[0] * 3 + more[1] * 5 + more[2] * 7;
}

/* Each activation is in a version of its own. */
NOINLINE long recursive(step f, int depth, int n) {
  long sum = depth;
  for (int i = 0; i < n; i++) {
    sum = f(sum, i);
    if (i % 8 == 5 && depth > 0)
      sum ^= recursive(steps[(i + depth) & 3], depth - 1, n - 3);
  }
  return sum;
}

/* The callee is the function itself, or calls it. */
static long again(long a, long b);
NOINLINE long mutual(step f, int n) {
  long sum = 1;
  for (int i = 0; i < n; i++)
    sum = f(sum, i) + i;
  return sum;
}
static long again(long a, long b) { return b % 9 == 8 ? mutual(b & 16 ? again : add, (int)b / 2) - a : a + b; }

/* Two loops in one another and one behind, each with a callee of its own that changes. */
NOINLINE long nested(step f, step g, step h, int n) {
  long a = 0, b = 1, c = 2;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i % 30; j++) {
      a = f(a, j) - b;
      for (int k = 0; k < j % 4; k++)
        c = h(c, k ^ i);
    }
    b = g(b, a & 255);
    if (i % 11 == 10) {
      step other = f;
      f = g, g = h, h = other;
    }
  }
  do {
    c = g(c, n);
  } while (n-- > 0);
  return a * 3 + b * 5 + c;
}

int main(void) {
  for (int k = 0; k < 4; k++) {
    printf("%ld\n", crowd(steps[k], 40, k));
    printf("%ld\n", sized(steps[k], 60));
    printf("%ld\n", escapes(k & 1 ? through : away, 50));
    printf("%ld\n", recursive(steps[k], 3, 30));
    printf("%ld\n", mutual(again, 60));
    printf("%ld\n", nested(steps[k], steps[(k + 1) & 3], steps[(k + 2) & 3], 60));
    printf("%ld %d %d %ld %ld\n", in_thread, exported, noted, counted, weak);
  }
}
