// A handler on a stack of its own, below the interrupted one and above it: it stands below the call that it has
// interrupted, and what it calls stands below it.
// RUN: %cc %level -pthread -fno-unroll-loops --midflight-contexts %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t
// RUN: %show --contexts %t %t.mfp | %tree %s "elsewhere == 0" "c('main') == 1" \
// RUN:   "c('main', 'rounds@main') == 1" "c('main', 'rounds@main', 'interrupted@round') == 1000" \
// RUN:   "c('main', 'rounds@main', 'interrupted@round', 'handler@raise') == 1000" \
// RUN:   "c('main', 'rounds@main', 'interrupted@round', 'handler@raise', 'leaf@one') == 1000" \
// RUN:   "c('main', 'rounds@main', 'interrupted@round', 'handler@raise', 'leaf@two') == 1000" \
// RUN:   "c('main', 'rounds@main', 'interrupted@round', 'leaf@behind') == 1000" \
// RUN:   "c('run') == 2" "c('run', 'rounds@run', 'interrupted@round', 'handler@raise', 'leaf@two') == 2000" \
// RUN:   "c('run', 'rounds@run', 'interrupted@round', 'leaf@behind') == 2000" \
// RUN:   "n('handler') == 3000" "n('leaf') == 9000" "callers('handler') == {'interrupted'}"
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

#define APART __attribute__((noinline))
enum { SIZE = 1 << 18 };
static volatile int sink;

APART static void leaf(void) { __asm__ volatile(""); }

static void handler(int signal) {
  leaf(); // @one
  leaf(); // @two
  sink = signal;
}

APART static void interrupted(int signal) {
  raise(signal); // @raise
  leaf();        // @behind
  sink = 1;
}

APART static void rounds(void) {
  for (int i = 0; i < 1000; i++)
    interrupted(SIGUSR1); // @round
  sink = 2;
}

static void *run(void *stack) {
  stack_t own = {.ss_sp = stack, .ss_size = SIZE};
  if (sigaltstack(&own, NULL))
    abort();
  rounds(); // @run
  sink = 3;
  return NULL;
}

int main(void) {
  char *memory = mmap(NULL, 2 * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
  stack_t own = {.ss_sp = memory, .ss_size = SIZE};
  if (memory == MAP_FAILED || sigaction(SIGUSR1, &action, NULL) || sigaltstack(&own, NULL))
    return 1;
  rounds(); // @main
  for (int is_above = 0; is_above < 2; is_above++) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    own.ss_flags = SS_DISABLE;
    if (sigaltstack(&own, NULL) || pthread_attr_setstack(&attributes, memory + (1 - is_above) * SIZE, SIZE) ||
        pthread_create(&thread, &attributes, run, memory + is_above * SIZE) || pthread_join(thread, NULL))
      return 2;
  }
  return 0;
}
