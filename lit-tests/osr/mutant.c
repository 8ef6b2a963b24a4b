// The check of the other tests can fail: a continuation that takes two of its values for each other
// computes something else.
// RUN: clang %level %s -o %t.plain
// RUN: %clang %level %s -o %t %osr='osr-fuzz;debug-swap' %runtime
// RUN: %fire %t.plain %t '!always' '!at:f#*:3'
#include <stdio.h>

static __attribute__((noinline)) int f(int a, int b) {
  for (int i = 0; i < 5; i++)
    a = a * 3 - b;
  return a;
}

int main(void) {
  printf("%d\n", f(3, 5));
  return 0;
}
