// Frames of varying size, activations outside that return and call again, children of `fork` between bursts, labels that
// outlive an activation, and variable arguments: what is seen in bursts is what there is.
// REQUIRES: avx
// RUN: rm -rf %t.d && mkdir %t.d
// RUN: %cc %level --midflight-contexts --midflight-bursts %s -o %t && env MIDFLIGHT_BURSTS=off MIDFLIGHT_PROFILE=%t.d/all-%%p.mfp %t
// RUN: %midflight merge -o %t.all.mfp %t.d/all-*.mfp && %show --contexts %t %t.all.mfp > %t.all.json
// RUN: %tree %s "elsewhere == 0" "c('main', 'interpret', 'leaf@add') == 200000" "c('main', 'varies', 'leaf@varies') == 2" < %t.all.json
// RUN: env MIDFLIGHT_BURSTS=300us:100us MIDFLIGHT_PROFILE=%t.d/short-%%p.mfp %t
// RUN: %midflight merge -o %t.short.mfp %t.d/short-*.mfp && %show --contexts %t %t.short.mfp > %t.short.json
// RUN: python3 %S/Inputs/within.py %t.all.json %t.short.json
// RUN: env MIDFLIGHT_BURSTS=1s:20ms MIDFLIGHT_PROFILE=%t.d/long-%%p.mfp %t
// RUN: %midflight merge -o %t.long.mfp %t.d/long-*.mfp && %show --contexts %t %t.long.mfp > %t.long.json
// RUN: python3 %S/Inputs/within.py %t.all.json %t.long.json
#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline))
static volatile int sink;
APART static int leaf(int x) {
  sink = x;
  return x + 1;
}

// Arguments on the stack: the frame of its caller is larger then.
APART static long many(long a, long b, long c, long d, long e, long f, long g, long h, long i) {
  sink = (int)(a + b + c + d + e + f + g + h + i);
  return sink;
}
APART static int wait_for(int n) {
  for (int i = 0; i < n; i++)
    sink += leaf(i) + 1;
  return sink;
}
APART static long again(int n) {
  if (n == 0)
    return wait_for(200) + 1;
  long below = again(n - 1);
  long more = many(below, n, 1, 2, 3, 4, 5, 6, 7);
  return below + more + 1;
}

// Who forks between bursts is outside, and so it is in the child.
enum { MANY = 1, NAP = 2, FORK = 3 };
APART static int follows(const int *code) {
  static const int none[1001];
  int op = *code, sum = 0, calls = op == MANY ? 3 : op == FORK ? 1000 : 0;
  if (op == NAP)
    usleep(50000);
  if (op == FORK && fork()) {
    int status;
    wait(&status);
    return status;
  }
  for (int i = 1; i <= calls; i++)
    sum += follows(op == FORK ? none : code + i) + 1;
  if (op == FORK)
    exit(0);
  return sum;
}

// Direct threading: labels are given out, and jumped to in other activations.
APART static long interpret(const void *const *code, const void *const **labels) {
  static const void *const table[] = {&&add, &&twice, &&end};
  if (labels) {
    *labels = table;
    return 0;
  }
  long sum = 1;
  goto **code++;
add:
  sum += leaf((int)sum); // @add
  goto **code++;
twice:
  sum = leaf((int)sum * 2);
  goto **code++;
end:
  return sum;
}

#ifdef __x86_64__
__attribute__((target("avx")))
#endif
APART static double varies(int n, ...) {
  va_list list;
  va_start(list, n);
  double sum = 0;
  for (int i = 0; i < n; i++)
    sum += va_arg(list, double) + leaf(0); // @varies
  va_end(list);
  return sum;
}

int main(void) {
  static const int code[] = {MANY, 0, NAP, FORK};
  for (int i = 0; i < 5000; i++)
    sink += (int)again(4) + 1;
  if (follows(code) != 3)
    return 1;
  const void *const *labels;
  interpret(NULL, &labels);
  const void *program[] = {labels[0], labels[1], labels[2]};
  for (int i = 0; i < 200000; i++)
    sink += (int)interpret(program, NULL);
  return varies(2, 1.5, 2.5) != 6;
}
