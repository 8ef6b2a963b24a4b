// `midflight osr fuzz` makes the versions of open points at once, and leaves them at all kinds of
// checks. It says where a version is wrong, how to see it, and that there is nothing to fuzz.
// RUN: %clang %level -fwrapv -fno-discard-value-names %s -o %t %osr='osr-point;where=loop-header;when=count:3;to=open:specialize-value;key=kind;verify' %runtime
// RUN: env MIDFLIGHT_JIT=%jit %midflight osr fuzz -- %t > %t.out
// RUN: FileCheck --check-prefix=CLEAN %s < %t.out
// CLEAN: 1 of 1 points hit fired, 1 of them alone; 1 points; {{[0-9]+}} runs, {{[1-9][0-9]*}} transitions
// CLEAN-NEXT: 1 of the points are open: {{[1-9]}} versions; transitions are exits of these
// CLEAN-NEXT: no mismatch
// RUN: env MIDFLIGHT_JIT=%jit %midflight osr fuzz --format json -- %t | FileCheck --check-prefix=JSON %s
// JSON: {"version":1,"points":1,"open_points":1,"versions":{{[1-9]}},"points_hit":1,"fired":1,"fired_alone":1,"unreached":0,{{.*}}"complete":true,"mismatches":[]}
// RUN: env MIDFLIGHT_JIT=%jit %midflight osr fuzz --points 'run#' -- %t | FileCheck --check-prefix=SINGLE %s
// SINGLE: 1 of 1 points hit fired, 1 of them alone; 1 points; 3 runs, 
// RUN: env MIDFLIGHT_JIT=%jit MIDFLIGHT_JIT_MUTANT=exit-late not %midflight osr fuzz --points 'run#' -- %t | FileCheck --check-prefix=LATE %s
// LATE: mismatch at exit of a version of {{.*}}fuzz.c:run#{{[0-9]+}}, check {{[0-9]+}}
// LATE-NEXT: stdout: stdout, line {{[0-9]+}}:
// LATE-NEXT: reproduce: MIDFLIGHT_OSR_COMPILE=now MIDFLIGHT_OSR_EXIT='at:{{.*}}fuzz.c:run#{{[0-9]+:[0-9]+}}' {{.*}}fuzz.c.tmp
// LATE: 1 mismatch
// RUN: env MIDFLIGHT_JIT=/nothing not %midflight osr fuzz -- %t | FileCheck --check-prefix=MISSING %s
// MISSING: mismatch with versions that are not left
// MISSING-NEXT: stderr: stderr, line 1: "midflight: {{.*}}/nothing
// RUN: %clang %level %s -o %t.never %osr='osr-point;where=loop-header;when=never' %runtime
// RUN: not %midflight osr fuzz -- %t.never 2>&1 | FileCheck --check-prefix=NONE %s
// NONE: the program has no fuzzed points that were hit, and no open points that fired;
#include <stdio.h>

static long ticks;
__attribute__((noinline)) static void tick(void) { ticks = ticks * 3 + 1; }

__attribute__((noinline)) static long run(long kind, int n) {
  long a = 5;
  do {
    tick();
    a = kind == 1 ? a * 3 + n : a ^ (n * kind);
  } while (n-- > 0);
  return a;
}

int main(void) {
  volatile long hidden = 1;
  for (int round = 0; round < 6; round++)
    printf("%ld %ld\n", run(hidden, 20), ticks);
}
