// A loop whose body was copied is not entered: of four copies only the last one asks whether the loop is
// at its end, and only every fourth time round is base where the first copy is. Tracking says that the
// first one is base's body; the mutant, and `unchecked`, believe that, and are found.
// RUN: %cc -S -emit-llvm -O1 -Xclang -disable-llvm-passes %s -o %t.ll
// RUN: %opt -passes='function(mem2reg),print<osr-map;maps;function=steps>(loop-simplify,lcssa,loop-unroll)' -disable-output %t.ll | FileCheck %s --check-prefix=MAP
// RUN: %cc --midflight-osr-fuzz=mem2reg '--midflight-osr-opt=loop-simplify,lcssa,loop-unroll' %level %s -o %t
// RUN: %midflight osr fuzz --seconds 20 -- %t | FileCheck %s
// RUN: %cc '--midflight-osr-fuzz=mem2reg;debug-mutant=copy' '--midflight-osr-opt=loop-simplify,lcssa,loop-unroll' %level %s -o %t.copy
// RUN: not %midflight osr fuzz --seconds 20 -- %t.copy | FileCheck %s --check-prefix=MUTANT
// RUN: llvm-readelf -x midflight_osr_mutant %t.copy | FileCheck %s --check-prefix=CHANGES
// RUN: %cc '--midflight-osr-fuzz=mem2reg;unchecked' '--midflight-osr-opt=loop-simplify,lcssa,loop-unroll' %level %s -o %t.unchecked
// RUN: not %midflight osr fuzz --seconds 20 -- %t.unchecked | FileCheck %s --check-prefix=MUTANT
#include <stdio.h>

static unsigned seen;

__attribute__((noinline)) static void use(unsigned value) { seen = seen * 31 + value; }

__attribute__((noinline)) unsigned steps(unsigned sum) {
#pragma clang loop unroll_count(4)
  for (unsigned i = 0; i < 100; i++) {
    sum += i ^ (sum >> 3);
    use(sum);
  }
  return sum;
}

int main(void) {
  printf("%u %u\n", steps(5), seen);
  return 0;
}
// MAP: "refused":{"base_to_opt":{"Unmatched":11}
// MAP-SAME: "base_to_opt":[{"point":0,"at":0,"landing":0,
// MAP-SAME: {"point":7,"at":9,"refused":"Unmatched"}
// CHECK: no mismatch
// MUTANT: mismatch
// CHANGES: 0x{{[0-9a-f]+}} {{[0-9a-f]*[1-9a-f]}}
