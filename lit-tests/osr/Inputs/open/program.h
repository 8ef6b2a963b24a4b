/* What the files of the program share of which builds are tried: see ../../open/builds.test. */
#ifndef PROGRAM_H
#define PROGRAM_H

#define NOINLINE __attribute__((noinline))

#ifdef __cplusplus
extern "C" {
#endif

typedef int (*comparator)(const void *, const void *);

/* Comparators of ints: up, down, by the last digit, by the number of set bits. */
extern comparator comparators[4];

/* An insertion sort of `n` ints, whose moves are counted. */
long sort(int *v, int n, comparator compare);

/* A function that a linker may drop, and one that it may replace. */
int unused(const void *a, const void *b);
int replaceable(int n) __attribute__((weak));

/* Does everything, and writes it to `out`, which has room for it. */
int run_all(char *out, int size, int seed);

#ifdef __cplusplus
}
#endif

static inline int clamp(int n, int low, int high) { return n < low ? low : n > high ? high : n; }

#endif
