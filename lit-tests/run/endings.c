// Ways out of a process on which no destructor runs: each leaves an exact profile.
// RUN: %cc %level --midflight-k=2 -pthread %s -o %t
// RUN: rm -rf %t.d && mkdir %t.d
// RUN: not env MIDFLIGHT_PROFILE=%t.d/_exit.mfp %t _exit
// RUN: not env MIDFLIGHT_PROFILE=%t.d/quick_exit.mfp %t quick_exit
// RUN: not --crash env MIDFLIGHT_PROFILE=%t.d/abort.mfp %t abort
// RUN: not --crash env MIDFLIGHT_PROFILE=%t.d/term.mfp %t term
// RUN: not --crash env MIDFLIGHT_PROFILE=%t.d/fault.mfp %t fault
// RUN: env MIDFLIGHT_PROFILE=%t.d/exec.mfp %t exec
// RUN: not env MIDFLIGHT_PROFILE=%t.d/kept.mfp %t kept
// RUN: %show %t %t.d/_exit.mfp | %expect "completed('work') == 9000"
// RUN: %show %t %t.d/quick_exit.mfp | %expect "completed('work') == 9000"
// RUN: %show %t %t.d/abort.mfp | %expect "completed('work') == 9000"
// RUN: %show %t %t.d/term.mfp | %expect "completed('work') == 9000"
// RUN: %show %t %t.d/fault.mfp | %expect "completed('work') == 9000"
// RUN: %show %t %t.d/exec.mfp | %expect "completed('work') == 9000"
// RUN: %show %t %t.d/kept.mfp | %expect "completed('work') == 9001"
// By default the name has the process's ID in it, which stays when a program becomes another.
// RUN: rm -rf %t.again && mkdir %t.again
// RUN: env MIDFLIGHT_PROFILE=%t.again/%%p.mfp %t again
// RUN: ls %t.again | wc -l | grep -x 2
// RUN: %midflight merge -o %t.mfp %t.again/*.mfp
// RUN: %show %t %t.mfp | %expect "completed('work') == 9000 + 3"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

__attribute__((noinline)) static void work(void) { __asm__ volatile(""); }

static pthread_barrier_t done;

static void *run(void *unused) {
  for (int i = 0; i < 1000; i++)
    work();
  pthread_barrier_wait(&done);
  for (;;)
    pause();
  return unused;
}

static void leave(int signal) {
  (void)signal;
  work();
  _exit(4);
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";
  if (!strcmp(how, "last")) {
    for (int i = 0; i < 3; i++)
      work();
    return 0;
  }
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  pthread_barrier_init(&done, NULL, 9);
  for (int i = 0; i < 8; i++) {
    pthread_t id;
    if (pthread_create(&id, NULL, run, NULL))
      return 5;
  }
  for (int i = 0; i < 1000; i++)
    work();
  pthread_barrier_wait(&done);
  if (!strcmp(how, "_exit"))
    _exit(1);
  if (!strcmp(how, "quick_exit"))
    quick_exit(1);
  if (!strcmp(how, "abort"))
    abort();
  if (!strcmp(how, "term"))
    raise(SIGTERM);
  if (!strcmp(how, "fault"))
    *(volatile int *)8 = 1;
  if (!strcmp(how, "exec"))
    execl("/bin/true", "true", (char *)NULL);
  if (!strcmp(how, "again"))
    execl(argv[0], argv[0], "last", (char *)NULL);
  // A program that catches a signal unless it was told to ignore it does so still.
  if (!strcmp(how, "kept") && signal(SIGUSR1, SIG_IGN) == SIG_DFL) {
    signal(SIGUSR1, leave);
    raise(SIGUSR1);
  }
  return 6;
}
