// In bursts contexts are those that there are, also where activations have begun before the burst: by call sites, through
// libraries, in recursion, behind longjmp, in threads and children, and in functions that have no second body.
// RUN: rm -rf %t.d && mkdir %t.d
// RUN: %cc %level --midflight-contexts --midflight-bursts %s -pthread -o %t && env MIDFLIGHT_BURSTS=off MIDFLIGHT_PROFILE=%t.d/all-%%p.mfp %t
// RUN: %midflight merge -o %t.all.mfp %t.d/all-*.mfp
// RUN: %show --contexts %t %t.all.mfp > %t.all.json
// RUN: %tree %s "elsewhere == 0" "c('main') == 1" "c('main', 'works', 'rounds', 'twice@twice', 'leaf') == 12 * 50000" \
// RUN:   "c('main', 'works', 'rounds', 'deep@deep', 'deep', 'deep', 'twice@bottom') == 2 * 50000" \
// RUN:   "c('main', 'works', 'sorts', 'compare', 'leaf') == c('main', 'works', 'sorts', 'compare') > 100000" \
// RUN:   "c('main', 'works', 'jumps', 'jumper') == 2 * 50000" "c('main', 'works', 'jumps', 'leaf@behind') == 2 * 50000" \
// RUN:   "c('main', 'works', 'interpret', 'leaf@one') == 2 * 50000" "c('main', 'works', 'interpret', 'twice@two') == 2 * 50000" \
// RUN:   "c('main', 'works', 'by_value') == 2 * 50000" "c('main', 'works', 'by_value', 'leaf@value') == 2 * 50000" \
// RUN:   "c('main', 'works', 'varies', 'leaf@varies') == 2 * 50000" "c('begin', 'works', 'by_value') == 50000" < %t.all.json
// RUN: env MIDFLIGHT_BURSTS=2ms:1ms MIDFLIGHT_PROFILE=%t.d/part-%%p.mfp %t && %midflight merge -o %t.part.mfp %t.d/part-*.mfp
// RUN: %show --contexts %t %t.part.mfp > %t.part.json
// RUN: python3 %S/Inputs/within.py %t.all.json %t.part.json
// RUN: %tree %s "elsewhere == 0" "0 < total" "n('leaf') > 1000" < %t.part.json
// RUN: env MIDFLIGHT_BURSTS=150us:50us MIDFLIGHT_PROFILE=%t.d/short-%%p.mfp %t && %midflight merge -o %t.short.mfp %t.d/short-*.mfp
// RUN: %show --contexts %t %t.short.mfp > %t.short.json
// RUN: python3 %S/Inputs/within.py %t.all.json %t.short.json
// Hot ones of what is seen.
// RUN: env MIDFLIGHT_BURSTS=2ms:1ms MIDFLIGHT_CONTEXTS=hcct:0.01 MIDFLIGHT_PROFILE=%t.d/hot-%%p.mfp %t && %midflight merge -o %t.hot.mfp %t.d/hot-*.mfp
// RUN: %midflight report --contexts %t %t.hot.mfp | FileCheck %s
// CHECK: counted: {{.*}} activations of {{.*}}, in bursts of 1 ms, one every 2 ms
// CHECK-NEXT: hot calling contexts
// Counted in a file.
// RUN: env MIDFLIGHT_BURSTS=2ms:1ms MIDFLIGHT_PROFILE=%t.d/live-%%p%%c.mfp %t && %midflight merge -o %t.live.mfp %t.d/live-*.mfp
// RUN: %show --contexts %t %t.live.mfp > %t.live.json
// RUN: python3 %S/Inputs/within.py %t.all.json %t.live.json
// The default, and what makes no sense.
// RUN: env MIDFLIGHT_BURSTS=2ms MIDFLIGHT_PROFILE=%t.d/default-%%p.mfp %t 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: %midflight merge -o %t.default.mfp %t.d/default-*.mfp && %midflight report --contexts %t %t.default.mfp | FileCheck %s --check-prefix=DEFAULT
// WRONG: midflight: cannot use MIDFLIGHT_BURSTS='2ms': it is off, or how often there is a burst and how long it is, as in 20ms:2ms or 1s:500us; using 20ms:2ms
// DEFAULT: in bursts of 2 ms, one every 20 ms
// DEFAULT-NEXT: calling contexts, by call sites: a sample of the run, of which all counts are exact
// Without an unwinder it cannot be known what is outside.
// RUN: %cc %level --midflight-contexts --midflight-bursts -c %s -o %t.o && clang %t.o %runtime -o %t.bare
// RUN: env MIDFLIGHT_PROFILE=%t.bare.mfp %t.bare 2>&1 | FileCheck %s --check-prefix=BARE
// RUN: %midflight report --contexts %t.bare %t.bare.mfp | FileCheck %s --check-prefix=WHOLE
// BARE: midflight: calling contexts are counted all the time, and not in bursts: the program is linked without an unwinder; link it by midflight cc with --midflight-contexts
// WHOLE: the whole calling context tree
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline))
enum { N = 50000 };
static volatile int sink;
static _Thread_local jmp_buf buffer;
struct large {
  long x[9];
};

