// At the head of a rotated loop the other version is before the loop or at its end: which of them it is
// depends on how control came to the head. Counters are given more bits, so that the next one is made of
// what the last iteration has extended. The mutant goes to the other one, and is found.
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='function(mem2reg),print<osr-map;maps;function=sum>(default<O1>)' -disable-output %t.ll | FileCheck %s --check-prefix=MAP
// RUN: %cc --midflight-osr-fuzz=mem2reg '--midflight-osr-opt=default<O1>' %level %s -o %t
// RUN: %midflight osr fuzz --seconds 20 -- %t | FileCheck %s
// RUN: %cc '--midflight-osr-fuzz=mem2reg;debug-mutant=way' '--midflight-osr-opt=default<O1>' %level %s -o %t.way
// RUN: not %midflight osr fuzz --seconds 20 -- %t.way | FileCheck %s --check-prefix=MUTANT
// RUN: llvm-readelf -x midflight_osr_mutant %t.way | FileCheck %s --check-prefix=CHANGES
#include <stdio.h>

// MAP: "headers":{"total":1,"avail":1}
// MAP: "came":{"into":{{[0-9]+}},"from":[{{[0-9]+}}]}
// MAP: "ahead":{"to":{{[0-9]+}},"runs":[
__attribute__((noinline)) int sum(const int *numbers, int count) {
  int sum = 0;
  for (int i = 0; i < count; i++) {
    printf("%d\n", numbers[i]);
    sum += numbers[i];
  }
  return sum;
}

__attribute__((noinline)) int nested(const int *numbers, int count) {
  int odd = 0;
  for (int i = 0; i < count; i++)
    for (int j = 0; j < i; j++) {
      if (numbers[j] & 1)
        continue;
      odd += numbers[i] * j;
      printf("%d %d %d\n", i, j, odd);
    }
  return odd;
}

int main(void) {
  static const int numbers[] = {3, 1, 4, 1, 6, 9, 2, 6};
  printf("%d %d\n", sum(numbers, 8), sum(numbers, 0));
  printf("%d\n", nested(numbers, 8));
  return 0;
}
// CHECK: no mismatch
// MUTANT: mismatch
// CHANGES: 0x{{[0-9a-f]+}} {{[0-9a-f]*[1-9a-f]}}
