// A comparator that is an argument, and one that is loaded in the loop and changes: versions with
// it inlined, guards that fail, and exits. Statics, constant tables, thread-local variables and
// functions of libc are those of the program.
// RUN: clang %level %s -o %t.plain
// RUN: %clang %level %s -o %t %osr='osr-point;where=loop-header;when=count:50;to=open:inline-callee;verify' %runtime
// RUN: %open %t.plain %t %jit never now background always every:2 every:3 every:50 'at:*:1' 'at:*:2' 'at:*:100'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))
typedef int (*compare)(const void *, const void *);

static long comparisons;
static _Thread_local long in_thread = 5;
static const int table[] = {3, 1, 4, 1, 5, 9, 2, 6};
static const char *const names[] = {"up", "down", "bits"};

static int up(const void *a, const void *b) {
  int x = *(const int *)a, y = *(const int *)b;
  comparisons++;
  return x < y ? -1 : x > y;
}

static int down(const void *a, const void *b) {
  in_thread += table[comparisons & 7];
  return -up(a, b);
}

static int bits(const void *a, const void *b) {
  comparisons += strlen(names[comparisons % 3]);
  return __builtin_popcount(*(const int *)a) - __builtin_popcount(*(const int *)b);
}

NOINLINE int ordered(const int *v, int n, compare c) {
  for (int i = 1; i < n; i++)
    if (c(v + i - 1, v + i) > 0)
      return i;
  return n;
}

struct ops {
  compare c;
  int seen;
};

/* The callee is loaded each time. */
NOINLINE long mixed(struct ops *ops, const int *v, int n, int change) {
  long sum = 0;
  for (int i = 1; i < n; i++) {
    sum = sum * 3 + ops->c(v + i - 1, v + i) + table[i & 7];
    ops->seen++;
    if (i == change)
      ops->c = down;
    if (i == change + 20)
      ops->c = bits;
  }
  return sum;
}

/* Nested loops, and values that live across both. */
NOINLINE long nested(int rounds, const int *v, int n, compare c) {
  long result = 1;
  for (int r = 0; r < rounds; r++) {
    long inner = r;
    for (int i = 1; i < n; i++)
      inner += c(v + i, v + (i * 7 + r) % n) * (i ^ r);
    result = result * 31 + inner;
  }
  return result;
}

/* Memory in the frame, which the version uses where it is. */
NOINLINE long framed(const int *v, int n, compare c) {
  int best[4] = {0, 0, 0, 0};
  for (int i = 0; i < n; i++) {
    int *place = &best[i & 3];
    if (c(place, v + i) < 0)
      *place = v[i];
  }
  return best[0] + 10L * best[1] + 100L * best[2] + 1000L * best[3];
}

int main(void) {
  enum { N = 3000 };
  int *v = malloc(N * sizeof *v);
  for (int i = 0; i < N; i++)
    v[i] = i;
  compare all[] = {up, down, bits};
  for (int round = 0; round < 40; round++) {
    for (int k = 0; k < 3; k++) {
      printf("%d %s %d\n", round, names[k], ordered(v, N, all[k]));
      printf("%ld\n", nested(4, v, 200 + round, all[(k + round) % 3]));
      printf("%ld\n", framed(v, N, all[k]));
    }
    struct ops ops = {up, 0};
    printf("%ld", mixed(&ops, v, N, round * 50));
    printf(" %d %ld %ld\n", ops.seen, comparisons, in_thread);
  }
  return 0;
}
