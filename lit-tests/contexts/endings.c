// Ways out of a process on which no destructor runs leave a whole tree, in the midst of calls.
// RUN: %cc %level -fno-unroll-loops --midflight-contexts %s -o %t
// RUN: not env MIDFLIGHT_PROFILE=%t._exit.mfp %t _exit
// RUN: not --crash env MIDFLIGHT_PROFILE=%t.abort.mfp %t abort
// RUN: not --crash env MIDFLIGHT_PROFILE=%t.fault.mfp %t fault
// RUN: not env MIDFLIGHT_PROFILE=%t.exit.mfp %t exit
// RUN: %show --contexts %t %t._exit.mfp | %tree %s "elsewhere == 0" "c('main') == 1" "c('main', 'leaves', 'leaf') == 9000" "total == 9002"
// RUN: %show --contexts %t %t.abort.mfp | %tree %s "elsewhere == 0" "c('main') == 1" "c('main', 'leaves', 'leaf') == 9000" "total == 9002"
// RUN: %show --contexts %t %t.fault.mfp | %tree %s "elsewhere == 0" "c('main') == 1" "c('main', 'leaves', 'leaf') == 9000" "total == 9002"
// A handler of atexit is called from where the program ends.
// RUN: %show --contexts %t %t.exit.mfp | %tree %s "elsewhere == 0" "c('main', 'leaves', 'leaf') == 9000" "c('main', 'leaves', 'at_exit@exit') == 1" "total == 9003"
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define APART __attribute__((noinline))
static volatile int sink;
APART static void leaf(void) { __asm__ volatile(""); }
static void at_exit(void) { sink = 1; }

APART static void leaves(const char *how) {
  for (int i = 0; i < 9000; i++)
    leaf();
  if (!strcmp(how, "_exit"))
    _exit(1);
  if (!strcmp(how, "abort"))
    abort();
  if (!strcmp(how, "fault"))
    *(volatile int *)8 = 1;
  if (!strcmp(how, "exit"))
    exit(3); // @exit
  sink = 2;
}

int main(int argc, char **argv) {
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  atexit(at_exit);
  leaves(argc > 1 ? argv[1] : "");
  return 0;
}
