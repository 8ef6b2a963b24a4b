/* How far are strings of bits apart? A loop that a processor of today has better instructions for
   than those that a program for all processors is compiled to. */
#include "common.h"

NOINLINE long distance(const uint64_t *a, const uint64_t *b, long n, long rounds) {
  long sum = 0;
  for (long round = 0; round < rounds; round++)
    for (long i = 0; i < n; i++)
      sum += __builtin_popcountll(a[i] ^ (b[i] + (uint64_t)round));
  return sum;
}

int main(int argc, char **argv) {
  long n = 2048, rounds = argument(argc, argv, 1, 200000);
  uint64_t *v = malloc(2 * n * sizeof *v), state = 9;
  for (long i = 0; i < 2 * n; i++)
    v[i] = next_random(&state) * 0x9e3779b97f4a7c15u;
  long sum = 0;
  TWICE(HIDDEN(v); sum += distance(v, v + n, n, rounds));
  printf("%ld\n", sum);
  return 0;
}
