/* As isord.c, and as the thesis has it: a loop that goes through an array once. */
#include "common.h"

typedef int (*compare)(const void *, const void *);

static int by_value(const void *a, const void *b) {
  long x = *(const long *)a, y = *(const long *)b;
  return x < y ? -1 : x > y;
}

NOINLINE long isord(const long *v, long n, compare c) {
  if (IS_HAND)
    c = by_value;
  for (long i = 1; i < n; i++)
    if (c(v + i - 1, v + i) > 0)
      return i;
  return n;
}

int main(int argc, char **argv) {
  long n = argument(argc, argv, 1, 100000000);
  long *v = malloc(n * sizeof *v);
  for (long i = 0; i < n; i++)
    v[i] = 3 * i - n;
  compare c = by_value;
  HIDDEN(c);
  long found = 0;
  TWICE(HIDDEN(v); found += isord(v, n, c));
  v[n / 2] = 1L << 40;
  found += isord(v, n, c);
  printf("%ld\n", found);
  return 0;
}
