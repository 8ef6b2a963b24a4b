/* Comparators, and a function with an open point that calls them. */
#include "program.h"

static _Thread_local long moves;
static const unsigned char weights[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};

static int up(const void *a, const void *b) {
  int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

static int down(const void *a, const void *b) { return -up(a, b); }

static int last_digit(const void *a, const void *b) {
  int x = *(const int *)a % 10, y = *(const int *)b % 10;
  return x == y ? up(a, b) : x - y;
}

static int weight(int n) {
  int sum = 0;
  for (unsigned u = (unsigned)n; u; u >>= 4)
    sum += weights[u & 15];
  return sum;
}

static int bits(const void *a, const void *b) {
  int x = weight(*(const int *)a), y = weight(*(const int *)b);
  return x == y ? up(a, b) : clamp(x - y, -3, 3);
}

int unused(const void *a, const void *b) { return up(b, a) + bits(a, b); }

int replaceable(int n) { return n * 3 + 1; }

comparator comparators[4] = {up, down, last_digit, bits};

NOINLINE long sort(int *v, int n, comparator compare) {
  moves = 0;
  for (int i = 1; i < n; i++) {
    int x = v[i], j = i;
    for (; j > 0 && compare(v + j - 1, &x) > 0; j--) {
      v[j] = v[j - 1];
      moves++;
    }
    v[j] = x;
  }
  return moves;
}
