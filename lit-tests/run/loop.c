// The sequences of iterations, on source lines: a branch that goes left, right, left, right.
// RUN: %cc %level --midflight-k=4 %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t && %show %t %t.mfp | %expect \
// RUN:   "f('alternate')['entries'] == 1" "total('alternate') == 101" \
// RUN:   "count('alternate', 20) == 50" "count('alternate', 18) == 50" \
// RUN:   "count('alternate', 20, 18) == 50" "count('alternate', 18, 20) == 49" \
// RUN:   "count('alternate', 20, 20) == 0" "count('alternate', 18, 20, 18, 20) == 48" \
// RUN:   "max(len(p['ids']) for p in f('alternate')['paths']) == 4"
// RUN: %cc -O2 --midflight-k=1 %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t && %show %t %t.mfp | %expect \
// RUN:   "document['k'] == 1" "all(len(p['ids']) == 1 for p in f('alternate')['paths'])"
#include <stdio.h>

volatile int left, right;

__attribute__((noinline)) void alternate(int n) {
  for (int i = 0; i < n; i++) {
    if (i % 2)
      // odd
      left++;
    else
      right++;
  }
}

int main(void) {
  alternate(100);
  return !(left == 50 && right == 50);
}
