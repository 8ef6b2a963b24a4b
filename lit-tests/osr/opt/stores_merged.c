// A store and another one behind a branch, or one on each way of it, become one store of what is chosen, or of what LLVM
// makes of that. The branch is gone; base has stored once or twice, opt has yet to.
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='function(mem2reg),print<osr-map;function=bounded>(default<O1>)' -disable-output %t.ll | FileCheck %s --check-prefix=MAP
// RUN: %opt -passes='function(mem2reg),print<osr-map;function=marked>(default<O1>)' -disable-output %t.ll | FileCheck %s --check-prefix=MAP
// RUN: %cc --midflight-osr-fuzz=mem2reg '--midflight-osr-opt=default<O1>' %level %s -o %t
// RUN: %midflight osr fuzz --seconds 20 -- %t | FileCheck %s
// RUN: %cc '--midflight-osr-fuzz=mem2reg;debug-mutant=store' '--midflight-osr-opt=default<O1>' %level %s -o %t.store
// RUN: not %midflight osr fuzz --seconds 20 -- %t.store | FileCheck %s --check-prefix=MUTANT
// RUN: llvm-readelf -x midflight_osr_mutant %t.store | FileCheck %s --check-prefix=CHANGES
#include <stdio.h>

struct state {
  int at, most;
  unsigned marks;
};

__attribute__((noinline)) void see(struct state *s) { printf("%d %d %x\n", s->at, s->most, s->marks); }

// The smaller one of two, in memory; and ways that store other things.
__attribute__((noinline)) void bounded(struct state *s, int count) {
  for (int i = 0; i < count; i++) {
    s->at = i;
    if (s->at > s->most)
      s->at = s->most;
    see(s);
    if (i & 1)
      s->most = i;
    else
      s->most = 3;
    see(s);
  }
}

// Bits that are set or cleared, and what is left as it was.
__attribute__((noinline)) void marked(struct state *s, int count, int which) {
  for (int i = 0; i < count; i++) {
    if (i & which)
      s->marks |= 0x100;
    else
      s->marks &= ~0x100u;
    see(s);
    s->marks += 1;
    if (which > i)
      s->marks += 2;
    see(s);
  }
}

int main(void) {
  struct state s = {0, 5, 7};
  bounded(&s, 9);
  marked(&s, 6, 2);
  return 0;
}
// MAP: "base_to_opt":{"total":[[ALL:[0-9]+]],{{.*}}"avail":[[ALL]],
// CHECK: no mismatch
// MUTANT: mismatch
// CHANGES: 0x{{[0-9a-f]+}} {{[0-9a-f ]*[1-9a-f]}}
