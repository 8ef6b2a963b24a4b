// A child starts from zero, and writes a file of its own.
// RUN: rm -rf %t.d && mkdir %t.d
// RUN: %cc %level --midflight-k=2 %s -o %t && env MIDFLIGHT_PROFILE=%t.d/%%p.mfp %t
// RUN: ls %t.d | wc -l | grep -x 3
// RUN: %midflight merge -o %t.mfp %t.d/*.mfp
// RUN: %show %t %t.mfp | %expect "f('work')['entries'] == 5 + 2 * 7 + 1" "f('main')['entries'] == 1"
#include <sys/wait.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((noinline)) static void work(void) { __asm__ volatile(""); }

int main(void) {
  for (int i = 0; i < 5; i++)
    work();
  for (int child = 0; child < 2; child++)
    if (fork() == 0) {
      for (int i = 0; i < 7; i++)
        work();
      exit(0);
    }
  work();
  int status, bad = 0;
  while (wait(&status) > 0)
    bad |= status;
  return bad;
}
