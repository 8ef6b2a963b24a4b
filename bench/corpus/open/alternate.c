/* What speculates wrongly at each round: a callee that is another one each time, with the argument
   callee, and a value that is, with the argument value. */
#include "common.h"

typedef long (*step)(long);

static long triple(long x) { return 3 * x + 1; }

static long flip(long x) { return x ^ x >> 3; }

struct steps {
  step now, then;
};

NOINLINE long callees(struct steps *steps, long rounds) {
  long x = 1;
  for (long i = 0; i < rounds; i++) {
    x = steps->now(x);
    step kept = steps->now;
    steps->now = steps->then;
    steps->then = kept;
  }
  return x;
}

NOINLINE long values(const unsigned char *kinds, long rounds) {
  long x = 1;
  unsigned kind = 0;
  for (long i = 0; i < rounds; i++) {
    switch (kind) {
    case 0:
      x += i;
      break;
    case 1:
      x ^= x << 1;
      break;
    case 2:
      x = x * 5 + 1;
      break;
    default:
      x -= i * kind;
      break;
    }
    kind = kinds[i & 1023];
  }
  return x;
}

int main(int argc, char **argv) {
  long rounds = argument(argc, argv, 2, 300000000), result = 0;
  if (argc > 1 && strcmp(argv[1], "value") == 0) {
    unsigned char kinds[1024];
    for (int i = 0; i < 1024; i++)
      kinds[i] = (i + 1) % 4;
    unsigned char *hidden = kinds;
    TWICE(HIDDEN(hidden); result += values(hidden, rounds));
  } else {
    struct steps steps = {triple, flip};
    TWICE(result += callees(&steps, rounds));
  }
  printf("%ld\n", result);
  return 0;
}
