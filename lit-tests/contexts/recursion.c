// Folded recursion: a function that is called while it is above goes on in the context above, and the call has one of its own.
// Each context and its count is what folding makes of the tree with all levels (Inputs/fold.py): functions that call themselves from
// two places and each other, callbacks that sort again, jumps out of recursion, handlers of what is under way, and threads.
// RUN: %cc %level -fno-optimize-sibling-calls --midflight-contexts %s -pthread -o %t.levels
// RUN: %cc %level -fno-optimize-sibling-calls --midflight-contexts --midflight-recursion=folded %s -pthread -o %t
// RUN: env MIDFLIGHT_PROFILE=%t.levels.mfp %t.levels && %show --contexts %t.levels %t.levels.mfp > %t.levels.json
// RUN: env MIDFLIGHT_PROFILE=%t.mfp %t && %show --contexts %t %t.mfp > %t.json
// RUN: python3 %S/Inputs/fold.py %t.levels.json %t.json
// RUN: %tree %s "elsewhere == 0" "c('main', 'walks', 'walk') == 1" "c('main', 'walks', 'walk', 'walk@left') == 2 ** 11 - 1" \
// RUN:   "c('main', 'walks', 'walk', 'walk@right') == 2 ** 11 - 1" "c('main', 'walks', 'walk', 'leaf') == 2 ** 11" "size('main', 'walks', 'walk', 'walk', 'walk') == 0" \
// RUN:   "c('main', 'jumps', 'deep') == 5000" "c('main', 'jumps', 'deep', 'deep') == 5000 * 30" "c('main', 'jumps', 'leaf@landed') == 5000" \
// RUN:   "size('thread', 'walk') == 1" "nodes < 120" < %t.json
// RUN: %midflight report --min-percent 0 --no-legend %t %t.mfp | FileCheck %s
// CHECK-DAG: └ walk  recursion.c:{{[0-9]+$}}
// CHECK-DAG: └ walk  recursion.c:{{[0-9]+}}  recursive{{$}}
// By functions alone.
// RUN: %cc %level -fno-optimize-sibling-calls --midflight-contexts --midflight-granularity=functions %s -pthread -o %t.levels
// RUN: %cc %level -fno-optimize-sibling-calls --midflight-contexts --midflight-granularity=functions --midflight-recursion=folded %s -pthread -o %t.functions
// RUN: env MIDFLIGHT_PROFILE=%t.levels.mfp %t.levels && %show --contexts %t.levels %t.levels.mfp > %t.levels.json
// RUN: env MIDFLIGHT_PROFILE=%t.functions.mfp %t.functions && %show --contexts %t.functions %t.functions.mfp > %t.functions.json
// RUN: python3 %S/Inputs/fold.py %t.levels.json %t.functions.json
// RUN: %tree %s "elsewhere == 0" "nodes < 80" < %t.functions.json
// With times: what an activation takes is that of the context in which it goes on.
// RUN: %cc %level -fno-optimize-sibling-calls --midflight-contexts --midflight-times %s -pthread -o %t.levels
// RUN: %cc %level -fno-optimize-sibling-calls --midflight-contexts --midflight-times --midflight-recursion=folded %s -pthread -o %t.times
// RUN: env MIDFLIGHT_PROFILE=%t.levels.mfp %t.levels && %show --contexts %t.levels %t.levels.mfp > %t.levels.json
// RUN: env MIDFLIGHT_PROFILE=%t.times.mfp %t.times && %show --contexts %t.times %t.times.mfp > %t.times.json
// RUN: python3 %S/Inputs/fold.py %t.levels.json %t.times.json
// RUN: %tree %s "own('main', 'walks', 'walk') > 0" "not any(at['time']['self'] for at in contexts if at['recursive'])" < %t.times.json
// Counted in a file, and killed; and hot contexts.
// RUN: rm -f %t.live && not --crash env MIDFLIGHT_PROFILE=%%c%t.live %t killed
// RUN: %show --contexts %t %t.live > %t.live.json && cmp %t.json %t.live.json
// RUN: env MIDFLIGHT_CONTEXTS=hcct:0.01:0.005 MIDFLIGHT_PROFILE=%t.hot.mfp %t && %show --contexts %t %t.hot.mfp > %t.hot.json
// RUN: %tree %s "mode == 'hcct'" "elsewhere == 0" "nodes < 120" < %t.hot.json
// RUN: python3 %S/Inputs/fold.py --bounds %t.json %t.hot.json
// However deep, where the stack has room.
// RUN: env MIDFLIGHT_PROFILE=%t.deep.mfp %t deep
// RUN: %show --contexts %t %t.deep.mfp | %tree %s "elsewhere == 0" "nodes == 4" "c('main') == 1" "c('sinks', 'deep') == 1" "c('sinks', 'deep', 'deep') == 1000000"
// Calls in tail position: who is called has the context of its caller's call.
// RUN: %cc -O2 --midflight-contexts --midflight-recursion=folded %s -pthread -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t
// RUN: %show --contexts %t %t.mfp | %tree %s "elsewhere == 0" "nodes < 120" "not any(at['site'] and at['site']['tail'] for at in contexts)"
// A storm of signals.
// RUN: %cc %level --midflight-contexts --midflight-recursion=folded %S/signals.c -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t > %t.out
// RUN: %show --contexts %t %t.mfp | %tree %S/signals.c @%t.out "activations == v['all']" "elsewhere <= v['handler']" "nodes < 300" \
// RUN:   "v['handler'] - elsewhere <= n('handler') <= v['handler']" "v['handler'] >= 1000" "len(callers('handler')) > 3" \
// RUN:   "c('main') == 1" "c('main', 'round@round') == n('round') == v['round']" "callers('in_handler') <= {'handler', 'in_handler'}"
// Before optimization, without calls in tail position.
// RUN: %cc -O2 -DNO_TAIL --midflight-contexts --midflight-stage=early %s -pthread -o %t.levels
// RUN: %cc -O2 -DNO_TAIL --midflight-contexts --midflight-stage=early --midflight-recursion=folded %s -pthread -o %t
// RUN: env MIDFLIGHT_PROFILE=%t.levels.mfp %t.levels && %show --contexts %t.levels %t.levels.mfp > %t.levels.json
// RUN: env MIDFLIGHT_PROFILE=%t.mfp %t && %show --contexts %t %t.mfp > %t.json
// RUN: python3 %S/Inputs/fold.py %t.levels.json %t.json
// RUN: not %cc --midflight-contexts --midflight-recursion=folded --midflight-bursts -c %s -o %t.o 2>&1 | FileCheck --check-prefix=BURSTS %s
// BURSTS: --midflight-recursion=folded and --midflight-bursts exclude each other
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

