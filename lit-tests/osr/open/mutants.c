// The check of the other tests can fail: versions that are wrong in one way print something else.
// A plugin and a code generator without the feature `mutants` have none.
// RUN: clang %level -fwrapv -fno-discard-value-names %s -o %t.plain
// RUN: %clang %level -fwrapv -fno-discard-value-names %s -o %t %osr='osr-point;where=loop-header;when=count:10;to=open:inline-callee;verify' %runtime
// RUN: %clang %level -fwrapv -fno-discard-value-names %s -o %t.value %osr='osr-point;where=loop-header;when=count:10;to=open:specialize-value;key=kind;verify' %runtime
// RUN: %open %t.plain %t %jit now always every:3 'at:*:5'
// RUN: %open %t.plain %t.value %jit now always every:3 'at:*:5'

// A guard that fails is not noticed.
// RUN: env MIDFLIGHT_JIT_MUTANT=guard-dropped %open %t.plain %t %jit '!now'
// RUN: env MIDFLIGHT_JIT_MUTANT=guard-dropped %open %t.plain %t.value %jit '!now'

// What is skipped by an exit that lands too late is not done.
// RUN: env MIDFLIGHT_JIT_MUTANT=exit-late %open %t.plain %t %jit '!now' '!always' '!every:3' '!at:*:5'
// RUN: env MIDFLIGHT_JIT_MUTANT=exit-late %open %t.plain %t.value %jit '!now' '!always' '!every:3' '!at:*:5'

// Two values are taken for each other.
// RUN: env MIDFLIGHT_JIT_MUTANT=values-swapped %open %t.plain %t %jit '!now' '!always' '!every:3' '!at:*:5'
// RUN: env MIDFLIGHT_JIT_MUTANT=values-swapped %open %t.plain %t.value %jit '!now' '!always' '!every:3' '!at:*:5'

// Where the keys are not compared, a version for another one is entered.
// RUN: env MIDFLIGHT_JIT_MUTANT=stale-key %clang %level -fwrapv -fno-discard-value-names %s -o %t.stale %osr='osr-point;where=loop-header;when=count:10;to=open:inline-callee;verify' %runtime
// RUN: %open %t.plain %t.stale %jit '!now'
// RUN: env MIDFLIGHT_JIT_MUTANT=stale-key %clang %level -fwrapv -fno-discard-value-names %s -o %t.stale %osr='osr-point;where=loop-header;when=count:10;to=open:specialize-value;key=kind;verify' %runtime
// RUN: %open %t.plain %t.stale %jit '!now'
#include <stdio.h>

#define NOINLINE __attribute__((noinline))
typedef long (*step)(long, long);

static long add(long a, long b) { return a * 3 + b; }
static long mix(long a, long b) { return (a ^ b) - 7; }

static long ticks;
NOINLINE static void tick(void) { ticks = ticks * 3 + 1; }

/* The header of the loop begins with what has no result; what is guarded changes; and before a
   version is asked for here, one for other keys was made further in. */
NOINLINE static long run(long kind, step f, int n, int depth) {
  long a = 5, b = 9;
  do {
    tick();
    a = f(a, b) + kind;
    b = b * 5 - a;
    if (n == 55 && depth)
      b ^= run(kind + 1, f == add ? mix : add, n, 0);
    if (n == 20 && depth) {
      f = f == add ? mix : add;
      kind++;
    }
  } while (n-- > 0);
  return a * 31 + b * 7 + kind;
}

int main(void) {
  for (int round = 0; round < 8; round++)
    printf("%ld %ld\n", run(round & 1, round & 1 ? add : mix, 60, 1), ticks);
}
