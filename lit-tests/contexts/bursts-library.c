// A library that is counted in bursts, in a program that is not instrumented: the thread that begins and ends them is gone
// with the library; and a child that libc does not know of ends.
// RUN: %cc %level -fPIC -shared --midflight-contexts --midflight-bursts -DLIBRARY %s -o %t.so
// RUN: clang %level %s -o %t -ldl && env MIDFLIGHT_BURSTS=2ms:1ms MIDFLIGHT_PROFILE=%t.mfp %t %t.so
// RUN: %show --contexts --library %t.so %t.so %t.mfp > %t.json
// RUN: %tree %s "elsewhere == 0" "n('inner') > 1000" "callers('inner') == {'in_library'}" < %t.json
#define APART __attribute__((noinline))
#ifdef LIBRARY
static volatile int sink;
APART static void inner(void) { sink++; }
void in_library(void) {
  for (int i = 0; i < 1000000; i++)
    inner();
  sink = 2;
}
#else
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
// The number of links of that folder is that of threads, and two.
static int threads(void) {
  struct timespec time = {0, 3000000};
  struct stat tasks;
  nanosleep(&time, NULL);
  return stat("/proc/self/task", &tasks) ? -1 : (int)tasks.st_nlink - 2;
}
int main(int argc, char **argv) {
  for (int round = 0; round < 3; round++) {
    void *library = dlopen(argv[argc - 1], RTLD_NOW);
    void (*function)(void) = library ? (void (*)(void))dlsym(library, "in_library") : NULL;
    if (!function)
      return 1;
    function();
    if (threads() != 2)
      return 2;
    if (round == 1) {
      int status;
      pid_t child = (pid_t)syscall(SYS_fork);
      if (child == 0)
        exit(0);
      if (waitpid(child, &status, 0) != child || status)
        return 3;
    }
    dlclose(library);
    if (threads() != 1)
      return 4;
  }
  return 0;
}
#endif
