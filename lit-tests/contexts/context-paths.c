// The paths of a function are counted for each context that it is called in often: which it takes for whom. All of them together
// are what the function has taken, and each context has as many activations as it was entered.
// RUN: %cc %level -fno-unroll-loops -fno-inline -fPIC -shared --midflight-contexts --midflight-k=3 --midflight-context-paths -DLIBRARY %s -o %t.so
// RUN: %cc %level -fno-unroll-loops -fno-inline --midflight-contexts --midflight-k=3 --midflight-context-paths %s -o %t -ldl -pthread
// RUN: env MIDFLIGHT_CONTEXT_PATHS=0 MIDFLIGHT_PROFILE=%t.mfp %t %t.so
// RUN: %show --contexts --library %t.so %t %t.mfp > %t.json
// RUN: %midflight report --context-paths --format json --top 100 --library %t.so %t %t.mfp > %t.paths
// RUN: python3 %S/Inputs/paths_of.py %t.json %t.paths classify visit compare thread in_library recurse
// RUN: %midflight report --context-paths --function classify --no-legend --library %t.so %t %t.mfp | FileCheck %s
// CHECK: classify context-paths.c:[[#]]
// CHECK:   activations   paths
// CHECK-NEXT: 4,000 [[ONE:[A-Z]+]] 100.0 % main:[[#LINE:]] → odd:[[#]]
// CHECK-NEXT: 3,000 [[OTHER:[A-Z]+]] 100.0 % main:[[#LINE+1]] → even:[[#]]
// CHECK-NEXT: 1,000 {{.*}} 50.0 %, {{.*}} 50.0 % main:[[#LINE+2]] → both:[[#]]
// A profile has what one without contexts has.
// RUN: %cc %level -fno-unroll-loops -fno-inline -fPIC -shared --midflight-stage=late --midflight-k=3 -DLIBRARY %s -o %t.only.so
// RUN: %cc %level -fno-unroll-loops -fno-inline --midflight-stage=late --midflight-k=3 %s -o %t.only -ldl -pthread
// RUN: env MIDFLIGHT_PROFILE=%t.only.mfp %t.only %t.only.so
// RUN: %show --library %t.only.so %t.only %t.only.mfp > %t.only.json
// RUN: %show --library %t.so %t %t.mfp | diff - %t.only.json
// Only contexts that are hot have paths of their own, and what others have taken is known together.
// RUN: env MIDFLIGHT_CONTEXT_PATHS=2000 MIDFLIGHT_PROFILE=%t.hot.mfp %t %t.so
// RUN: %show --contexts --library %t.so %t %t.hot.mfp | cmp - %t.json
// RUN: %midflight report --context-paths --format json --top 100 --library %t.so %t %t.hot.mfp > %t.paths
// RUN: python3 %S/Inputs/paths_of.py %t.json %t.paths -
// RUN: %show --library %t.so %t %t.hot.mfp | diff - %t.only.json
// RUN: %midflight report --context-paths --function classify --no-legend --library %t.so %t %t.hot.mfp | FileCheck %s --check-prefix=HOT
// HOT: 8,000 activations, 2 contexts with paths of their own
// HOT: 2,001 {{.*}} main:[[#]] → odd:[[#]]
// HOT-NEXT: 1,001 {{.*}} main:[[#]] → even:[[#]]
// HOT-NEXT: 4,998 {{.*}} all other contexts
// Hot contexts in bounded memory; counted in a file, killed; added up; with times, and by functions.
// RUN: env MIDFLIGHT_CONTEXT_PATHS=0 MIDFLIGHT_CONTEXTS=hcct:0.01:0.001 MIDFLIGHT_PROFILE=%t.hcct.mfp %t %t.so
// RUN: %show --library %t.so %t %t.hcct.mfp | diff - %t.only.json
// RUN: %show --contexts --library %t.so %t %t.hcct.mfp > %t.hcct.json
// RUN: %midflight report --context-paths --format json --top 100 --library %t.so %t %t.hcct.mfp > %t.hcct.paths
// RUN: python3 %S/Inputs/paths_of.py %t.hcct.json %t.hcct.paths classify
// RUN: not --crash env MIDFLIGHT_CONTEXT_PATHS=0 MIDFLIGHT_PROFILE=%%c%t.live.mfp %t %t.so %t.ordinary
// RUN: %midflight report --context-paths --format json --top 100 --library %t.so %t %t.ordinary > %t.paths
// RUN: %midflight report --context-paths --format json --top 100 --library %t.so %t %t.live.mfp | cmp - %t.paths
// RUN: %midflight merge -o %t.sum.mfp %t.mfp %t.hot.mfp %t.live.mfp
// RUN: %show --contexts --library %t.so %t %t.sum.mfp > %t.json
// RUN: %midflight report --context-paths --format json --top 100 --library %t.so %t %t.sum.mfp > %t.paths
// RUN: python3 %S/Inputs/paths_of.py %t.json %t.paths -
// RUN: %cc %level -fno-unroll-loops -fno-inline --midflight-contexts --midflight-k=1 --midflight-context-paths --midflight-times --midflight-granularity=functions --midflight-stage=inlined %s -o %t.times -ldl -pthread
// RUN: env MIDFLIGHT_CONTEXT_PATHS=0 MIDFLIGHT_PROFILE=%t.times.mfp %t.times
// RUN: %midflight report --context-paths --function classify --no-legend %t.times %t.times.mfp | FileCheck %s --check-prefix=TIMES
// TIMES: 4,000 {{.*}} 100.0 % main → odd
// Without memory for more forests all is counted together.
// RUN: env MIDFLIGHT_CONTEXT_PATHS=0 MIDFLIGHT_THREAD_MEMORY=1K MIDFLIGHT_PROFILE=%t.short.mfp %t %t.so
// RUN: %show --contexts --library %t.so %t %t.short.mfp > %t.json
// RUN: %midflight report --context-paths --format json %t %t.short.mfp 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not %midflight report --context-paths %t.only %t.only.mfp 2>&1 | FileCheck %s --check-prefix=NO-CONTEXTS
// NONE: {{no context in the profile has paths of its own|"others"}}
// NO-CONTEXTS: there are no calling contexts in the profile
#include <dlfcn.h>
#include <midflight.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

