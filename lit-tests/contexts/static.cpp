// Programs that are linked statically have the runtime and the unwinder in them.
// RUN: %cxx %level -static -fno-unroll-loops --midflight-contexts %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t
// RUN: %show --contexts %t %t.mfp | %tree %s "elsewhere == 0" "c('main') == 1" "c('main', 'catches@own') == 100" \
// RUN:   "c('main', 'catches@own', 'throws') == 100" "c('main', 'catches@own', 'leaf@caught') == 50" \
// RUN:   "c('main', 'tries@tries') == 100" "c('main', 'tries@tries', 'jumps') == 100" "c('main', 'tries@tries', 'leaf@back') == 100" \
// RUN:   "c('main', 'compare@sort', 'leaf') == c('main', 'compare@sort') > 50" "c('main', 'leaf@last') == 1"
#include <csetjmp>
#include <cstdlib>

#define APART extern "C" __attribute__((noinline))
static volatile int sink;
static jmp_buf buffer;
APART void leaf() { sink = sink + 1; }
APART void throws(int n) {
  sink = n;
  if (n % 2)
    throw n;
}
APART void catches(int n) {
  try {
    throws(n);
  } catch (int) {
    leaf(); // @caught
  }
  sink = n;
}
APART void jumps() {
  sink = 1;
  longjmp(buffer, 1);
}
APART void tries() {
  if (!setjmp(buffer))
    jumps();
  else
    leaf(); // @back
  sink = 2;
}
APART int compare(const void *a, const void *b) {
  leaf();
  return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}
int main() {
  int numbers[50];
  for (int i = 0; i < 100; i++) {
    catches(i); // @own
    tries();    // @tries
  }
  for (int i = 0; i < 50; i++)
    numbers[i] = i * 37 % 50;
  qsort(numbers, 50, sizeof *numbers, compare); // @sort
  leaf();                                       // @last
  return 0;
}
