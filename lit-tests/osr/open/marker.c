// Open points where the source says so, with the key that it says; and messages for those that
// cannot be.
// RUN: clang %level -I %runtime_include %s -o %t.plain
// RUN: %clang %level -I %runtime_include -DMIDFLIGHT_OSR=1 %s -o %t %osr='osr-point;where=marker;when=count:20;to=open:specialize-value;verify' %runtime 2>%t.messages
// RUN: %open %t.plain %t %jit never now background always every:3 'at:kind:1'
// RUN: FileCheck %s < %t.messages
// CHECK-DAG: OSR point 'not live' in 'without': there is none: no value is live at the point that the generator could profile, or none of that name [NoKey]
// CHECK-DAG: OSR point 'label' in 'computed': there is none: {{.*}} [NotCarried]
// CHECK-NOT: OSR point 'kind'
#include <midflight.h>
#include <stdio.h>

__attribute__((noinline)) static long step(short kind, int n) {
  long sum = n;
  for (int i = 0; i < n; i++) {
    MIDFLIGHT_OSR_OPEN("kind", kind);
    sum = kind == 2 ? sum * 3 + i : kind == 3 ? sum ^ i : sum - kind;
    if (sum % 89 == 4)
      kind = (short)((kind + 1) & 3);
  }
  return sum * 4 + kind;
}

__attribute__((noinline)) static int without(int *p, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    int other = p[i & 3] + 1;
    sum += i;
    MIDFLIGHT_OSR_OPEN("not live", other);
  }
  return sum;
}

__attribute__((noinline)) static int computed(int n) {
  static void *const places[] = {&&add, &&stop};
  int sum = 0;
  MIDFLIGHT_OSR_OPEN("label", n);
add:
  sum += n--;
  goto *places[n <= 0];
stop:
  return sum;
}

int main(void) {
  int p[4] = {1, 2, 3, 4};
  for (int round = 0; round < 30; round++)
    printf("%ld %d %d\n", step((short)(round & 3), 400), without(p, 10), computed(round));
}
