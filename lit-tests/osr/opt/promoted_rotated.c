// A loop is rotated, so that its header was copied, and then a place is kept in a register while it
// runs: what opt owes to memory is known for each copy. The mutant that leaves out the store is found.
// RUN: %cc -S -emit-llvm -O1 -Xclang -disable-llvm-passes %s -o %t.ll
// RUN: %opt -passes='function(mem2reg),print<osr-map;maps;function=sum>(loop-simplify,loop-mssa(loop-rotate,licm))' -disable-output %t.ll | FileCheck %s --check-prefix=MAP
// RUN: %cc --midflight-osr-fuzz=mem2reg '--midflight-osr-opt=loop-simplify,loop-mssa(loop-rotate,licm)' %level %s -o %t
// RUN: %midflight osr fuzz --seconds 20 -- %t | FileCheck %s
// RUN: %cc '--midflight-osr-fuzz=mem2reg;debug-mutant=store' '--midflight-osr-opt=loop-simplify,loop-mssa(loop-rotate,licm)' %level %s -o %t.store
// RUN: not %midflight osr fuzz --seconds 20 -- %t.store | FileCheck %s --check-prefix=MUTANT
#include <stdio.h>

__attribute__((noinline)) static int sum(int *restrict place, const int *restrict of, int n) {
  int total = 0;
  for (int i = 0; i < n; i++) {
    *place = *place * 3 + of[i];
    if (*place & 1)
      total += *place;
  }
  return total;
}

int main(void) {
  int place = 7, of[30];
  unsigned total = 0;
  for (int n = 0; n < 30; n++) {
    of[n] = n;
    total = total * 5 + (unsigned)sum(&place, of, n);
  }
  printf("%u %d\n", total, place);
  return 0;
}
// MAP: "stores":
// CHECK: no mismatch
// MUTANT: 1 mismatch
