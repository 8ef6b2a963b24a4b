// Assumptions are constants in versions, which are left when one is invalidated: behind the call
// that did it, or at the head of a loop where another thread did. A callee that was inlined is left
// before its caller.
// RUN: clang %level -I %runtime_include %s -o %t.plain
// RUN: %clang %level -I %runtime_include -DMIDFLIGHT_OSR=1 %s -o %t %osr='osr-point;where=loop-header;when=count:20;to=open:inline-callee;verify' %runtime
// RUN: %open %t.plain %t %jit never now background always every:2 every:3 every:50 'at:*:1' 'at:*:2'
// RUN: %clang %level -I %runtime_include -DMIDFLIGHT_OSR=1 %s -o %t.early %osr='osr-point;where=loop-header;when=count:20;to=open:inline-callee;stage=early;verify' %runtime
// RUN: %open %t.plain %t.early %jit now background always every:3
// RUN: %clang %level -I %runtime_include -DMIDFLIGHT_OSR=1 %s -o %t.always %osr='osr-point;where=loop-header;when=always;to=open:specialize-value;verify' %runtime
// RUN: %open %t.plain %t.always %jit now background always every:3
// Where a caller does not look behind a call, it goes on with what it assumed.
// RUN: env MIDFLIGHT_JIT_MUTANT=frame-kept %open %t.plain %t %jit '!now' '!every:3'
// RUN: env MIDFLIGHT_OSR_COMPILE=now MIDFLIGHT_JIT=%jit MIDFLIGHT_OSR_LOG=%t.log %t > %t.out; %t.plain | diff - %t.out
// RUN: FileCheck %s < %t.log
// CHECK-DAG: "function":"run","generator":"inline-callee","kind":"special","key":{{[0-9]+}},"state":"invalidated"
// CHECK-DAG: "function":"spin","generator":"inline-callee","kind":"special","key":{{[0-9]+}},"state":"invalidated",{{.*}}"exits":1}
#include <midflight.h>
#include <pthread.h>
#include <stdio.h>

#define NOINLINE __attribute__((noinline))

static midflight_assumption scale = MIDFLIGHT_ASSUMPTION(3);
static midflight_assumption settings[] = {MIDFLIGHT_ASSUMPTION(0), MIDFLIGHT_ASSUMPTION(5)};
static midflight_assumption going = MIDFLIGHT_ASSUMPTION(1);

static void set(midflight_assumption *a, long value) {
  if (midflight_invalidate)
    midflight_invalidate(a, value);
  else
    __atomic_store_n(&a->value, value, __ATOMIC_RELAXED);
}

static long calls;
static int quiet;

/* Changes what its caller and itself assume. */
NOINLINE static void change(long by) {
  if (quiet)
    return;
  if (++calls % 100 == 0)
    set(&scale, (calls / 100 + by) % 4);
  if (calls % 70 == 0)
    set(&settings[1], calls % 3);
}

/* Is inlined: it assumes something before and after a call. */
static long weigh(long x) {
  long before = midflight_assume(&scale) * x;
  change(x & 1);
  long after = midflight_assume(&scale) * x;
  return before * 7 + after + midflight_assume(&settings[1]);
}

static long same(long x) {
  change(0);
  return x;
}

/* Assumes something itself; it calls what does, too. */
NOINLINE long run(long (*f)(long), long n) {
  long sum = 0;
  for (long i = 0; i < n; i++) {
    sum = sum * 31 + midflight_assume(&scale);
    long weighed = f(i);
    sum += weighed * midflight_assume(&settings[1]) + midflight_assume(&scale);
  }
  return sum;
}

/* Ends when another thread says so. */
NOINLINE long spin(long (*f)(long), long *rounds) {
  long n = 0;
  while (midflight_assume(&going)) {
    n += f(1) == 1;
    __atomic_store_n(rounds, n, __ATOMIC_RELAXED);
  }
  return n > 0;
}

static long count(long x) { return x; }

static long rounds;

static void *stop(void *unused) {
  while (__atomic_load_n(&rounds, __ATOMIC_RELAXED) < 1000000)
    ;
  set(&going, 0);
  return unused;
}

int main(void) {
  long (*volatile f)(long) = weigh, (*volatile g)(long) = same, (*volatile h)(long) = count;
  for (int round = 0; round < 20; round++) {
    quiet = round % 10 > 6;
    printf("%ld\n", run(f, quiet ? 5000 : 150));
    printf("%ld\n", run(g, quiet ? 3000 : 77));
  }
  pthread_t thread;
  pthread_create(&thread, NULL, stop, NULL);
  printf("%ld\n", spin(h, &rounds));
  pthread_join(thread, NULL);
  return 0;
}
