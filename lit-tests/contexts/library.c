// An instrumented library that is loaded, called and unloaded in a loop: all counts are in the same contexts, and what it
// calls back stands below it.
// RUN: %cc %level -fPIC -shared -fno-unroll-loops --midflight-contexts -DLIBRARY %s -o %t.so
// RUN: %cc %level -fno-unroll-loops --midflight-contexts %s -Wl,--export-dynamic-symbol=leaf -o %t -ldl && env MIDFLIGHT_PROFILE=%t.mfp %t %t.so
// RUN: %show --contexts --library %t.so %t %t.mfp | %tree %s "elsewhere == 0" "c('main') == 1" "nodes <= 9" "size('main', 'in_library@into') == 1" \
// RUN:   "c('main', 'in_library@into') == 120" "c('main', 'in_library@into', 'inner') == 240" \
// RUN:   "c('main', 'in_library@into', 'inner', 'leaf') == 240" "c('main', 'in_library@into', 'back') == 120" \
// RUN:   "c('main', 'in_library@into', 'back', 'leaf') == 120" "c('main', 'leaf@behind') == 20"
// It is found where it was loaded from.
// RUN: %show --contexts %t %t.mfp | %tree %s "nodes <= 9" "size('main', 'in_library@into') == 1" "n('in_library') == 120"
// Without it there are its keys.
// RUN: mv %t.so %t.moved
// RUN: %midflight show --contexts %t %t.mfp 2>&1 | FileCheck %s
// CHECK-DAG: note: {{.*}}.so
// CHECK-DAG: 120    {{.*}}.so!{{[0-9a-f]+}}
#define APART __attribute__((noinline))
void leaf(void);
void in_library(void (*back)(void));
#ifdef LIBRARY
static volatile int sink;
APART static void inner(void) {
  leaf();
  sink = 1;
}
void in_library(void (*back)(void)) {
  for (int i = 0; i < 2; i++)
    inner();
  back();
  sink = 2;
}
#else
#include <dlfcn.h>
static volatile int sink;
__attribute__((visibility("default"))) APART void leaf(void) { sink = 1; }
APART static void back(void) {
  leaf();
  sink = 2;
}
int main(int argc, char **argv) {
  for (int round = 0; round < 20; round++) {
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return 1;
    void (*f)(void (*)(void)) = (void (*)(void (*)(void)))dlsym(library, "in_library");
    for (int i = 0; i < 6; i++)
      f(back); // @into
    if (dlclose(library))
      return 2;
    leaf(); // @behind
  }
  return 0;
}
#endif
