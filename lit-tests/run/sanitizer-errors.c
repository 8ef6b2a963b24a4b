// A sanitizer that ends the program for what it has found leaves an exact profile, and the program's own
// callback is called as well.
// REQUIRES: sanitizers
// DEFINE: %{run} = env MIDFLIGHT_PROFILE=%t.mfp %t
// DEFINE: %{counted} = %show %t %t.mfp | %expect "completed('work') == 1000"
//
// RUN: %cc %level --midflight-k=2 -fsanitize=address %s -o %t && rm -f %t.mfp
// RUN: not %{run} bounds > %t.log 2>&1 && FileCheck --check-prefix=ADDRESS %s < %t.log && %{counted}
// RUN: rm %t.mfp && not %{run} fault > %t.log 2>&1 && FileCheck --check-prefix=FAULT %s < %t.log && %{counted}
// RUN: rm %t.mfp && not %{run} leak > %t.log 2>&1 && FileCheck --check-prefix=LEAK %s < %t.log && %{counted}
// RUN: rm %t.mfp && not %{run} callback > %t.log 2>&1 && FileCheck --check-prefix=CALLBACK %s < %t.log
// RUN: %{counted}
// RUN: rm %t.mfp && not --crash %{run} term && %{counted}
// RUN: rm %t.mfp && env ASAN_OPTIONS=abort_on_error=1 MIDFLIGHT_PROFILE=%t.mfp not --crash %t bounds > %t.log 2>&1
// RUN: FileCheck --check-prefix=ADDRESS %s < %t.log && %{counted}
// RUN: %cc %level --midflight-k=2 -fsanitize=memory %s -o %t && rm %t.mfp
// RUN: not %{run} uninitialized > %t.log 2>&1 && FileCheck --check-prefix=MEMORY %s < %t.log && %{counted}
// RUN: rm %t.mfp && not %{run} once > %t.log 2>&1 && count 0 < %t.log && %{counted}
// RUN: %cc %level --midflight-k=2 -pthread -fsanitize=thread %s -o %t && rm %t.mfp
// RUN: not %{run} race > %t.log 2>&1 && FileCheck --check-prefix=RACE %s < %t.log && %{counted}
// RUN: rm %t.mfp && not %{run} once > %t.log 2>&1 && count 0 < %t.log && %{counted}
// RUN: %cc %level --midflight-k=2 -fsanitize=undefined -fno-sanitize-recover=all %s -o %t && rm %t.mfp
// RUN: not %{run} overflow > %t.log 2>&1 && FileCheck --check-prefix=UNDEFINED %s < %t.log && %{counted}
// RUN: %cc %level --midflight-k=2 -fsanitize=undefined -fsanitize-trap=all %s -o %t && rm %t.mfp
// RUN: not --crash %{run} overflow > %t.log 2>&1 && %{counted}
// RUN: %cc %level --midflight-k=2 -fsanitize=undefined -fsanitize-minimal-runtime -fno-sanitize-recover=all %s -o %t
// RUN: rm %t.mfp && not --crash %{run} overflow > %t.log 2>&1 && %{counted}
// RUN: %cc %level --midflight-k=2 -fsanitize=leak %s -o %t && rm %t.mfp
// RUN: not %{run} leak > %t.log 2>&1 && FileCheck --check-prefix=LEAK %s < %t.log && %{counted}
//
// ADDRESS: AddressSanitizer: heap-buffer-overflow
// FAULT: AddressSanitizer: SEGV
// LEAK: LeakSanitizer: detected memory leaks
// CALLBACK: callback
// MEMORY: MemorySanitizer: use-of-uninitialized-value
// RACE: ThreadSanitizer: data race
// UNDEFINED: runtime error: signed integer overflow
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

void __sanitizer_set_death_callback(void (*)(void)) __attribute__((weak));

static unsigned shared;

__attribute__((noinline)) static void work(void) { __asm__ volatile(""); }

static void on_death(void) { fputs("callback\n", stderr); }

static void stop(int number) { (void)number; }

static void *add(void *unused) {
  for (int i = 0; i < 1000; i++)
    shared++;
  return unused;
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  for (int i = 0; i < 1000; i++)
    work();
  if (!strcmp(how, "callback")) {
    __sanitizer_set_death_callback(on_death);
    how = "bounds";
  }
  char *volatile room = malloc(8);
  if (!strcmp(how, "bounds"))
    room[8] = 1;
  if (!strcmp(how, "fault"))
    *(volatile int *)8 = 1;
  if (!strcmp(how, "uninitialized") && room[1])
    puts("");
  if (!strcmp(how, "term"))
    raise(SIGTERM);
  if (!strcmp(how, "overflow"))
    return INT_MAX + argc > 0;
  if (!strcmp(how, "race")) {
    pthread_t id;
    pthread_create(&id, NULL, add, NULL);
    add(NULL);
    pthread_join(id, NULL);
  }
  if (!strcmp(how, "once")) {
    struct sigaction action = {.sa_handler = stop, .sa_flags = SA_RESETHAND}, before;
    sigaction(SIGTERM, &action, &before);
    if (before.sa_handler != SIG_DFL || sigaction(SIGTERM, NULL, &before) || before.sa_handler != stop)
      return 0;
    raise(SIGTERM);
    if (sigaction(SIGTERM, NULL, &before) || before.sa_handler != SIG_DFL)
      return 0;
    free(room);
    return 9;
  }
  if (strcmp(how, "leak"))
    free(room);
  room = NULL;
  return 0;
}
