// Stores of zeros become one that fills what they cover, or fewer and one behind these. Points before the
// first one lead to before that; those between lead to opt, which does all of them again; opt leads to
// before the first one until it has done one itself.
// RUN: clang -O0 -Xclang -disable-O0-optnone -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='function(mem2reg,sroa),print<osr-map>(memcpyopt)' -disable-output %t.ll | FileCheck %s --check-prefix=MAP
// RUN: %opt -passes='function(mem2reg,sroa),print<osr-map;function=spread>(memcpyopt)' -disable-output %t.ll | FileCheck %s --check-prefix=SPREAD
// RUN: %opt -passes='function(mem2reg,sroa),print<osr-map;function=rows>(early-cse,memcpyopt)' -disable-output %t.ll | FileCheck %s --check-prefix=ROWS
// RUN: %cc --midflight-osr-fuzz=mem2reg '--midflight-osr-opt=memcpyopt' %level %s -o %t
// RUN: %midflight osr fuzz --seconds 20 -- %t | FileCheck %s
// RUN: %cc --midflight-osr-fuzz=mem2reg '--midflight-osr-opt=early-cse,memcpyopt' %level %s -o %t
// RUN: %midflight osr fuzz --seconds 20 -- %t | FileCheck %s
#include <stdio.h>

struct counters {
  int first, second, third, fourth;
  long fifth;
  void *sixth;
};

// MAP: "name":"reset"
// MAP-SAME: "base_to_opt":{"total":[[N:[0-9]+]],{{[^}]*}}"avail":[[N]],
// MAP-SAME: "opt_to_base":{"total":[[M:[0-9]+]],{{[^}]*}}"avail":[[M]],
// MAP-SAME: "unproved":[]
__attribute__((noinline)) int reset(struct counters *c, int by) {
  c->fifth = by;
  c->second = 0;
  c->first = 0;
  c->fourth = 0;
  c->third = 0;
  return c->first + (int)c->fifth;
}

// MAP: "name":"apart"
// MAP-SAME: "base_to_opt":{"total":[[N:[0-9]+]],{{[^}]*}}"avail":[[N]],
// MAP-SAME: "opt_to_base":{"NoLanding":2}
// MAP-SAME: "unproved":[]
__attribute__((noinline)) void apart(struct counters *c, struct counters *d) {
  c->first = 0;
  c->second = 0;
  c->third = 0;
  c->fourth = 0;
  c->sixth = 0;
  c->fifth = 1;
  d->first = 0;
}

// The byte is one that both compute.
// SPREAD: "name":"spread"
// SPREAD-SAME: "base_to_opt":{"total":[[N:[0-9]+]],{{[^}]*}}"avail":[[N]],
// SPREAD-SAME: "unproved":[]
__attribute__((noinline)) void spread(char *cache, int mode) {
  char byte = (char)(mode * 3 - 1);
  cache[7] = byte;
  cache[6] = byte;
  cache[5] = byte;
  cache[4] = byte;
}

// How far apart rows are is an operation on constants in base.
// ROWS: "name":"rows"
// ROWS-SAME: "base_to_opt":{"total":[[N:[0-9]+]],{{[^}]*}}"avail":[[N]],
// ROWS-SAME: "unproved":[]
__attribute__((noinline)) void rows(char *pixels, int width) {
  int columns = 2;
  int stride = columns * 4;
  *(int *)pixels = 0;
  *(int *)(pixels + 4) = 0;
  *(int *)(pixels + stride) = 0;
  *(int *)(pixels + 4 + stride) = 0;
  *(int *)(pixels + width) = width;
}

// CHECK: no mismatch
int main(void) {
  struct counters c = {1, 2, 3, 4, 5, &c}, d = {9, 9, 9, 9, 9, &c};
  for (int i = 0; i < 3; ++i) {
    printf("%d\n", reset(&c, i));
    apart(&d, &c);
    printf("%d %d %d %d %ld %d\n", c.first, c.second, c.third, c.fourth, c.fifth, c.sixth == &c);
    printf("%d %d %d %d %ld %d\n", d.first, d.second, d.third, d.fourth, d.fifth, d.sixth == 0);
    c.second = c.third = i;
    d.fourth = i;
    char pixels[32] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    rows(pixels, 16 + 4 * i);
    spread(pixels + i, i);
    for (int at = 0; at < 32; ++at)
      printf("%d ", pixels[at]);
    printf("\n");
  }
  return 0;
}
