// Switches of values that base compares extended or masked, or in conditions that it extends:
// points behind them lead over, and all prints what it prints without.
// RUN: %clang -O0 -Xclang -disable-O0-optnone -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='function(mem2reg),print<osr-map>(default<O1>)' -disable-output %t.ll \
// RUN:   | FileCheck %s --check-prefix=MAP
// RUN: %cc --midflight-osr-fuzz=mem2reg '--midflight-osr-opt=default<O1>' \
// RUN:   %level %s -o %t
// RUN: %midflight osr fuzz --seconds 20 -- %t | FileCheck %s
#include <stdio.h>

// MAP: "name":"extended"
// MAP-SAME: "unproved":[]
__attribute__((noinline)) void extended(const unsigned char *tag) {
  if (*tag == 69)
    printf("first\n");
  else if (*tag == 71)
    printf("second\n");
  else if (*tag == 200)
    printf("third\n");
  printf("done\n");
}

// MAP: "name":"masked"
// MAP-SAME: "unproved":[]
__attribute__((noinline)) void masked(const unsigned char *tag) {
  if ((*tag & 7) == 5)
    printf("five\n");
  else if ((*tag & 7) == 6)
    printf("six\n");
  printf("done\n");
}

// MAP: "name":"of_conditions"
// MAP-SAME: "unproved":[]
__attribute__((noinline)) void of_conditions(int type) {
  if (!(((type == 0 || type == 5) != 0) != 0))
    printf("an error\n");
  printf("done\n");
}

// CHECK: no mismatch
int main(void) {
  for (int n = 0; n < 256; ++n) {
    unsigned char tag = (unsigned char)n;
    extended(&tag);
    masked(&tag);
    of_conditions(n - 128);
  }
  return 0;
}
