// A program's own memset: a continuation of it has another name, by which LLVM would no longer know
// that its loop must not become a call of memset.
// RUN: %clang -O2 %s -o %t %osr='osr-point;where=entry;when=always;verify' %runtime
// RUN: %t | FileCheck %s
// CHECK: {{^x+$}}
#include <stddef.h>
#include <stdio.h>

__attribute__((noinline)) void *memset(void *to, int byte, size_t count) {
  unsigned char *next = to;
  while (count--)
    *next++ = byte;
  return to;
}

int main(void) {
  static char text[100];
  memset(text, 'x', sizeof text - 1);
  puts(text);
  return 0;
}
