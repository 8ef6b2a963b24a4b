// An interpreter jumps to `&code[to - 1]` and goes on behind that, as SQLite's does: LLVM takes the one off
// behind the multiplication, which is the same where `to - 1` does not overflow. It does not, since what the
// jump leads to is read next.
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='function(mem2reg),print<osr-map;function=run>(default<O1>)' -disable-output %t.ll | FileCheck %s --check-prefix=MAP
// RUN: %cc --midflight-osr-fuzz=mem2reg '--midflight-osr-opt=default<O1>' %level %s -o %t
// RUN: %midflight osr fuzz --seconds 20 -- %t | FileCheck %s
// RUN: %cc '--midflight-osr-fuzz=mem2reg;debug-mutant=landing' '--midflight-osr-opt=default<O1>' %level %s -o %t.landing
// RUN: not %midflight osr fuzz --seconds 20 -- %t.landing | FileCheck %s --check-prefix=MUTANT
// RUN: llvm-readelf -x midflight_osr_mutant %t.landing | FileCheck %s --check-prefix=CHANGES
#include <stdio.h>

struct op {
  char what;
  int to;
  int value;
};

__attribute__((noinline)) long run(struct op *code, int steps) {
  long sum = 0;
  for (struct op *op = code;; op++) {
    switch (op->what) {
    case 'j':
      if (steps-- == 0)
        return -sum;
      op = &code[op->to - 1];
      break;
    case 'a':
      sum += op->value;
      printf("%ld\n", sum);
      break;
    case 'n':
      if (sum & 1)
        op = &code[op->to - 1];
      else
        printf("even\n");
      break;
    case 'c':
      code = op;
      break;
    default:
      return sum;
    }
  }
}

int main(void) {
  struct op code[] = {{'a', 0, 3}, {'n', 3, 0}, {'a', 0, 4}, {'a', 0, 5}, {'j', 0, 0}, {'c', 0, 0}, {0, 0, 0}};
  printf("%ld\n", run(code, 5));
  printf("%ld\n", run(code + 5, 5));
  return 0;
}
// MAP: "base_to_opt":{"total":[[ALL:[0-9]+]],{{.*}}"avail":[[ALL]],
// CHECK: no mismatch
// MUTANT: mismatch
// CHANGES: 0x{{[0-9a-f]+}} {{[0-9a-f ]*[1-9a-f]}}
