// `midflight cc` with points: the header is found, the marker takes effect, and the runtime is linked
// although only flags are tested.
// RUN: %cc --midflight-osr-point='where=marker;when=flag' %level %s -o %t
// RUN: %t | FileCheck %s
// RUN: env MIDFLIGHT_OSR_FIRE=arm:loop MIDFLIGHT_OSR_LOG=%t.log %t
// RUN: FileCheck %s --check-prefix=LOG <%t.log
// RUN: %cc %level %s -o %t.without && %t.without | FileCheck %s --check-prefix=WITHOUT
// RUN: %cc --midflight-osr-fuzz -DFUZZ %level %s -o %t.fuzz
// RUN: %midflight osr fuzz --seconds 20 -- %t.fuzz | FileCheck %s --check-prefix=FUZZ
#include <midflight.h>
#include <stdio.h>

__attribute__((noinline)) int squares(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    MIDFLIGHT_OSR_POINT("loop");
    sum += i * i;
  }
  return sum;
}

int main(void) {
  printf("%d\n", squares(10));
  printf("armed %d\n", midflight_osr_arm("loop") > 0);
  printf("%d\n", squares(10));
#ifndef FUZZ // it would tell of the firing
  printf("%llu moved\n", midflight_osr_count("loop"));
#endif
  return 0;
}

// CHECK: 285
// CHECK: armed 1
// CHECK: 285
// CHECK: 1 moved
// LOG: {"event":"transition","point":"loop",{{.*}}"from":"squares"{{.*}}"transitions":2}
// WITHOUT: armed 0
// FUZZ: no mismatch
