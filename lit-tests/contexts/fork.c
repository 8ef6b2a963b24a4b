// A child begins at zero, with the calls that are under way, and writes a profile of its own.
// RUN: rm -rf %t.d && mkdir %t.d
// RUN: %cc %level -fno-unroll-loops --midflight-contexts %s -o %t && env MIDFLIGHT_PROFILE=%t.d/%%p.mfp %t > %t.out
// RUN: ls %t.d | wc -l | grep -x 3
// RUN: sh -c 'cp %t.d/$(cat %t.out).mfp %t.child.mfp'
// RUN: %show --contexts %t %t.child.mfp | %tree %s "elsewhere == 0" "c('main') == 0" "c('main', 'forks') == 0" \
// RUN:   "c('main', 'forks', 'work@child') == 7" "c('main', 'forks', 'work@child', 'leaf') == 7" "total == 14"
// RUN: %midflight merge -o %t.mfp %t.d/*.mfp
// RUN: %show --contexts %t %t.mfp | %tree %s "elsewhere == 0" "c('main') == 1" "c('main', 'work@before') == 5" \
// RUN:   "c('main', 'forks') == 1" "c('main', 'forks', 'work@child') == 2 * 7" "c('main', 'work@after') == 1" \
// RUN:   "n('leaf') == 5 + 2 * 7 + 1" "total == 2 + 2 * 20"
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline))
static volatile int sink;
APART static void leaf(void) { __asm__ volatile(""); }
APART static void work(void) {
  leaf();
  sink = 1;
}

APART static void forks(void) {
  for (int child = 0; child < 2; child++) {
    pid_t id = fork();
    if (id == 0) {
      for (int i = 0; i < 7; i++)
        work(); // @child
      exit(0);
    }
    if (child)
      printf("%d\n", id);
  }
  sink = 2;
}

int main(void) {
  setvbuf(stdout, NULL, _IOLBF, 1024);
  for (int i = 0; i < 5; i++)
    work(); // @before
  forks();
  work(); // @after
  int status, bad = 0;
  while (wait(&status) > 0)
    bad |= status;
  return bad;
}
