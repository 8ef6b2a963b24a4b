// The time of each context is what passes in it and in what it calls that is not profiled: in callbacks and around them, behind
// tail calls and jumps out of frames, in threads, children and handlers, and up to a call of exit.
// RUN: rm -rf %t.d && mkdir %t.d
// RUN: %cc %level --midflight-contexts --midflight-times %s -pthread -o %t
// RUN: env MIDFLIGHT_PROFILE=%t.d/%%p.mfp python3 %S/Inputs/wall.py %t.wall %t && %midflight merge -o %t.mfp %t.d/*.mfp
// RUN: %show --contexts %t %t.mfp > %t.json
// RUN: %tree %s @%t.wall "elsewhere == 0" "time['elsewhere'] == 0" "c('main') == 1" \
// RUN:   "29.5 < own('main', 'waits', 'leaf')" "19.5 < own('main', 'waits')" "49 < within('main', 'waits')" \
// RUN:   "c('main', 'sorts', 'compare') > 3" "9.8 < own('main', 'sorts', 'compare')" "49 < own('main', 'sorts')" \
// RUN:   "within('main', 'jumps') > 59" "c('main', 'jumps', 'jumper') == 2" \
// RUN:   "own('thread', 'leaf') > 29" "own('main', 'thread') == 0" "own('main') > 19 + 29" "within('main') + within('thread') <= 3.1 * v['wall']" \
// RUN:   "own('main', 'ends') > 39" "own('main', 'in_child') > 19 and own('main', 'in_child') + 100 < v['wall']" \
// RUN:   "within('main', 'interrupted') > 58" "own('main', 'interrupted', 'handler') > 19" < %t.json
// RUN: %midflight report %t %t.mfp | FileCheck %s
// CHECK: measured: {{.*}}s in functions that are profiled, of all threads
// CHECK:      count          self     % self       total    % total   context
// CHECK:          1   {{ *[0-9.]+}} ms {{ *[0-9.]+}} %{{ *[0-9.]+}} ms{{ *[0-9.]+}} %   main
// RUN: %midflight report --by activations --no-legend %t %t.mfp | FileCheck --check-prefix=COUNTS %s
// COUNTS: count      % all    % parent   context
// RUN: %midflight report --contexts=1 --no-legend --function leaf %t %t.mfp | FileCheck --check-prefix=CALLERS %s
// CALLERS:      count          self     % self   context
// CALLERS:          2   {{ *[0-9.]+}} ms {{ *[0-9.]+}} %   leaf
// CALLERS-NEXT:     1   {{ *[0-9.]+}} ms {{ *[0-9.]+}} %     └
// RUN: %midflight export --to callgrind %t %t.mfp | FileCheck --check-prefix=CALLGRIND %s
// CALLGRIND: events: Activations Nanoseconds
// CALLGRIND-NEXT: summary: {{[0-9]+ [0-9]+$}}
// RUN: %midflight export --to folded %t %t.mfp | FileCheck --check-prefix=FOLDED %s
// FOLDED: main;waits;leaf {{[23][0-9]{7}$}}
// Hot contexts, and counted in a file, killed.
// RUN: rm %t.d/* && env MIDFLIGHT_CONTEXTS=hcct:0.3:0.2 MIDFLIGHT_PROFILE=%t.d/%%p.mfp %t && %midflight merge -o %t.mfp %t.d/*.mfp
// RUN: %show --contexts %t %t.mfp | %tree %s "mode == 'hcct'" "time['total'] > 300e6" "time['elsewhere'] > 20e6"
// RUN: %midflight report --no-legend %t %t.mfp | FileCheck --check-prefix=HOT %s
// HOT: measured: {{.*}} of it in contexts that were not kept, so that times of others are lower bounds
// RUN: rm -f %t.live && not env MIDFLIGHT_PROFILE=%%c%t.live python3 %S/Inputs/wall.py %t.wall %t killed
// RUN: %show --contexts %t %t.live | %tree %s @%t.wall "elsewhere == 0" "own('main', 'waits', 'leaf') > 29" "own('main', 'waits') > 19" "within('main') <= 1.01 * v['wall']"
// A profile without times says so.
// RUN: %cc %level --midflight-contexts %s -pthread -o %t.plain && env MIDFLIGHT_PROFILE=%t.plain.mfp %t.plain
// RUN: not %midflight report --by time %t.plain %t.plain.mfp 2>&1 | FileCheck --check-prefix=NONE %s
// NONE: there are no times in the profile: compile the program with `midflight cc --midflight-contexts --midflight-times`, and run it anew
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline))
static volatile int sink;
static jmp_buf buffer;

// The whole time, also where a signal comes.
static inline __attribute__((always_inline)) void wait_ms(long ms) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  long nanoseconds = until.tv_nsec + ms * 1000000;
  until.tv_sec += nanoseconds / 1000000000;
  until.tv_nsec = nanoseconds % 1000000000;
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, 0)) {
  }
}

APART static void leaf(void) { wait_ms(30); }

APART static void waits(void) {
  wait_ms(20);
  leaf();
  sink++;
}

APART static int compare(const void *a, const void *b) {
  wait_ms(1);
  return *(const int *)a - *(const int *)b;
}

// What passes between callbacks is the caller's, also if it is what was called last.
APART static void sorts(void) {
  int v[] = {5, 3, 8, 1, 9, 2};
  qsort(v, 6, sizeof *v, compare);
  wait_ms(50);
  sink += v[0];
}

APART static void jumper(void) {
  wait_ms(10);
  longjmp(buffer, 1);
}

APART static void jumps(void) {
  static volatile int round;
  for (round = 0; round < 2; round++) {
    if (setjmp(buffer) == 0)
      jumper();
    wait_ms(20);
  }
}

static void *thread(void *argument) {
  leaf();
  sink++;
  return argument;
}

APART static void in_child(void) {
  wait_ms(20);
  sink++;
}

static void handler(int signal) {
  wait_ms(20);
  sink += signal;
}

APART static void interrupted(void) {
  raise(SIGUSR1);
  wait_ms(40);
  sink++;
}

APART static void ends(void) {
  wait_ms(40);
  exit(0);
}

int main(int argc, char **argv) {
  waits();
  if (argc > 1)
    raise(SIGKILL);
  sorts();
  jumps();
  pthread_t other;
  pthread_create(&other, 0, thread, 0);
  pthread_join(other, 0);
  signal(SIGUSR1, handler);
  interrupted();
  wait_ms(20);
  int child = fork();
  if (child == 0) {
    in_child();
    exit(0);
  }
  waitpid(child, 0, 0);
  ends();
}
