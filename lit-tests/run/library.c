// An instrumented library, linked and loaded at run time: one profile has both images.
// RUN: %cc %level -fPIC -shared -DLIBRARY %s -o %t.so
// RUN: %cc %level %s -o %t -ldl && env MIDFLIGHT_PROFILE=%t.mfp %t %t.so
// RUN: %midflight show --format json --library %t.so %t %t.mfp | %expect "f('in_library')['entries'] == 12" "f('main')['entries'] == 1"
// It is found where it was loaded from;
// RUN: %midflight show --format json %t %t.mfp 2>&1 | %expect "f('in_library')['entries'] == 12" "f('main')['entries'] == 1"
// but not where it is another build now, or away.
// RUN: mv %t.so %t.moved && %cc %level -fPIC -shared -DLIBRARY -DVOLATILE %s -o %t.so
// RUN: %midflight show --format json %t %t.mfp 2>%t.note | %expect "f('main')['entries'] == 1" "len(document['functions']) == 1"
// RUN: FileCheck %s --check-prefix=REBUILT < %t.note
// RUN: rm %t.so
// RUN: %midflight show --format json %t %t.mfp 2>%t.note | %expect "f('main')['entries'] == 1"
// RUN: FileCheck %s --check-prefix=AWAY < %t.note
// RUN: %midflight show --format json --library %t.moved %t %t.mfp 2>&1 | %expect "f('in_library')['entries'] == 12"
// REBUILT: note: 1 function of 1 image is not shown: '{{.*}}.so' is another build now; give it with --library
// AWAY: note: 1 function of 1 image is not shown: '{{.*}}.so' is not there; give it with --library
#ifdef LIBRARY
static volatile int sink;
void in_library(int n) {
#ifdef VOLATILE
  if (n == sink)
    return;
#endif
  for (int i = 0; i < n; i++)
    sink += i;
}
#else
#include <dlfcn.h>
int main(int argc, char **argv) {
  for (int round = 0; round < 2; round++) {
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return 1;
    void (*f)(int) = (void (*)(int))dlsym(library, "in_library");
    for (int i = 0; i < 6; i++)
      f(i);
    if (dlclose(library))
      return 2;
  }
  return 0;
}
#endif