#define APART __attribute__((noinline))
static volatile int sink;
#ifdef NO_TAIL
#define LAST sink++
#else
#define LAST
#endif

APART static void leaf(void) { sink++; }

APART static int walk(int depth) {
  if (!depth) {
    leaf();
    return 1;
  }
  int left = walk(depth - 1);      // @left
  return left + walk(depth - 1);   // @right
}

APART static void walks(void) {
  sink += walk(11);
  leaf();
  LAST;
}

// Three functions that call each other as numbers tell.
static unsigned state = 1;
static unsigned next(void) { return (state = state * 1103515245 + 12345) >> 16; }
static int chance(int depth);
APART static int red(int depth) { return depth > 0 ? chance(depth - 1) + 1 : 0; }
APART static int green(int depth) {
  int sum = 0;
  for (unsigned n = next() % 3; depth > 0 && n; n--)
    sum += next() % 2 ? red(depth - 1) : green(depth - 2);
  leaf();
  return sum;
}
APART static int chance(int depth) {
  switch (depth > 0 ? next() % 4 : 4) {
  case 0: return red(depth - 1) + green(depth - 1);
  case 1: return green(depth - 1) + chance(depth - 3);
  case 2: return chance(depth - 1) + red(depth - 2);
  case 3: return walk(depth % 4) + green(depth - 1);
  default: leaf(); return 0;
  }
}

// A comparison that sorts.
static int levels;
static int compare(const void *a, const void *b);
APART static void sort(int n) {
  int numbers[8];
  for (int i = 0; i < n; i++)
    numbers[i] = (i * 5 + 3) % 8;
  levels++;
  qsort(numbers, n, sizeof *numbers, compare);
  levels--;
  leaf();
  sink += numbers[0];
}
static int compare(const void *a, const void *b) {
  if (levels < 3 && *(const int *)a % 2)
    sort(levels + 2);
  leaf();
  return *(const int *)a - *(const int *)b;
}

// Jumps out of recursion, over functions that are there already.
static jmp_buf buffer, within;
APART static void deep(int n) {
  if (n)
    deep(n - 1);
  else if (sink)
    longjmp(buffer, 1);
  sink += n;
}
APART static void jumps(void) {
  for (volatile int i = 0; i < 5000; i++) {
    if (!setjmp(buffer))
      deep(30);
    leaf(); // @landed
  }
}
APART static void lands(int n) {
  if (n == 7) {
    if (!setjmp(within))
      lands(n - 1);
    leaf();
    walk(2);
  } else if (n) {
    lands(n - 1);
    leaf();
  } else {
    longjmp(within, 1);
  }
  sink += n;
}

// A handler that calls what is under way.
static void handler(int signal) {
  walk(2);
  sink += signal;
}
APART static void interrupted(int n) {
  if (n)
    interrupted(n - 1);
  raise(SIGUSR1);
  leaf();
  LAST;
}

static void *thread(void *argument) {
  sink += walk(5);
  leaf();
  return argument;
}

static void *sinks(void *argument) {
  jmp_buf *landing = &buffer;
  if (!setjmp(*landing))
    deep(1000000);
  return argument;
}

int main(int argc, char **argv) {
  pthread_t other;
  sink = 1;
  if (argc > 1 && argv[1][0] == 'd') {
    pthread_attr_t large;
    pthread_attr_init(&large);
    pthread_attr_setstacksize(&large, 1u << 29);
    pthread_create(&other, &large, sinks, 0);
    pthread_join(other, 0);
    return 0;
  }
  walks();
  for (int i = 0; i < 300; i++)
    sink += chance(14) & 1;
  sort(8);
  jumps();
  for (int i = 0; i < 50; i++)
    lands(12);
  signal(SIGUSR1, handler);
  interrupted(5);
  pthread_create(&other, 0, thread, 0);
  pthread_join(other, 0);
  if (argc > 1)
    raise(SIGKILL);
  return 0;
}
