// Each activation has a stream of its own, though they interleave.
// RUN: %cc %level --midflight-k=3 %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t && %show %t %t.mfp | %expect \
// RUN:   "f('walk')['entries'] == 1 + 3 + 9 + 27" "f('walk')['interrupted'] == 0" \
// RUN:   "total('walk') == 27 + 13 * 4" \
// RUN:   "count('walk', 14, 14) == 13 * 2" "count('walk', 14, 14, 14) == 13"
static int leaves;

__attribute__((noinline)) static void walk(int depth) {
  if (depth == 0) {
    leaves++;
    return;
  }
  for (int i = 0; i < 3; i++)
    walk(depth - 1);
}

int main(void) {
  walk(3);
  return leaves != 27;
}
