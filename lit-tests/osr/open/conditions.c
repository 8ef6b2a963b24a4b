// Open points at all places and under all conditions; several of one function; flags that are
// armed.
// REQUIRES: level-O2
// DEFINE: %{options} =
// DEFINE: %{ways} = never now background always every:2 every:3 'at:*:1' 'at:*:2'
// DEFINE: %{try} = %clang %level -fwrapv %s -o %t %osr='osr-point;verify;%{options}' %runtime && %open %t.plain %t %jit %{ways}
// RUN: clang -O1 -fwrapv %s -o %t.plain
// REDEFINE: %{options} = where=entry;when=always;to=open:specialize-value
// RUN: %{try}
// REDEFINE: %{options} = where=entry;when=every:5;to=open:specialize-value
// RUN: %{try}
// REDEFINE: %{options} = where=loop-header;when=always;to=open:inline-callee
// RUN: %{try}
// REDEFINE: %{options} = where=loop-header;when=every:7;to=open:inline-callee
// RUN: %{try}
// REDEFINE: %{options} = where=loop-header:closest;when=count:2;to=open:inline-callee
// RUN: %{try}
// REDEFINE: %{options} = where=loop-header:outer;when=count:1;to=open:specialize-value
// RUN: %{try}
// REDEFINE: %{options} = where=call;when=every:11;to=open:inline-callee
// RUN: %{try}
// REDEFINE: %{options} = where=call;when=count:3;to=open:specialize-value
// RUN: %{try}
// REDEFINE: %{options} = where=all;when=every:13;to=open:inline-callee;max-points=6
// RUN: %{try}
// REDEFINE: %{options} = where=all;when=every:17;to=open:specialize-value;max-points=9
// RUN: %{try}
// REDEFINE: %{options} = where=all;when=always;to=open:specialize-value;max-points=9
// RUN: %{try}
// REDEFINE: %{options} = where=all;when=count:2;to=open:inline-callee;max-points=9;stage=late
// RUN: %{try}
// REDEFINE: %{ways} = -no-exits now background always every:3
// REDEFINE: %{options} = where=all;when=every:9;to=open:reoptimize;max-points=5
// RUN: %{try}

// A flag that nobody arms fires nothing. Armed, the points fire at each hit.
// RUN: %clang %level -fwrapv %s -o %t %osr='osr-point;verify;where=loop-header;when=flag;to=open:inline-callee' %runtime
// RUN: %open %t.plain %t %jit never background
// RUN: env 'MIDFLIGHT_OSR_FIRE=arm:*' %open %t.plain %t %jit never now background always every:3 'at:*:1'
// RUN: %clang %level -fwrapv %s -o %t %osr='osr-point;verify;where=loop-header;when=patch;to=open:inline-callee' %runtime
// RUN: env 'MIDFLIGHT_OSR_FIRE=arm:*' %open %t.plain %t %jit never now background always every:3 'at:*:1'
#include <stdio.h>

#define NOINLINE __attribute__((noinline))
typedef int (*step)(int, int);

static int add(int a, int b) { return a * 3 + b; }
static int sub(int a, int b) { return a - b * 5; }
static int mix(int a, int b) { return b % 3 ? a ^ b : add(b, a); }
static step const steps[] = {add, sub, mix};

NOINLINE static int loops(step f, step g, int kind, int n) {
  int a = kind, b = n;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i % 12; j++) {
      a = f(a, j + b);
      if (kind == 1)
        b += a & 3;
    }
    if (a % 7 == 3)
      kind = (kind + 1) % 3;
    b = g(b, i);
    if (i == n / 2)
      f = mix;
  }
  while (n-- > 0)
    a = steps[(n / 10) % 3](a, b);
  return a * 31 + b + kind;
}

NOINLINE static int straight(int kind, step f, int n) {
  int x = f(n, kind);
  if (kind > 1)
    x = f(x, kind * 3) + kind / 2;
  return f(x - kind, n);
}

int main(void) {
  for (int round = 0; round < 24; round++) {
    printf("%d\n", loops(steps[round % 3], steps[(round + 1) % 3], round % 3, 40));
    for (int i = 0; i < 5; i++)
      printf("%d ", straight(round / 6, steps[i % 3], i + round));
    printf("\n");
  }
}
