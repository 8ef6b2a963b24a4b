// With %c a killed program leaves the contexts that it would have written: in the midst of calls, called back and entered by
// a handler, after jumps out of frames, of threads that have ended and of libraries that were unloaded.
// RUN: %cc %level -fPIC -shared -fno-unroll-loops --midflight-contexts -DLIBRARY %s -o %t.so
// RUN: %cc %level -fno-unroll-loops --midflight-contexts %s -Wl,--export-dynamic-symbol=leaf -o %t -ldl -pthread
// RUN: rm -f %t.ordinary && not --crash env MIDFLIGHT_PROFILE=%%c%t.mfp %t %t.so %t.ordinary
// RUN: %show --contexts --library %t.so %t %t.mfp > %t.json
// RUN: %show --contexts --library %t.so %t %t.ordinary | cmp - %t.json
// RUN: %tree %s "elsewhere == 0" "c('main') == 1" "c('main', 'work@work', 'leaf@leaf') == 7000" "n('compare') > 100" \
// RUN:   "callers('compare') == {'work'}" "c('main', 'in_library@into') == 10" "c('main', 'in_library@into', 'inner') == 20" \
// RUN:   "c('main', 'in_library@into', 'leaf') == 10" "n('leaf') == 7000 + 10 + 500 + 3 * 7000 + 1" "n('thread') == 3" \
// RUN:   "size('thread') == 1" "c('thread', 'work@thread', 'leaf@leaf') == 3 * 7000" "n('jumps') == 500" "nodes < 60" < %t.json
// RUN: %midflight report --contexts --no-source %t %t.mfp | FileCheck %s
// CHECK: main
// Merged, it is an ordinary profile.
// RUN: %midflight merge -o %t.merged %t.mfp && %show --contexts --library %t.so %t %t.merged | cmp - %t.json
// RUN: rm -f %t.ordinary && not --crash env MIDFLIGHT_CONTEXTS=hcct:0.01:0.005 MIDFLIGHT_PROFILE=%%c%t.hot.mfp %t %t.so %t.ordinary
// RUN: %show --contexts --library %t.so %t %t.hot.mfp > %t.json
// RUN: %show --contexts --library %t.so %t %t.ordinary | cmp - %t.json
// RUN: %tree %s "mode == 'hcct'" "elsewhere == 0" "between('main', 'work@work', 'leaf@leaf')[0] <= 7000 <= between('main', 'work@work', 'leaf@leaf')[1]" < %t.json
// A library may have paths in the place of contexts.
// RUN: %cc %level -fPIC -shared -fno-unroll-loops -DLIBRARY %s -o %t.so
// RUN: rm -f %t.ordinary && not --crash env MIDFLIGHT_PROFILE=%%c%t.mfp %t %t.so %t.ordinary
// RUN: %show --contexts --library %t.so %t %t.mfp > %t.json
// RUN: %show --contexts --library %t.so %t %t.ordinary | cmp - %t.json
// RUN: %tree %s "elsewhere == 0" "c('main', 'leaf') == 10" "n('inner') == 0" < %t.json
// RUN: %show --library %t.so %t %t.mfp > %t.json
// RUN: %show --library %t.so %t %t.ordinary | cmp - %t.json
// RUN: FileCheck --check-prefix=PATHS %s < %t.json
// PATHS: "name":"in_library"
// Killed at any time, in a storm of signals
// RUN: sh -c '(MIDFLIGHT_PROFILE=%%c%t.at_any.mfp exec %t forever) & sleep 0.4; kill -9 $!; wait $!; test $? = 137'
// RUN: %show --contexts %t %t.at_any.mfp | %tree %s "c('main') == 1" "c('main', 'forever') == 1" \
// RUN:   "0 <= n('first') - n('second') <= 1" "c('main', 'forever', 'first@first') == n('first') > 1000" \
// RUN:   "n('handler') > 0" "callers('first') == {'forever'}" "callers('second') == {'forever'}"
#define APART __attribute__((noinline))
void leaf(void);
void in_library(void);
#ifdef LIBRARY
static volatile int sink;
APART static void inner(void) { sink = 1; }
void in_library(void) {
  for (int i = 0; i < 2; i++)
    inner();
  leaf();
  sink = 2;
}
#else
#include <dlfcn.h>
#include <midflight.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>
static volatile int sink;
static const char *ordinary;
__attribute__((visibility("default"))) APART void leaf(void) { sink = 1; }
APART static int compare(const void *a, const void *b) {
  return *(const int *)a - *(const int *)b;
}
APART static void work(void) {
  int numbers[64];
  for (int i = 0; i < 64; i++)
    numbers[i] = i * 17 % 64;
  qsort(numbers, 64, sizeof *numbers, compare);
  for (int i = 0; i < 7000; i++)
    leaf(); // @leaf
  sink = numbers[0];
}
static jmp_buf jump;
APART static void jumps(void) {
  leaf();
  longjmp(jump, 1);
}
static void *thread(void *unused) {
  work(); // @thread
  sink = 3;
  return unused;
}
APART static void ends(int signal) {
  leaf();
  if (midflight_profile_write(ordinary))
    _exit(signal);
  kill(getpid(), SIGKILL);
  sink = 4;
}
APART static void first(void) { sink = 5; }
APART static void second(void) { sink = 6; }
APART static void handler(int signal) { sink = signal; }
APART static void forever(void) {
  struct itimerval often = {{0, 50}, {0, 50}};
  signal(SIGALRM, handler);
  setitimer(ITIMER_REAL, &often, NULL);
  for (;;) {
    first(); // @first
    second();
  }
}
int main(int argc, char **argv) {
  ordinary = argv[argc - 1];
  if (argc == 2)
    forever();
  work(); // @work
  volatile int rounds = 0;
  setjmp(jump);
  if (rounds++ < 500)
    jumps();
  for (int i = 0; i < 3; i++) {
    pthread_t id;
    if (pthread_create(&id, NULL, thread, NULL) || pthread_join(id, NULL))
      return 1;
  }
  for (int round = 0; round < 2; round++) {
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    void (*f)(void) = library ? (void (*)(void))dlsym(library, "in_library") : NULL;
    if (!f)
      return 1;
    for (int i = 0; i < 5; i++)
      f(); // @into
    if (dlclose(library))
      return 2;
  }
  signal(SIGUSR1, ends);
  raise(SIGUSR1);
  return 3;
}
#endif
