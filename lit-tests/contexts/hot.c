// Hot contexts in bounded memory: those that are hot are there, with counts that are within their bounds, whatever is cold.
// RUN: %cc %level -fno-unroll-loops --midflight-contexts %s -o %t
// RUN: env MIDFLIGHT_CONTEXTS=hcct:0.01:0.005 MIDFLIGHT_PROFILE=%t.mfp %t
// RUN: %show --contexts %t %t.mfp | %tree %s "mode == 'hcct'" "elsewhere == 0" "0 < floor <= activations / 200" "nodes < 1000" \
// RUN:   "between('main', 'leaf@hot')[0] <= 40000 <= between('main', 'leaf@hot')[1]" "activations == 40000 + 100 * 4095 + 1 + 40001"
// RUN: %midflight report --no-source %t %t.mfp | FileCheck %s
// CHECK: hot calling contexts, by call sites: all with 1 % of the activations (φ) are there, counts are known to 0.5 % (ε), and others had
// Deeper than there is memory for: what does not fit has no context, and is stated.
// RUN: env MIDFLIGHT_CONTEXTS=hcct:0.01:0.005 MIDFLIGHT_THREAD_MEMORY=300K MIDFLIGHT_PROFILE=%t.mfp %t 2>&1 | FileCheck --check-prefix=SHORT %s
// RUN: %show --contexts %t %t.mfp | %tree %s "elsewhere > 30000" "activations == 40000 + 100 * 4095 + 1 + 40001"
// SHORT: has no calling context for {{[0-9]+}} calls, since memory has run out
// What makes no sense is refused, and all contexts are kept.
// RUN: env MIDFLIGHT_CONTEXTS=hcct:2 MIDFLIGHT_PROFILE=%t.mfp %t 2>&1 | FileCheck --check-prefix=WRONG %s
// RUN: %show --contexts %t %t.mfp | %tree %s "mode == 'cct'" "c('main', 'leaf@hot') == 40000"
// WRONG: cannot use MIDFLIGHT_CONTEXTS='hcct:2'
// Pausing is refused.
// RUN: %cc %level --midflight-contexts -DPAUSE %s -o %t
// RUN: env MIDFLIGHT_CONTEXTS=hcct MIDFLIGHT_PROFILE=%t.mfp %t
#include <errno.h>
#include <midflight.h>
#define APART __attribute__((noinline))
static volatile int sink;
APART static void leaf(void) { sink = 1; }
// A tree of calls of which each has a context of its own, and all are as cold.
APART static int cold(int depth) {
  int x = depth ? cold(depth - 1) : 0;
  sink = x;
  int y = depth ? cold(depth - 1) : 0;
  sink = y;
  return x + y + 1;
}
APART static int deep(int n) {
  int x = n ? deep(n - 1) : 0;
  sink = x;
  return x + 1;
}
int main(void) {
#ifdef PAUSE
  return midflight_profile_pause() != ENOTSUP;
#endif
  int x = deep(40000);
  for (int i = 0; i < 100; i++) {
    for (int j = 0; j < 400; j++)
      leaf(); // @hot
    x += cold(11);
  }
  return x != 100 * 4095 + 40001;
}
