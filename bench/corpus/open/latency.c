/* Fires: with the argument first, how long the first one takes, by a function that does little;
   with fires, a function that is entered again and again, and fires each time. Calls of a variadic
   function never begin in a version. */
#include "common.h"

NOINLINE long little(long n, int kind) {
  long sum = 0;
  for (long i = 0; i < n; i++)
    sum = (sum ^ i) + kind;
  return sum;
}

NOINLINE long fires(long x, int kind, ...) { return x + kind; }

NOINLINE long begins(long x, int kind) { return x + kind; }

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "first";
  long rounds = argument(argc, argv, 2, 200000000), sum = 0;
  if (strcmp(what, "first") == 0) {
    TIMED("first", sum += little(1000, 3));
    TIMED("second", sum += little(1000, 3));
  } else if (strcmp(what, "fires") == 0) {
    sum = fires(sum, 3);
    TWICE(for (long i = 0; i < rounds; i++) sum = fires(sum, 3));
  } else {
    sum = begins(sum, 3);
    TWICE(for (long i = 0; i < rounds; i++) sum = begins(sum, 3));
  }
  printf("%ld\n", sum);
  return 0;
}
