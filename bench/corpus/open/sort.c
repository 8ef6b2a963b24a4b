/* Quicksort with a callback, as qsort has it. */
#include "common.h"

typedef int (*compare)(const void *, const void *);

static int by_value(const void *a, const void *b) {
  long x = *(const long *)a, y = *(const long *)b;
  return x < y ? -1 : x > y;
}

static int by_low_bits(const void *a, const void *b) {
  long x = *(const long *)a & 0xffff, y = *(const long *)b & 0xffff;
  return x < y ? -1 : x > y;
}

static inline void swap(long *a, long *b) {
  long kept = *a;
  *a = *b;
  *b = kept;
}

NOINLINE void quicksort(long *v, long n, compare c) {
  if (IS_HAND)
    c = by_value;
  while (n > 12) {
    long *middle = v + n / 2, *last = v + n - 1;
    if (c(middle, v) < 0)
      swap(middle, v);
    if (c(last, v) < 0)
      swap(last, v);
    if (c(last, middle) < 0)
      swap(last, middle);
    long pivot = *middle, *low = v, *high = last;
    while (low <= high) {
      while (c(low, &pivot) < 0)
        low++;
      while (c(&pivot, high) < 0)
        high--;
      if (low <= high)
        swap(low++, high--);
    }
    quicksort(v, high - v + 1, c);
    n -= low - v;
    v = low;
  }
  for (long i = 1; i < n; i++)
    for (long j = i; j > 0 && c(v + j, v + j - 1) < 0; j--)
      swap(v + j, v + j - 1);
}

static void fill(long *v, long n, uint64_t seed) {
  for (long i = 0; i < n; i++)
    v[i] = (long)next_random(&seed) - (1L << 39);
}

static uint64_t checksum(const long *v, long n) {
  uint64_t sum = 0;
  for (long i = 0; i < n; i++)
    sum = sum * 31 + (uint64_t)v[i];
  return sum;
}

int main(int argc, char **argv) {
  long n = argument(argc, argv, 1, 10000000);
  long *v = malloc(n * sizeof *v);
  compare c = by_value;
  HIDDEN(c);
  fill(v, n, 1);
  TIMED("first", quicksort(v, n, c));
  printf("%llx\n", (unsigned long long)checksum(v, n));
  fill(v, n, 2);
  TIMED("second", quicksort(v, n, c));
  printf("%llx\n", (unsigned long long)checksum(v, n));
  if (!IS_HAND) {
    quicksort(v, n / 100, by_low_bits);
    long sorted = 1;
    while (sorted < n / 100 && by_low_bits(v + sorted - 1, v + sorted) <= 0)
      sorted++;
    printf("%ld\n", sorted);
  } else
    printf("%ld\n", n / 100 > 1 ? n / 100 : 1);
  return 0;
}
