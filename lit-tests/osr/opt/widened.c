// Loop counters that a pass gives more bits: those that base extends are well defined wherever that
// is of use, though they step without wrapping only by their flags.
// RUN: %clang -O0 -Xclang -disable-O0-optnone -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='function(mem2reg),print<osr-map>(loop-simplify,lcssa,loop(indvars))' \
// RUN:   -disable-output %t.ll \
// RUN:   | FileCheck %s --check-prefix=MAP
// RUN: %cc --midflight-osr-fuzz=mem2reg '--midflight-osr-opt=loop-simplify,lcssa,loop(indvars)' \
// RUN:   %level %s -o %t
// RUN: %midflight osr fuzz --seconds 20 -- %t | FileCheck %s
#include <stdio.h>

// MAP: "name":"until_zero"
// MAP-SAME: "opt_to_base":{"total":[[M:[0-9]+]],{{[^}]*}}"avail":[[M]],
// MAP-SAME: "unproved":[]
__attribute__((noinline)) void until_zero(const char *text) {
  for (int i = 0; text[i]; ++i)
    putchar(text[i] ^ 1);
}

// MAP: "name":"up_to"
// MAP-SAME: "unproved":[]
__attribute__((noinline)) int up_to(const int *numbers, int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) {
    printf("%d\n", numbers[i]);
    sum += numbers[i];
  }
  return sum;
}

// CHECK: no mismatch
int main(void) {
  static const int numbers[] = {3, 1, 4, 1, 5, 9, 2, 6};
  until_zero("some text");
  for (int count = -1; count <= 8; ++count)
    printf("%d\n", up_to(numbers, count));
  return 0;
}
