// Switches of values that base compares extended or masked, or in conditions that it extends:
// points behind them lead over, and all prints what it prints without.
// RUN: clang -O0 -Xclang -disable-O0-optnone -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='function(mem2reg),print<osr-map>(default<O1>)' -disable-output %t.ll \
// RUN:   | FileCheck %s --check-prefix=MAP
// RUN: %cc --midflight-osr-fuzz=mem2reg '--midflight-osr-opt=default<O1>' \
// RUN:   %level %s -o %t
// RUN: %midflight osr fuzz --seconds 20 -- %t | FileCheck %s
#include <stdio.h>
#include <stdlib.h>

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

// MAP: "name":"narrowed"
// MAP-SAME: "unproved":[]
__attribute__((noinline)) void narrowed(const unsigned char *tags, int count) {
  for (int n = 0; n < count; ++n)
    switch (tags[n]) {
    case 3:
      break;
    case 200:
      printf("large\n");
      break;
    case 7:
    case 9:
      printf("odd\n");
    }
  printf("done\n");
}

// MAP: "name":"stored"
// MAP-SAME: "unproved":[]
__attribute__((noinline)) void stored(int *place, int count) {
  for (int n = 0; n < count; ++n)
    if (getenv("PATH")) {
      if (n & 4)
        *place = 8;
      else
        *place = 11;
      printf("%d\n", *place);
    }
}

__attribute__((noinline)) int decided(unsigned short flags, unsigned length, int count) {
  int result = 0;
  for (int n = 0; n < count; ++n) {
    unsigned char both;
    if (((both = flags & 0xC0) != 0 &&
         (both == 128 || (length >= 12 && ((length & 1) == 0 || both == 0xC0)))) ||
        printf("asked\n") == 0)
      result += printf("%d\n", n);
    else
      result += printf("other\n");
  }
  return result;
}

// MAP: "name":"in_steps"
// MAP-SAME: "unproved":[]
__attribute__((noinline)) void in_steps(int op, const int *flags, int count, int *place) {
  if (printf("start\n") == 0)
    return;
  if (op == 26) {
    int at = 0;
    while (at < count && flags[at])
      ++at;
    if (at < count)
      return;
  }
  if (op == 25)
    *place = 3;
  printf("none\n");
}

// CHECK: no mismatch
int main(void) {
  for (int n = 0; n < 256; ++n) {
    unsigned char tag = (unsigned char)n;
    extended(&tag);
    masked(&tag);
    of_conditions(n - 128);
  }
  narrowed((const unsigned char[]){1, 3, 200, 7, 9, 255, 72}, 7);
  int place = 0;
  for (int op = 24; op < 28; ++op)
    for (int count = 0; count < 4; ++count)
      in_steps(op, (const int[]){1, 1, 0}, count, &place);
  stored(&place, 12);
  for (unsigned flags = 0; flags < 256; flags += 64)
    for (unsigned length = 10; length < 16; ++length)
      printf("%d\n", decided((unsigned short)flags, length, 2));
  return 0;
}
