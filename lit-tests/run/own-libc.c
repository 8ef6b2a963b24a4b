// A program that defines functions of libc's names: its profile and the hits of its points are those of
// its own calls, and nobody else calls them.
// RUN: %cc %level --midflight-k=2 -fno-builtin %s -o %t && %t > %t.native
// RUN: env MIDFLIGHT_PROFILE=%t.mfp %t 2>&1 | diff %t.native -
// RUN: %midflight check %t %t.mfp
// RUN: %show %t %t.mfp | %expect "f('memcpy')['entries'] == 1000" "f('memset')['entries'] == 500" "f('strlen')['entries'] == 500" "f('link')['entries'] == 3" "completed('memcpy') == 1000"
// In a memory that is full, where much is moved.
// RUN: env MIDFLIGHT_THREAD_MEMORY=1 MIDFLIGHT_PROFILE=%t.mfp %t 2>&1 | diff %t.native -
// RUN: %midflight check %t %t.mfp
// RUN: %show %t %t.mfp | %expect "f('memcpy')['entries'] == 1000" "f('memset')['entries'] == 500"
// RUN: %cc %level -fno-builtin --midflight-osr-fuzz %s -o %t.osr
// RUN: env MIDFLIGHT_OSR_FIRE=list MIDFLIGHT_OSR_LOG=%t.log %t.osr | diff %t.native -
// RUN: python3 %S/Inputs/hits.py %t.log memcpy 1000 memset 500 link 3
// RUN: env MIDFLIGHT_OSR_FIRE=always MIDFLIGHT_OSR_LOG=%t.log %t.osr | diff %t.native -
// RUN: python3 %S/Inputs/hits.py %t.log memcpy 1000 memset 500 link 3
#include <stddef.h>
#include <stdio.h>

void *memcpy(void *restrict to, const void *restrict from, size_t size) {
  char *a = to;
  const char *b = from;
  for (size_t i = 0; i < size; i++)
    a[i] = b[i];
  return to;
}

void *memset(void *to, int byte, size_t size) {
  char *a = to;
  for (size_t i = 0; i < size; i++)
    a[i] = (char)byte;
  return to;
}

size_t strlen(const char *text) {
  size_t size = 0;
  while (text[size])
    size++;
  return size;
}

/* ISO C leaves these names to the program. */
__attribute__((noinline)) int link(int a, int b) { return a * 2 + b; }
__attribute__((noinline)) int open(int a) { return a + 1; }
__attribute__((noinline)) int close(int a) { return a - 1; }
__attribute__((noinline)) int rename(const char *a, const char *b) { return *a + *b; }
__attribute__((noinline)) long read(int a) { return a; }

int main(void) {
  static char from[100], to[100];
  long sum = 0;
  for (int i = 0; i < 500; i++) {
    memset(from, 1 + i % 100, 99);
    memcpy(to, from, 100);
    memcpy(from, to, i % 7);
    sum += (long)strlen(to) + to[i % 100];
  }
  for (int i = 0; i < 3; i++)
    sum += link(i, 1) + open(2) + close(3) + rename("a", "b") + read(5);
  printf("%ld\n", sum);
  return 0;
}
