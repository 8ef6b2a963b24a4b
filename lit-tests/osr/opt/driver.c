// `midflight cc` with an optimized version of each function: it is entered by itself in a hot loop, and
// with all points fireable it can be fuzzed. Mutants are found.
// RUN: %cc --midflight-osr-opt %level %s -o %t
// RUN: env MIDFLIGHT_OSR_LOG=%t.log %t | FileCheck %s
// RUN: FileCheck %s --check-prefix=LOG <%t.log
// Semicolons within a pass are the pass's.
// RUN: %cc '--midflight-osr-opt=simplifycfg<hoist-common-insts;sink-common-insts>,sink' %level %s -o %t.nested
// RUN: %t.nested | FileCheck %s
// RUN: %cc --midflight-osr-fuzz=mem2reg --midflight-osr-opt='early-cse,loop-simplify,lcssa,loop-mssa(licm)' %level %s -o %t.fuzz
// RUN: %midflight osr fuzz --seconds 20 -- %t.fuzz | FileCheck %s --check-prefix=FUZZ
// RUN: %cc '--midflight-osr-fuzz=mem2reg;debug-mutant=landing' --midflight-osr-opt=early-cse %level %s -o %t.landing
// RUN: not %midflight osr fuzz --seconds 20 -- %t.landing | FileCheck %s --check-prefix=MUTANT
// RUN: %cc '--midflight-osr-fuzz=mem2reg;debug-mutant=keep' --midflight-osr-opt=early-cse %level %s -o %t.keep
// RUN: not %midflight osr fuzz --seconds 20 -- %t.keep | FileCheck %s --check-prefix=MUTANT
// RUN: not %cc --midflight-osr-opt=nonsense %level -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=PIPELINE
#include <stdio.h>

static unsigned seen;

__attribute__((noinline)) static void use(unsigned value) { seen = seen * 31 + value; }

// Base has no use for `first` behind the call; the optimized version prints it.
__attribute__((noinline)) static unsigned again(unsigned *place, unsigned other) {
  unsigned first = *place, next = first + 1;
  *place = other;
  use(next);
  unsigned same = next - 1;
  use(same);
  return same * 3;
}

__attribute__((noinline)) static unsigned many(unsigned n) {
  unsigned sum = 0;
  for (unsigned i = 0; i < n; i++) {
    sum += i ^ (n * n);
    use(sum);
  }
  return sum;
}

int main(void) {
  unsigned place = 8;
  printf("%u %u %u\n", again(&place, 5), many(3000), seen);
  return 0;
}

// CHECK: 24 1232409156 3506786159
// LOG: {"event":"transition","point":"many#{{.*}}"from":"many"{{.*}}"to":"many.opt.osr"
// FUZZ: no mismatch
// MUTANT: mismatch
// PIPELINE: error: midflight: osr-opt: 'nonsense' is no pipeline of function passes
