// Handlers of signals, under a storm of them: each activation is counted, or stated to be elsewhere, and handlers stand
// below what they have interrupted.
// RUN: %cc %level --midflight-contexts %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t > %t.out
// RUN: %show --contexts %t %t.mfp | %tree %s @%t.out "activations == v['all']" "elsewhere <= v['handler']" \
// RUN:   "v['handler'] - elsewhere <= n('handler') <= v['handler']" "v['handler'] >= 1000" "len(callers('handler')) > 3" \
// RUN:   "c('main') == 1" "c('main', 'round@round') == n('round') == v['round']" "callers('in_handler') <= {'handler', 'in_handler'}"
// Handlers that interrupt handlers, at their entry too
// RUN: %cc -O2 --midflight-contexts -DNESTED %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t > %t.out
// RUN: %show --contexts %t %t.mfp | %tree %s @%t.out "activations == v['all']" "elsewhere <= v['handler']" \
// RUN:   "v['handler'] - elsewhere <= n('handler') <= v['handler']" "v['handler'] >= 1000" "len(callers('handler')) > 3" \
// RUN:   "c('main') == 1" "c('main', 'round@round') == n('round') == v['round']"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

#define APART __attribute__((noinline))
static volatile long all, handlers, rounds;
static inline __attribute__((always_inline)) void count(volatile long *one) {
  __atomic_fetch_add(&all, 1, __ATOMIC_RELAXED);
  if (one)
    __atomic_fetch_add(one, 1, __ATOMIC_RELAXED);
}

static volatile int sink;

APART static void in_handler(int n) {
  count(NULL);
  if (n)
    in_handler(n - 1);
  sink = n;
}

APART static void handler(int signal) {
  count(&handlers);
  in_handler(signal % 3);
  in_handler(3);
  sink = 1;
}

// Contexts that are new each time
APART static int even(unsigned path, int depth);
APART static int odd(unsigned path, int depth) {
  count(NULL);
  int x = depth ? even(path >> 1, depth - 1) : 0;
  return x + 1;
}
APART static int even(unsigned path, int depth) {
  count(NULL);
  int x = 0;
  if (depth)
    x = path & 1 ? odd(path >> 1, depth - 1) : even(path >> 1, depth - 1);
  return x + 1;
}

APART static int compare(const void *a, const void *b) {
  count(NULL);
  return *(const int *)a - *(const int *)b;
}

APART static void round(unsigned n) {
  count(&rounds);
  int numbers[64];
  for (int i = 0; i < 64; i++)
    numbers[i] = (int)(n * 31 + (unsigned)i * 17) % 64;
  even(n * 2654435761u >> 16, 14);
  qsort(numbers, 64, sizeof *numbers, compare);
  sink = numbers[0];
}

int main(void) {
  count(NULL);
  struct sigaction action = {.sa_handler = handler};
#ifndef NESTED
  sigfillset(&action.sa_mask);
#endif
  sigaction(SIGALRM, &action, NULL);
  sigaction(SIGPROF, &action, NULL);
  struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  setitimer(ITIMER_PROF, &often, NULL);
  for (unsigned n = 0; handlers < 2000 || n < 2000; n++)
    round(n); // @round
  setitimer(ITIMER_REAL, &never, NULL);
  setitimer(ITIMER_PROF, &never, NULL);
  printf("all %ld\nhandler %ld\nround %ld\n", all, handlers, rounds);
  return 0;
}
