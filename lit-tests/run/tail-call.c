// A call in tail position stays there: a million of them need no stack.
// RUN: %cc -O2 %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp sh -c 'ulimit -s 256; %t' && %show %t %t.mfp | %expect \
// RUN:   "f('even')['entries'] == 500001" "f('odd')['entries'] == 500000"
__attribute__((noinline)) int odd(int n);
__attribute__((noinline)) int even(int n) {
  if (n == 0)
    return 1;
  __attribute__((musttail)) return odd(n - 1);
}
__attribute__((noinline)) int odd(int n) {
  if (n == 0)
    return 0;
  __attribute__((musttail)) return even(n - 1);
}
int main(void) { return !even(1000000); }
