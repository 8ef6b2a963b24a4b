// At the stage `inlined` a small function is profiled as part of those that call it, and what could be a select is
// still a branch, whose ways are paths. A larger one with a single caller stays itself, and is inlined later.
// RUN: %cc -O2 --midflight-stage=inlined %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t 90 && %show %t %t.mfp | %expect \
// RUN:   "{g['name'] for g in document['functions']} == {'main', 'once', 'work'}" "f('once')['entries'] == 1" \
// RUN:   "sorted(p['count'] for p in f('work')['paths'])[-2:] == [30, 60]"
// Nothing is inlined without optimization, or at the stage `early`.
// RUN: %cc -O0 --midflight-stage=inlined %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t 90 && %show %t %t.mfp | %expect \
// RUN:   "f('small')['entries'] == 90"
// RUN: %cc -O2 --midflight-stage=early %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t 90 && %show %t %t.mfp | %expect \
// RUN:   "f('small')['entries'] == 90"

// The profile leads the optimizer at the same stage; where what the source expects is wrong, LLVM says so.
// RUN: %cc -O2 --midflight-stage=inlined --midflight-k=1 %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t 90
// RUN: %midflight export --to weights -o %t.weights %t %t.mfp && grep -c '"stage":"inlined"' %t.weights
// RUN: %midflight cc --midflight-llvm=%llvm --midflight-use=%t.weights -O2 -Rpass-missed=midflight -Rpass=misexpect \
// RUN:   -S -emit-llvm %s -o %t.ll 2>&1 | FileCheck %s --check-prefix=REMARK --implicit-check-not=remark:
// RUN: FileCheck %s --implicit-check-not=midflight-one-caller --implicit-check-not='@once(' < %t.ll
// REMARK: remark: Potential performance regression from use of the llvm.expect intrinsic: Annotation was correct on 0.00% (0 / 90)
// CHECK: define {{.*}} @work({{.*}}!prof ![[WORK:[0-9]+]]
// CHECK: select {{.*}}!prof ![[SELECT:[0-9]+]]
// CHECK-DAG: ![[WORK]] = !{!"function_entry_count", i64 90}
// CHECK-DAG: ![[SELECT]] = !{!"branch_weights", i32 {{30|60}}, i32 {{30|60}}}
#include <stdlib.h>

int value = 5;

static int small(int i) {
  int result = 3;
  if (i % 3)
    result = value;
  return result;
}

__attribute__((noinline)) int work(int i) {
  int result = small(i);
  if (__builtin_expect(i > 1000, 1))
    abort();
  return result;
}

volatile int cell;

static void once(int n) {
  for (int i = 0; i < n; i++) {
    cell = cell + i;
    cell = cell * 3;
    cell = cell ^ n;
    cell = cell - 7;
  }
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 0, sum = 0;
  once(cell);
  for (int i = 0; i < n; i++)
    sum += work(i);
  return sum == 0;
}
