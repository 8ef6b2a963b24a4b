// Each thread has a tree of its own, which begins with what the thread begins with; they add up, also those of threads
// that end in the midst of a call, and of those that still run.
// RUN: %cc %level -pthread -fno-unroll-loops --midflight-contexts %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t
// RUN: %show --contexts %t %t.mfp | %tree %s "elsewhere == 0" "c('main') == 1" \
// RUN:   "c('run') == 32" "c('run', 'work@run') == 32 * 1000" "c('run', 'work@run', 'leaf') == 32 * 1000 * 2" \
// RUN:   "c('main', 'run@main') == 7" "c('main', 'run@main', 'work@run') == 7 * 1000" \
// RUN:   "c('leaves') == 40" "c('leaves', 'deep@leaves') == 40" "c('leaves', 'deep@leaves', 'deep@deep') == 40" \
// RUN:   "n('deep') == 40 * 4" "n('stop') == 40" "callers('stop') == {'deep'}" \
// RUN:   "c('stay') == 1" "c('stay', 'run@stay') == 1" "c('stay', 'run@stay', 'work@run', 'leaf') == 2000" \
// RUN:   "n('leaf') == (32 + 7 + 1) * 2000"
#include <pthread.h>
#include <unistd.h>

#define APART __attribute__((noinline))
static volatile int sink, ready;

APART static void leaf(void) { __asm__ volatile(""); }

APART static void work(void) {
  leaf();
  leaf();
  sink = 1;
}

APART static void run(void) {
  for (int i = 0; i < 1000; i++)
    work(); // @run
  sink = 2;
}

static void *stay(void *unused) {
  run(); // @stay
  __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
  for (;;)
    pause();
  return unused;
}

APART static void stop(void) { pthread_exit(NULL); }

APART static void deep(int n) {
  if (n)
    deep(n - 1); // @deep
  else
    stop();
  sink = n;
}

static void *leaves(void *unused) {
  deep(3); // @leaves
  sink = 3;
  return unused;
}

int main(void) {
  pthread_t t[8];
  for (int wave = 0; wave < 4; wave++) {
    for (int i = 0; i < 8; i++)
      pthread_create(&t[i], 0, (void *(*)(void *))run, 0);
    for (int i = 0; i < 8; i++)
      pthread_join(t[i], 0);
  }
  for (int wave = 0; wave < 5; wave++) {
    for (int i = 0; i < 8; i++)
      pthread_create(&t[i], 0, leaves, 0);
    for (int i = 0; i < 8; i++)
      pthread_join(t[i], 0);
  }
  for (int i = 0; i < 7; i++)
    run(); // @main
  pthread_create(&t[0], 0, stay, 0);
  while (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
    usleep(100);
  return 0;
}
