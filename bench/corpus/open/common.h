/* What the programs share: results go to standard output, times to standard error. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))

/* What a compiler that knew the callee or the value would be given is written behind HAND. */
#ifdef HAND
#define IS_HAND 1
#else
#define IS_HAND 0
#endif

/* Seconds of all threads of the process: what makes versions in the background counts too. */
static inline double cpu(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

/* Seconds of a clock that runs on while the process waits. */
static inline double wall(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

static inline void tell(const char *what, double seconds) {
  fprintf(stderr, "%s %.9f\n", what, seconds);
}

/* The compiler does not see what it is, nor what happens to the memory that it leads to. */
#define HIDDEN(pointer) __asm__ volatile("" : "+r"(pointer)::"memory")

/* Evaluates an expression, and tells how long that took by both clocks. */
#define TIMED(what, expression)                                                                    \
  do {                                                                                             \
    double cpu_then = cpu(), wall_then = wall();                                                   \
    expression;                                                                                    \
    double wall_now = wall(), cpu_now = cpu();                                                     \
    tell(what, cpu_now - cpu_then);                                                                \
    tell(what ".wall", wall_now - wall_then);                                                      \
  } while (0)

/* The measured function is called twice: the second call begins in a version, if there is one. */
#define TWICE(expression)                                                                          \
  do {                                                                                             \
    TIMED("first", expression);                                                                    \
    TIMED("second", expression);                                                                   \
  } while (0)

static inline uint64_t next_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 24;
}

static inline long argument(int argc, char **argv, int number, long otherwise) {
  return argc > number ? atol(argv[number]) : otherwise;
}
