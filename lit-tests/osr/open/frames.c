// Where the version has made an alloca of its own, or its result goes through memory, its frame
// stays when a guard fails.
// RUN: clang %level %s -o %t.plain
// RUN: %clang %level %s -o %t %osr='osr-point;where=loop-header;when=count:10;to=open:inline-callee;stage=early;verify' %runtime
// RUN: %open %t.plain %t %jit never now background always every:2 every:3 'at:*:1' 'at:*:30'
#include <stdio.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))
typedef long (*step)(char *, int);
typedef int wide __attribute__((vector_size(64)));

static long fill(char *p, int n) {
  memset(p, n & 127, 32);
  return p[5] + n;
}

static long add(char *p, int n) {
  for (int i = 0; i < 32; i++)
    p[i] = (char)(i + n);
  return p[31] - n;
}

struct ops {
  step f;
  int rounds;
};

/* The alloca is made in each round, and those of former rounds are used. */
NOINLINE long chained(struct ops *ops, int n) {
  char *last = NULL;
  long sum = 0;
  for (int i = 0; i < n; i++) {
    char **p = __builtin_alloca(64);
    *p = last;
    last = (char *)p;
    sum = sum * 3 + ops->f((char *)(p + 1), i);
    if (i == ops->rounds)
      ops->f = ops->f == fill ? add : fill;
  }
  for (char *p = last; p; p = *(char **)p)
    for (int i = 0; i < 32; i++)
      sum = sum * 5 + ((char *)(p + sizeof(char *)))[i];
  return sum;
}

NOINLINE wide large(struct ops *ops, int n) {
  wide sum = {1, 2, 3};
  char buffer[32];
  for (int i = 0; i < n; i++) {
    sum = sum * 3 + (int)ops->f(buffer, i);
    sum[i & 15] ^= buffer[i & 31];
    if (i == ops->rounds)
      ops->f = ops->f == fill ? add : fill;
  }
  return sum;
}

int main(void) {
  for (int round = 0; round < 60; round++) {
    struct ops ops = {round & 1 ? fill : add, round};
    printf("%ld ", chained(&ops, 50));
    wide w = large(&ops, 60);
    for (int i = 0; i < 16; i++)
      printf("%d ", w[i]);
    putchar('\n');
  }
}
