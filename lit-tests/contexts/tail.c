// Functions that call each other in tail position need no stack, and the tree stays small: in such a chain each function
// has one context.
// RUN: %cc -O2 -DDEEP=1000000 --midflight-contexts %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp sh -c 'ulimit -s 256; %t'
// RUN: %show --contexts %t %t.mfp | %tree %s "elsewhere == 0" "nodes <= 25" \
// RUN:   "n('even') == 5000001" "n('odd') == 5000000" \
// RUN:   "n('seven') == 500001" "n('sodd') == 500000" \
// RUN:   "c('main', 'even@even') == 5000001" "c('main', 'even@even', 'odd@tail') == 5000000" \
// RUN:   "n('a') + n('b') + n('c') == 900000" "size('main', 'a@three') == 1" \
// RUN:   "n('leaf') == 900000 + 300" "c('main', 'first@first') == 100" "n('last') == 200" "c('main', 'last@last') == 100" \
// RUN:   "c('main', 'first@first', 'last@tail') == 100" "c('main', 'first@first', 'last@tail', 'leaf') == 100" \
// RUN:   "c('main', 'leaf@leaf') == 100"
// Without optimization, musttail alone is in tail position, at any stage.
// RUN: %cc -O0 -DDEEP=1000 --midflight-contexts %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t
// RUN: %show --contexts %t %t.mfp | %tree %s "elsewhere == 0" \
// RUN:   "c('main', 'even@even') == 5000001" "c('main', 'even@even', 'odd@tail') == 5000000" "c('main', 'first@first', 'last@in_first') == 100"
// RUN: %cc -O2 -DDEEP=1000000 --midflight-contexts --midflight-stage=early %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp sh -c 'ulimit -s 256; %t'
// RUN: %show --contexts %t %t.mfp | %tree %s "elsewhere == 0" "nodes <= 25" \
// RUN:   "c('main', 'even@even') == 5000001" "c('main', 'even@even', 'odd@tail') == 5000000"
#define TAIL __attribute__((musttail))
#define APART __attribute__((noinline))
static volatile int sink;

APART int odd(long n);
APART int even(long n) {
  if (n == 0)
    return 1;
  TAIL return odd(n - 1);
}
APART int odd(long n) {
  if (n == 0)
    return 0;
  TAIL return even(n - 1);
}

// Without the attribute
static int sodd(long n);
APART static int seven(long n) {
  __asm__ volatile("");
  return n == 0 ? 1 : sodd(n - 1);
}
APART static int sodd(long n) {
  __asm__ volatile("");
  return n == 0 ? 0 : seven(n - 1);
}

// Three, of which each calls one that returns before.
APART static void leaf(void) { sink++; }
APART static int b(long n);
APART static int c(long n);
APART static int a(long n) {
  leaf();
  TAIL return b(n);
}
APART static int b(long n) {
  leaf();
  TAIL return c(n - 1);
}
APART static int c(long n) {
  leaf();
  if (n <= 0) return (int)n;
  TAIL return a(n);
}

APART static int last(int n) {
  leaf();
  return n + sink;
}
APART static int first(int n) {
  __asm__ volatile("");
  return last(n + 1); // @in_first
}

int main(void) {
  int bad = 0, i;
  long many = 10000000;
  bad |= !even(many); // @even
  bad |= !seven(DEEP);
  bad |= a(300000); // @three
  for (i = 0; i < 100; i++)
    bad |= first(i) == 0; // @first
  for (i = 0; i < 100; i++)
    bad |= last(i) == 0; // @last
  for (i = 0; i < 100; i++)
    leaf(); // @leaf
  return bad;
}
