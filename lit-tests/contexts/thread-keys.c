// Destructors of thread keys run when all calls of the thread are gone, also those that pthread_exit has left.
// RUN: %cc %level -pthread --midflight-contexts %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t
// RUN: %show --contexts %t %t.mfp | %tree %s "elsewhere == 0" "c('main') == 1" "c('leaves') == 40" \
// RUN:   "c('leaves', 'deep@leaves') == 40" "n('deep') == 40 * 4" "callers('stop') == {'deep'}" \
// RUN:   "c('clean') == 40" "c('clean', 'leaf') == 40" "callers('clean') == {None}" "total == 1 + 40 * 8"
#include <pthread.h>

#define APART __attribute__((noinline))
static volatile int sink;
static pthread_key_t key;

APART static void leaf(void) { __asm__ volatile(""); }

APART static void stop(void) { pthread_exit(NULL); }

APART static void deep(int n) {
  if (n)
    deep(n - 1);
  else
    stop();
  sink = n;
}

static void *leaves(void *unused) {
  pthread_setspecific(key, &key);
  deep(3); // @leaves
  sink = 3;
  return unused;
}

static void clean(void *unused) {
  (void)unused;
  leaf();
  sink = 4;
}

int main(void) {
  pthread_t t[8];
  pthread_key_create(&key, clean);
  for (int wave = 0; wave < 5; wave++) {
    for (int i = 0; i < 8; i++)
      pthread_create(&t[i], 0, leaves, 0);
    for (int i = 0; i < 8; i++)
      pthread_join(t[i], 0);
  }
  return 0;
}
