// A program's own memset and memcpy: versions of them have other names, by which LLVM would no longer
// know that their loops must not become calls of memset and memcpy.
// RUN: %clang -O2 %s -o %t %osr='osr-point;where=entry;when=always;verify' %runtime
// RUN: timeout 60 %t | FileCheck %s
// RUN: %clang -O2 %s -o %t %osr='osr-opt;passes=default<O1>;up-at=entry;up=always;verify' %runtime
// RUN: timeout 60 %t | FileCheck %s
// RUN: %clang -O0 %s -o %t %osr='osr-opt;fuzz;passes=default<O2>;verify' %runtime
// RUN: env MIDFLIGHT_OSR_FIRE=always timeout 60 %t | FileCheck %s
// RUN: env MIDFLIGHT_OSR_FIRE=every:3 timeout 60 %t | FileCheck %s
// CHECK: {{^x+$}}
#include <stddef.h>
#include <stdio.h>

__attribute__((noinline)) void *memset(void *to, int byte, size_t count) {
  unsigned char *next = to;
  while (count--)
    *next++ = byte;
  return to;
}

__attribute__((noinline)) void *memcpy(void *restrict to, const void *restrict from, size_t count) {
  unsigned char *next = to;
  const unsigned char *source = from;
  while (count--)
    *next++ = *source++;
  return to;
}

int main(void) {
  static char text[100], copy[100];
  memset(text, 'x', sizeof text - 1);
  memcpy(copy, text, sizeof copy);
  puts(copy);
  return 0;
}
