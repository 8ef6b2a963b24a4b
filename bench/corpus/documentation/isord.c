/* The example of docs/osr-open.md (thesis Fig. 4.2): whether an array is in order. */
#include <stdio.h>

int isord(const long *v, long n, int (*c)(const void *, const void *)) {
  for (long i = 1; i < n; i++)
    if (c(v + i - 1, v + i) > 0)
      return 0;
  return 1;
}

static int by_value(const void *a, const void *b) {
  long x = *(const long *)a, y = *(const long *)b;
  return (x > y) - (x < y);
}

int main(void) {
  static long numbers[100000];
  for (long i = 0; i < 100000; i++)
    numbers[i] = i / 3;
  int ordered = 0;
  for (int round = 0; round < 1000; round++)
    ordered += isord(numbers, 100000, by_value);
  printf("%d\n", ordered);
  return 0;
}
