// A value that is live at the point is a constant in the version; where it changes, a guard leads
// back.
// RUN: clang %level %s -o %t.plain
// RUN: %clang %level -fno-discard-value-names %s -o %t %osr='osr-point;where=loop-header;when=count:20;to=open:specialize-value;key=kind;verify' %runtime
// RUN: %clang %level %s -o %t.any %osr='osr-point;where=loop-header;when=count:20;to=open:specialize-value;verify' %runtime
// RUN: %clang %level %s -o %t.best %osr='osr-point;where=loop-header;when=count:20;to=open:reoptimize;verify' %runtime
// RUN: %clang %level %s -o %t.always %osr='osr-point;where=loop-header;when=always;to=open:specialize-value;verify' %runtime
// RUN: %open %t.plain %t %jit never now background always every:2 every:3 every:50 'at:*:1' 'at:*:2' 'at:*:100'
// RUN: %open %t.plain %t.any %jit now background always every:3
// RUN: %open %t.plain %t.always %jit now always every:3
// RUN: %open %t.plain %t.best %jit -no-exits now background always
#include <stdio.h>

#define NOINLINE __attribute__((noinline))

NOINLINE long run(int kind, int n, long x) {
  for (int i = 0; i < n; i++) {
    switch (kind) {
    case 0: x += i; break;
    case 1: x ^= x << 1; break;
    case 2: x = x * 5 + 1; break;
    default: x -= i * kind; break;
    }
    if (x % 101 == 7)
      kind = (kind + 1) % 5;
  }
  return x * 8 + kind;
}

NOINLINE double weigh(short kind, double *v, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++)
    sum += kind == 3 ? v[i] * v[i] : kind * v[i];
  return sum;
}

NOINLINE unsigned char small(unsigned char kind, signed char step, int n) {
  for (int i = 0; i < n; i++)
    kind += step * (kind & 3);
  return kind;
}

int main(void) {
  double v[300];
  for (int i = 0; i < 300; i++)
    v[i] = i * 0.5;
  for (int round = 0; round < 60; round++) {
    printf("%ld\n", run(round % 4, 500, round));
    printf("%.3f\n", weigh((short)(round % 5), v, 300));
    printf("%d\n", small((unsigned char)round, (signed char)(round % 7 - 3), 100));
  }
  return 0;
}
