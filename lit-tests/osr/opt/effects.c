// Calls of the C library that passes replace by cheaper ones, and copies that become stores, run together:
// points behind them lead over, and all prints what it prints without.
// RUN: %clang -O0 -Xclang -disable-O0-optnone -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='function(mem2reg),print<osr-map>(instcombine<no-verify-fixpoint>)' -disable-output %t.ll | FileCheck %s --check-prefix=MAP
// RUN: %cc --midflight-osr-fuzz=mem2reg '--midflight-osr-opt=instcombine<no-verify-fixpoint>' %level %s -o %t
// RUN: %midflight osr fuzz --seconds 20 -- %t | FileCheck %s
#include <stdio.h>
#include <string.h>

// MAP: "name":"lines"
// MAP-SAME: "base_to_opt":{"total":[[N:[0-9]+]],{{[^}]*}}"avail":[[N]],
// MAP-SAME: "opt_to_base":{"total":[[M:[0-9]+]],{{[^}]*}}"avail":[[M]],
// MAP-SAME: "unproved":[]
__attribute__((noinline)) void lines(const char *text, int c) {
  printf("a line\n");
  printf("x");
  printf("\n");
  printf("%s\n", text);
  printf("%c", c);
}

// MAP: "name":"streams"
// MAP-SAME: "base_to_opt":{"total":[[N:[0-9]+]],{{[^}]*}}"avail":[[N]],
// MAP-SAME: "opt_to_base":{"total":[[M:[0-9]+]],{{[^}]*}}"avail":[[M]],
// MAP-SAME: "unproved":[]
__attribute__((noinline)) void streams(FILE *to, const char *text, int c) {
  fprintf(to, "some text\n");
  fprintf(to, "%s", text);
  fprintf(to, "%c", c);
  fputs("more\n", to);
  fputs("!", to);
}

struct pair {
  short a, b;
};

// MAP: "name":"copies"
// MAP-SAME: "base_to_opt":{"total":[[N:[0-9]+]],{{[^}]*}}"avail":[[N]],
// MAP-SAME: "opt_to_base":{"total":[[M:[0-9]+]],{{[^}]*}}"avail":[[M]],
// MAP-SAME: "unproved":[]
__attribute__((noinline)) void copies(char *to, char *other, const char *from, struct pair *pair) {
  static const struct pair known = {3, 500};
  strcpy(to, "eleven more");
  sprintf(other, "abc");
  sprintf(other + 4, "%s", from);
  *pair = known;
  memset(pair + 1, 0, sizeof *pair);
}

// CHECK: no mismatch
int main(void) {
  char to[40], other[40];
  struct pair pairs[2];
  for (int i = 0; i < 3; ++i) {
    lines("text", 'c' + i);
    streams(stdout, "and", 'd' + i);
    copies(to, other, "rest", pairs);
    printf("%s %s %s %d %d %d\n", to, other, other + 4, pairs[0].a, pairs[0].b, pairs[1].a);
  }
  return 0;
}
