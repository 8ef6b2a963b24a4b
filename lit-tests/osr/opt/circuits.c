// A loop that runs while one thing and another one hold tests both at once when it is rotated: the first
// test decides a part of opt's condition, as it is where branches above have said something, too.
// RUN: clang -O0 -Xclang -disable-O0-optnone -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='function(mem2reg,sroa),print<osr-map>(default<O1>)' -disable-output %t.ll | FileCheck %s --check-prefix=MAP
// RUN: %cc --midflight-osr-fuzz=mem2reg '--midflight-osr-opt=default<O1>' %level %s -o %t
// RUN: %midflight osr fuzz --seconds 20 -- %t | FileCheck %s
#include <stdio.h>

struct frame {
  int line;
  struct frame *below;
};

struct stack {
  struct frame *top, first;
};

// MAP: "name":"at_depth"
// MAP-SAME: "unproved":[]
int at_depth(struct stack *of, int depth, int *line) {
  struct frame *frame;
  if (depth < 0)
    return 0;
  for (frame = of->top; depth > 0 && frame != &of->first; frame = frame->below)
    depth--;
  if (depth == 0 && frame != &of->first) {
    *line = frame->line;
    return 1;
  }
  return 0;
}

// CHECK: no mismatch
int main(void) {
  struct frame frames[6];
  struct stack stack = {&frames[5], {-1, 0}};
  for (int i = 0; i < 6; ++i) {
    frames[i].line = 10 * i;
    frames[i].below = i ? &frames[i - 1] : &stack.first;
  }
  for (int depth = -1; depth < 8; ++depth) {
    int line = -1;
    int found = at_depth(&stack, depth, &line);
    printf("%d: %d %d\n", depth, found, line);
  }
  return 0;
}
