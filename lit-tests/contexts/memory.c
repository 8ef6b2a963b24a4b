// Where there is no memory for more contexts, the program works all the same, and it is stated how many activations have none.
// RUN: %cc %level -fno-unroll-loops --midflight-contexts %s -o %t
// RUN: env MIDFLIGHT_MAX_MEMORY=200K MIDFLIGHT_PROFILE=%t.mfp %t
// RUN: %show --contexts %t %t.mfp | %tree %s "elsewhere > 0" "total + elsewhere == 2 * 20001 + 2000 + 1" "total > 500" \
// RUN:   "c('main') == 1" "n('leaf') >= 1000" \
// RUN:   "0 < n('deep') and n('deep') + elsewhere_of['deep'] == 2 * 20001" "sum(elsewhere_of.values()) == elsewhere"
// RUN: %midflight report --no-source %t %t.mfp | FileCheck %s
// There may not be memory for the first one.
// RUN: env MIDFLIGHT_MAX_MEMORY=64K MIDFLIGHT_PROFILE=%t.none.mfp %t
// RUN: %show --contexts %t %t.none.mfp | %tree %s "elsewhere == 2 * 20001 + 2000 + 1" "nodes == 0"
// RUN: env MIDFLIGHT_CONTEXTS=hcct:0.1 MIDFLIGHT_MAX_MEMORY=64K MIDFLIGHT_PROFILE=%t.hot.mfp %t
// RUN: %show --contexts %t %t.hot.mfp | %tree %s "mode == 'hcct'" "elsewhere == 2 * 20001 + 2000 + 1" "nodes == 0"
// RUN: env MIDFLIGHT_PROFILE=%t.all.mfp %t
// RUN: %show --contexts %t %t.all.mfp | %tree %s "elsewhere == 0" "total == 2 * 20001 + 2000 + 1" "nodes == 2 * 20001 + 3"
// CHECK: counted: 42,003 activations of {{.*}} without context, as memory was short or a signal came (deep {{[0-9,]+}}{{.*}})
#define APART __attribute__((noinline))
static volatile int sink;
APART static void leaf(void) { sink = 1; }
APART static int deep(int n) {
  int x = n ? deep(n - 1) : 0;
  sink = x;
  return x + 1;
}
int main(void) {
  int x = 0;
  for (int i = 0; i < 1000; i++)
    leaf();
  x += deep(20000);
  x += deep(20000);
  for (int i = 0; i < 1000; i++)
    leaf();
  return x != 2 * 20001;
}
