/* Is an array in order? The thesis's Fig. 4.2, with the comparator by pointer; the array is gone
   through many times, so that it is the processor that is measured and not the memory. */
#include "common.h"

typedef int (*compare)(const void *, const void *);

static int by_value(const void *a, const void *b) {
  long x = *(const long *)a, y = *(const long *)b;
  return x < y ? -1 : x > y;
}

NOINLINE long isord(const long *v, long n, long rounds, compare c) {
  if (IS_HAND)
    c = by_value;
  for (long round = 0; round < rounds; round++)
    for (long i = 1; i < n; i++)
      if (c(v + i - 1, v + i) > 0)
        return round * n + i;
  return -1;
}

int main(int argc, char **argv) {
  long n = 100000, rounds = argument(argc, argv, 1, 10000);
  long *v = malloc(n * sizeof *v);
  for (long i = 0; i < n; i++)
    v[i] = 3 * i - n;
  compare c = by_value;
  HIDDEN(c);
  long found = 0;
  TWICE(HIDDEN(v); found += isord(v, n, rounds, c));
  v[n / 2] = 1L << 40;
  found += isord(v, n, rounds, c);
  printf("%ld\n", found);
  return 0;
}
