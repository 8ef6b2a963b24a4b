// Functions that have no open points run as they are, and a remark says why; the others have them.
// RUN: clang -O1 -fwrapv %s -o %t.plain
// RUN: %clang %level -fwrapv -Rpass-missed=midflight-osr %s -o %t %osr='osr-point;where=loop-header;when=count:5;to=open:specialize-value;verify' %runtime 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: %open %t.plain %t %jit never now background always every:3 'at:*:1'
// CHECK-DAG: no OSR points in 'jumps': the function returns twice
// CHECK-DAG: no OSR points in 'computed': {{.*}} as addresses of blocks
// CHECK-DAG: no OSR points in 'free': the function is part of the allocator
// CHECK-NOT: 'plain'
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))
static jmp_buf place;

NOINLINE static long plain(int kind, int n) {
  long sum = kind;
  for (int i = 0; i < n; i++) {
    sum = kind == 1 ? sum * 3 + i : kind == 2 ? sum - i : sum ^ i;
    if (sum % 97 == 5)
      longjmp(place, kind + 1);
  }
  return sum;
}

NOINLINE static long jumps(int n) {
  volatile long sum = 0;
  for (volatile int i = 0; i < n; i++) {
    int kind = setjmp(place);
    if (kind > 3)
      break;
    sum += plain(kind, 60) & 0xffff;
  }
  return sum;
}

NOINLINE static long computed(int kind, int n) {
  static void *const places[] = {&&one, &&two, &&end};
  long sum = 0;
  for (int i = 0; i < n; i++) {
    goto *places[(i + kind) % 3];
  one:
    sum += i;
    continue;
  two:
    sum *= 3;
    continue;
  end:
    sum ^= i;
  }
  return sum;
}

static char heap[1000];
void free(void *p) {
  for (int i = 0; i < 3; i++)
    if (p == heap + i)
      heap[i] = 0;
}

int main(void) {
  for (int round = 0; round < 20; round++) {
    printf("%ld %ld\n", jumps(4), computed(round, 50));
    free(heap + 1);
  }
}
