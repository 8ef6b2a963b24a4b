// Threads have forests of their own, which add up, those of threads that still run at exit too.
// RUN: %cc %level -pthread --midflight-k=4 %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t && %show %t %t.mfp | %expect \
// RUN:   "f('work')['entries'] == 40 * 1000" "f('work')['interrupted'] == 0" \
// RUN:   "count('work', 12) == 40 * 1000 * 10" \
// RUN:   "count('work', 12, 12, 12, 12) == 40 * 1000 * 7"
#include <pthread.h>
#include <unistd.h>

__attribute__((noinline)) static int work(int n) {
  volatile int s = 0;
  for (int i = 0; i < n; i++)
    s += i;
  return s;
}

static void *run(void *unused) {
  for (int i = 0; i < 1000; i++)
    work(10);
  return unused;
}

static volatile int ready;
static void *stay(void *unused) {
  run(unused);
  __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
  for (;;)
    pause();
}

int main(void) {
  pthread_t t[8];
  for (int wave = 0; wave < 4; wave++) {
    for (int i = 0; i < 8; i++)
      pthread_create(&t[i], 0, run, 0);
    for (int i = 0; i < 8; i++)
      pthread_join(t[i], 0);
  }
  for (int i = 0; i < 7; i++)
    run(0);
  pthread_create(&t[0], 0, stay, 0);
  while (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
    usleep(100);
  return 0;
}

// Algorithm 4 as published has forests of its own for each thread, too.
// RUN: %cc %level -pthread --midflight-k=4 --midflight-algorithm=published %s -o %t
// RUN: env MIDFLIGHT_PROFILE=%t.mfp %t && %show %t %t.mfp | %expect \
// RUN:   "f('work')['entries'] == 40 * 1000" "f('work')['interrupted'] == 0" \
// RUN:   "count('work', 12) == 40 * 1000 * 10" "count('work', 12, 12, 12, 12) == 40 * 1000 * 7"
