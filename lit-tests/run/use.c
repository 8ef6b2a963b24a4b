// A profile leads the optimizer: every function finds its counts, at the stage of the profile.
// RUN: %cc %level --midflight-stage=early %s -o %t
// RUN: env MIDFLIGHT_PROFILE=%t.mfp %t 1000
// RUN: %midflight export --to weights -o %t.weights %t %t.mfp
// RUN: %midflight cc --midflight-llvm=%llvm --midflight-use=%t.weights %level -Rpass-missed=midflight -S -emit-llvm %s -o %t.ll 2>&1 | count 0
// RUN: FileCheck %s < %t.ll
// RUN: %midflight cc --midflight-llvm=%llvm --midflight-use=%t.weights %level %s -o %t.used
// RUN: env MIDFLIGHT_PROFILE=%t.none %t.used 1000 && not ls %t.none
// The same at the late stage.
// RUN: %cc %level --midflight-stage=late --midflight-k=1 %s -o %t
// RUN: env MIDFLIGHT_PROFILE=%t.mfp %t 1000
// RUN: %midflight export --to weights -o %t.weights %t %t.mfp
// RUN: %midflight cc --midflight-llvm=%llvm --midflight-use=%t.weights %level -Rpass-missed=midflight -S -emit-llvm %s -o - 2>&1 | FileCheck %s
// Another source: a remark, and no counts.
// RUN: %midflight cc --midflight-llvm=%llvm --midflight-use=%t.weights %level -DOTHER -Rpass-missed=midflight -S -emit-llvm %s -o %t.ll 2>&1 | FileCheck %s --check-prefix=OTHER
// A warning says so unasked, once, and may be silenced.
// RUN: %midflight cc --midflight-llvm=%llvm --midflight-use=%t.weights %level -DOTHER -S -emit-llvm %s -o %t.ll 2>&1 | FileCheck %s --check-prefix=WARNING
// RUN: %midflight cc --midflight-llvm=%llvm --midflight-use=%t.weights %level -DOTHER -Wno-backend-plugin -S -emit-llvm %s -o %t.ll 2>&1 | count 0
// RUN: not %midflight cc --midflight-llvm=%llvm --midflight-use=%t.weights %level -DOTHER -Werror -S -emit-llvm %s -o %t.ll 2>&1 | FileCheck %s --check-prefix=WERROR
// WARNING: warning: {{.*}}midflight: {{[0-9]+}} of {{[0-9]+}} functions matched the profile '{{.*}}.weights'; {{[0-9]+}} with another control flow there{{.*}} [-Wbackend-plugin]
// WARNING-NOT: warning:
// WERROR: error: {{.*}}midflight: {{.*}}functions matched {{.*}}[-Werror,-Wbackend-plugin]

// CHECK: define {{.*}} @work({{.*}}!prof ![[WORK:[0-9]+]]
// CHECK-DAG: !"ProfileSummary"
// CHECK-DAG: ![[WORK]] = !{!"function_entry_count", i64 1000}
// CHECK-DAG: !{!"branch_weights", {{.*}}1
// OTHER: no counts: its control flow
#include <stdlib.h>

__attribute__((noinline)) int work(int i) {
#ifdef OTHER
  for (int j = 0; j < i; j++)
    __asm__ volatile("");
#endif
  if (__builtin_expect(i % 1000 == 7, 1)) {
    __asm__ volatile("nop");
    return abs(i) * 3;
  }
  __asm__ volatile("");
  return i;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 0, sum = 0;
  for (int i = 0; i < n; i++)
    sum += work(i);
  return sum == 0;
}
