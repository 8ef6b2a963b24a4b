// A frame that longjmp skips just ends, and counts as interrupted; behind each return of setjmp the
// stream begins anew.
// RUN: %cc %level --midflight-k=4 %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t && %show %t %t.mfp | %expect \
// RUN:   "f('deep')['entries'] == 10 * 3" "completed('deep') == 0" \
// RUN:   "f('jump')['entries'] == 10" "f('try')['entries'] == 10" \
// RUN:   "count('try', 30) == 10" "count('try', 27) == 0"
#include <setjmp.h>

static jmp_buf buffer;
static volatile int caught, hops;

__attribute__((noinline)) static void jump(void) {
  hops++;
  longjmp(buffer, 1);
}

__attribute__((noinline)) static int deep(int n) {
  if (n)
    return deep(n - 1) + 1;
  jump();
  return 1;
}

__attribute__((noinline)) static void try(void) {
  if (setjmp(buffer) == 0) {
    deep(2);
    hops = -1;
  } else {
    // came back
    caught++;
  }
}

int main(void) {
  for (int i = 0; i < 10; i++)
    try();
  return !(caught == 10 && hops == 10);
}
