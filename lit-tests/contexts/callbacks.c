// What a library that is not instrumented calls back has its context where the library was called, also where the
// callback ends in a call in tail position of such a library.
// RUN: %cc %level --midflight-contexts %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t > %t.out
// RUN: %show --contexts %t %t.mfp | %tree %s @%t.out "elsewhere == 0" "c('main') == 1" \
// RUN:   "c('main', 'plain@plain') == v['plain']" "c('main', 'plain@plain', 'key') == v['plain']" \
// RUN:   "c('main', 'ends@ends') == v['ends']" \
// RUN:   "c('main', 'helped@helped') == v['helped']" "c('main', 'helped@helped', 'help') == v['helped']" \
// RUN:   "c('main', 'nested@nested') == 3" "c('main', 'nested@nested', 'plain@inner') == v['nested']" \
// RUN:   "c('main', 'nested@nested', 'plain@inner', 'key') == v['nested']" "c('main', 'ends@direct') == 1" \
// RUN:   "nodes == 10"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 2000
static char words[N][16];
static const char *sorted[N];
static long count;

__attribute__((noinline)) static int key(const void *p) {
  __asm__ volatile("");
  return **(const char *const *)p;
}

__attribute__((noinline)) static int plain(const void *a, const void *b) {
  count++;
  int x = key(a);
  return x - (*(const char *const *)b)[0];
}

__attribute__((noinline)) static int ends(const void *a, const void *b) {
  count++;
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

__attribute__((noinline)) static int help(const char *a, const char *b) {
  __asm__ volatile("");
  return strcmp(a, b);
}

__attribute__((noinline)) static int helped(const void *a, const void *b) {
  count++;
  return help(*(const char *const *)a, *(const char *const *)b);
}

__attribute__((noinline)) static int nested(const void *a, const void *b) {
  qsort(sorted, N, sizeof *sorted, plain); // @inner
  return *(int *)a - *(int *)b;
}

int main(void) {
  long took[4];
  int three[3] = {3, 1, 2};
  for (int i = 0; i < N; i++) {
    sorted[i] = words[i];
    sprintf(words[i], "%d", i * 7919 % N);
  }
  count = 0;
  qsort(sorted, N, sizeof *sorted, plain); // @plain
  took[0] = count;
  count = 0;
  qsort(sorted, N, sizeof *sorted, ends); // @ends
  took[1] = count;
  count = 0;
  qsort(sorted, N, sizeof *sorted, helped); // @helped
  took[2] = count;
  count = 0;
  qsort(three, 3, sizeof *three, nested); // @nested
  took[3] = count;
  int equal = ends(&sorted[0], &sorted[0]); // @direct
  printf("plain %ld\nends %ld\nhelped %ld\nnested %ld\n", took[0], took[1], took[2], took[3]);
  return equal || three[0] != 1;
}
