/* As isord.c, but the comparator is loaded at each round, and changes while the loop runs. */
#include "common.h"

typedef int (*compare)(const void *, const void *);

struct order {
  compare c;
  long changes;
};

static int by_value(const void *a, const void *b) {
  long x = *(const long *)a, y = *(const long *)b;
  return x < y ? -1 : x > y;
}

static int by_half(const void *a, const void *b) {
  long x = *(const long *)a / 2, y = *(const long *)b / 2;
  return x < y ? -1 : x > y;
}

static int by_last_digit(const void *a, const void *b) {
  long x = *(const long *)a % 10, y = *(const long *)b % 10;
  return x < y ? -1 : x > y;
}

static const compare all[] = {by_value, by_half, by_last_digit};

/* How many are in order, where the order is another one after so many rounds. */
NOINLINE long ordered(struct order *order, const long *v, long n, long rounds, long period) {
  long found = 0;
  for (long round = 0; round < rounds; round++) {
    if (round % period == 0)
      order->c = all[order->changes++ % 3];
    for (long i = 1; i < n; i++) {
      if (IS_HAND) {
        switch ((order->changes + 2) % 3) {
        case 0:
          found += by_value(v + i - 1, v + i) <= 0;
          break;
        case 1:
          found += by_half(v + i - 1, v + i) <= 0;
          break;
        default:
          found += by_last_digit(v + i - 1, v + i) <= 0;
          break;
        }
      } else
        found += order->c(v + i - 1, v + i) <= 0;
    }
  }
  return found;
}

int main(int argc, char **argv) {
  long n = 10000, rounds = argument(argc, argv, 1, 30000);
  long *v = malloc(n * sizeof *v);
  for (long i = 0; i < n; i++)
    v[i] = 3 * i - n;
  struct order order = {by_value, 0};
  long period = rounds < 20 ? 1 : rounds / 20, found = 0;
  TWICE(HIDDEN(v); found = found * 7 + ordered(&order, v, n, rounds, period));
  printf("%ld %ld\n", found, order.changes);
  return 0;
}
