// A pointer that was loaded before a local variable's address is captured does not lead to the variable, as GVN
// knows; and an address that GVN translated over a phi is base's, whose index is loaded.
// RUN: clang -O0 -Xclang -disable-O0-optnone -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='function(sroa),print<osr-map;function=later>(gvn)' -disable-output %t.ll | FileCheck %s --check-prefix=LATER
// RUN: %opt -passes='function(sroa),print<osr-map;function=indexed>(gvn)' -disable-output %t.ll | FileCheck %s --check-prefix=INDEXED
// RUN: %cc --midflight-osr-fuzz=sroa --midflight-osr-opt=gvn %level %s -o %t
// RUN: %midflight osr fuzz --seconds 5 -- %t | FileCheck %s
// RUN: %cc --midflight-osr-fuzz=sroa '--midflight-osr-opt=default<O2>' %level %s -o %t
// RUN: %midflight osr fuzz --seconds 5 -- %t | FileCheck %s
#include <stdio.h>

static int seen, *kept;

__attribute__((noinline)) static void see(int n) { seen = seen * 31 + n; }

__attribute__((noinline)) static void keep(int *p) {
  kept = p;
  *p += 5;
}

// LATER: "name":"later"
// LATER-SAME: "opt_to_base":{"total":[[N:[0-9]+]],{{[^}]*}}"avail":[[N]],
// LATER-SAME: "unproved":[]
__attribute__((noinline)) int later(int **from, int n) {
  int *p = *from, local;
  int before = *p;
  local = n;
  int behind = *p;
  if (behind & 1)
    see(before);
  else
    see(n);
  keep(&local);
  return before + behind + local;
}

// The address is captured in a round of the loop before.
__attribute__((noinline)) int rounds(int **from, int n) {
  int sum = 0, local = 3;
  for (int i = 0; i < n; ++i) {
    int *p = i ? kept : *from;
    int before = *p;
    local = i * 7;
    int behind = *p;
    if (behind & 1)
      see(before);
    else
      see(behind);
    keep(&local);
    sum = sum * 3 + before + behind;
  }
  return sum + local;
}

struct rows {
  int count;
  int of[4];
};

// INDEXED: "name":"indexed"
// INDEXED-SAME: "opt_to_base":{"total":[[N:[0-9]+]],{{[^}]*}}"avail":[[N]],
// INDEXED-SAME: "unproved":[]
__attribute__((noinline)) int indexed(struct rows *r, short *count, int mode) {
  int it;
  if (mode) {
    *count = 0;
    it = r->of[0];
  } else {
    it = r->of[*count] + 1;
  }
  int there = r->of[*count];
  if (there > 3)
    see(it);
  else
    see(mode);
  return there * 3 + it;
}

int main(void) {
  int a[4] = {1, 2, 3, 4}, *p = a, sum = 0;
  struct rows r = {2, {3, 9, 4, 1}};
  for (int i = 0; i < 6; ++i) {
    short count = i & 3;
    sum = sum * 7 + later(&p, i) + rounds(&p, i) + indexed(&r, &count, i & 1);
    p = a + (i & 3);
  }
  printf("%d %d\n", sum, seen);
  return 0;
}
// CHECK: no mismatch
