// Interprocedural passes see continuations that call each other with constants by musttail. LLVM 19's
// function specialization concluded from one of them what all return.
// RUN: clang %level %s -o %t.plain
// RUN: %clang %level %s -o %t %osr='osr-fuzz;form=single;max-points=20;verify' %runtime
// RUN: %fire %t.plain %t always every:2 'at:f#*'
// RUN: %clang %level %s -o %t.multi %osr='osr-fuzz;verify' %runtime
// RUN: %fire %t.plain %t.multi always every:2 'at:f#*'
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) void *get(unsigned long size) { return malloc(size); }

void *f(unsigned long size) { return size ? get(size) : 0; }

int main(void) {
  printf("%d %d\n", f(5) != 0, f(0) != 0);
  return 0;
}