APART static int leaf(int x) {
  sink = x;
  return x * 3 + 1;
}
APART static int twice(int x) {
  int a = leaf(x), b = leaf(x + 1);
  return a + b + 1;
}
APART static int compare(const void *a, const void *b) {
  int order = *(const int *)a - *(const int *)b;
  return leaf(order) > 1 ? 1 : order < 0 ? -1 : 0;
}
APART static int deep(int n) {
  int below = n ? deep(n - 1) : twice(n); // @bottom
  return below + 1;
}
APART static int rounds(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < 3; j++)
      sum += twice(i); // @twice
    sum += deep(2) ^ 1; // @deep
  }
  return sum;
}
APART static int sorts(int n) {
  int numbers[64], sum = 0;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < 64; j++)
      numbers[j] = (j * 7919 + i) % 101;
    qsort(numbers, 64, sizeof *numbers, compare);
    sum += numbers[5];
  }
  return sum;
}
APART static int jumper(int x) {
  if (leaf(x))
    longjmp(buffer, 1);
  return 1;
}
APART static int jumps(int n) {
  for (volatile int i = 0; i < n; i++) {
    if (!setjmp(buffer))
      sink = jumper(1);
    sink = leaf(2) + 1; // @behind
  }
  return 1;
}
APART static int interpret(const char *code, int n) {
  static const void *const table[] = {&&one, &&two, &&again, &&done};
  const char *at = code;
  int sum = 0;
  goto *table[(int)*at++];
one:
  sum += leaf(sum); // @one
  goto *table[(int)*at++];
two:
  sum += twice(sum); // @two
  goto *table[(int)*at++];
again:
  at = --n ? code : at;
  goto *table[(int)*at++];
done:
  return sum;
}
APART static int by_value(struct large x) {
  int result = leaf((int)x.x[0]); // @value
  return result + 1;
}
APART static int varies(int n, ...) {
  va_list list;
  va_start(list, n);
  int sum = leaf(va_arg(list, int)); // @varies
  va_end(list);
  return sum + 1;
}
// What is called here begins outside, unless it begins in a burst.
APART static int works(void) {
  int sum = rounds(N) + sorts(1000) + jumps(N) + interpret("\0\1\2\3", N);
  struct large x = {{1}};
  for (int i = 0; i < N; i++)
    sum += by_value(x) + varies(1, i);
  return sum;
}
static void *begin(void *unused) {
  sink = works() + 1;
  return unused;
}

int main(void) {
  struct timespec time = {0, 3000000};
  nanosleep(&time, NULL);
  sink = works() + 1;
  pthread_t thread;
  if (pthread_create(&thread, NULL, begin, NULL) || pthread_join(thread, NULL))
    return 1;
  pid_t child = fork();
  if (child == 0) {
    sink = works() + 1;
    exit(0);
  }
  int status = 1;
  return waitpid(child, &status, 0) != child || status;
}
