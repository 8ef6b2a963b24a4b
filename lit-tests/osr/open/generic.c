// What speculates wrongly again and again ends in a version without assumptions; so does what has
// nothing to gain.
// REQUIRES: level-O2
// RUN: clang %level %s -o %t.plain
// RUN: %clang %level %s -o %t %osr='osr-point;where=loop-header;when=count:20;to=open:inline-callee;verify' %runtime
// RUN: %open %t.plain %t %jit never now background always every:2 every:3 'at:*:1'
// RUN: env MIDFLIGHT_OSR_COMPILE=now MIDFLIGHT_JIT=%jit MIDFLIGHT_OSR_LOG=%t.log %t > %t.out; %t.plain | diff - %t.out
// RUN: FileCheck %s < %t.log
// CHECK-DAG: "function":"turns","generator":"inline-callee","kind":"generic","state":"ready",{{.*}}"guards":0,"checks":0,"exits":0
// CHECK-DAG: "function":"turns","generator":"inline-callee","kind":"special",{{.*}}"state":"abandoned"
// CHECK-DAG: "function":"outside","generator":"inline-callee","kind":"generic","state":"ready",{{.*}}"guards":0
// CHECK-DAG: "function":"outside","generator":"inline-callee","kind":"special",{{.*}}"state":"nothing"
// RUN: %clang %level %s -o %t.early %osr='osr-point;where=loop-header;when=count:20;to=open:inline-callee;stage=early;verify' %runtime
// RUN: %open %t.plain %t.early %jit now background always every:2
#include <stdio.h>
#include <stdlib.h>

typedef long step(long);

static long triple(long x) { return 3 * x + 1; }
static long flip(long x) { return x ^ x >> 3; }

struct steps {
  step *now, *then;
};

/* Another callee at each round. */
__attribute__((noinline)) long turns(struct steps *steps, int n) {
  long x = 1;
  for (int i = 0; i < n; i++) {
    x = steps->now(x);
    step *kept = steps->now;
    steps->now = steps->then;
    steps->then = kept;
  }
  return x;
}

/* A callee of which the program has no IR. */
__attribute__((noinline)) long outside(step *f, int n) {
  long sum = 0;
  for (int i = 0; i < n; i++)
    sum += f(i - n / 2) * i;
  return sum;
}

int main(void) {
  struct steps steps = {triple, flip};
  step *volatile absolute = labs;
  for (int i = 0; i < 5; i++)
    printf("%ld %ld\n", turns(&steps, 200000 + i), outside(absolute, 2000));
  return 0;
}