static volatile int sink;

#ifdef LIBRARY
int in_library(int x) {
  if (x % 3 == 0)
    return sink = x;
  return -x;
}
#else

int classify(int x) {
  if (x & 1) {
    sink = x;
    return 1;
  }
  sink = -x;
  sink = sink * 2;
  return 2;
}

int odd(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += classify(2 * i + 1);
  return sum;
}

int even(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += classify(2 * i);
  return sum;
}

int both(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += classify(i);
  return sum;
}

int visit(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += i % 5 ? sink : -i;
  return sum;
}

int recurse(int n) {
  if (n == 0)
    return visit(3);
  return recurse(n - 1) + visit(n);
}

int compare(const void *a, const void *b) {
  if (*(const int *)a > *(const int *)b)
    return visit(2) ? 1 : 2;
  return -1;
}

void *thread(void *argument) {
  for (int i = 0; i < 100; i++)
    sink = i % 7 ? visit(i) : i;
  return argument;
}

int main(int argc, char **argv) {
  sink = odd(4000);
  sink += even(3000);
  sink += both(1000);
  sink += recurse(30);
  int v[200];
  for (int i = 0; i < 200; i++)
    v[i] = i * 7919 % 211;
  qsort(v, 200, sizeof *v, compare);
  pthread_t threads[3];
  for (int i = 0; i < 3; i++)
    pthread_create(&threads[i], 0, thread, 0);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], 0);
  // It is unloaded, and loaded again.
  for (int round = 0; argc > 1 && round < 3; round++) {
    void *library = dlopen(argv[1], RTLD_NOW);
    int (*in_library)(int) = (int (*)(int))dlsym(library, "in_library");
    for (int i = 0; i < 300; i++)
      sink += in_library(i);
    dlclose(library);
  }
  if (argc > 2) {
    midflight_profile_write(argv[2]);
    raise(SIGKILL);
  }
  return 0;
}
#endif
