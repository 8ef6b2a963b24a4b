// exit() called deep down: main is interrupted, exit's caller has completed its path.
// RUN: %cc %level %s -o %t
// RUN: not env MIDFLIGHT_PROFILE=%t.mfp %t
// RUN: %show %t %t.mfp | %expect "completed('leave') == 1" "f('main')['interrupted'] == 1" "f('at_exit')['entries'] == 1"
#include <stdlib.h>

static volatile int sink;
__attribute__((noinline)) static void at_exit(void) { sink++; }
__attribute__((noinline)) static void leave(int n) {
  if (n)
    exit(7);
  sink = 3;
}
int main(void) {
  atexit(at_exit);
  leave(1);
  sink = 4;
  return 0;
}
