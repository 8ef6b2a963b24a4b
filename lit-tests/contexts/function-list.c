// What a list leaves out is as code that is not instrumented: its callees stand below its caller's call.
// RUN: printf 'fun:*\n!skipped*\n' > %t.list
// RUN: %cc %level -fno-unroll-loops --midflight-contexts --midflight-functions=@%t.list %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t
// RUN: %show --contexts %t %t.mfp | %tree %s "elsewhere == 0" "c('main') == 1" "c('main', 'leaf@skipped') == 20" \
// RUN:   "c('main', 'listed@listed') == 10" "c('main', 'listed@listed', 'leaf@through') == 10" \
// RUN:   "c('main', 'listed@listed', 'leaf@direct') == 10" "c('main', 'leaf@last') == 1" \
// RUN:   "c('main', 'ends@ends') == 10" "c('main', 'ends@ends', 'leaf') + c('main', 'leaf@ends') == 10" \
// RUN:   "{at['function'] for at in contexts} == {'main', 'leaf', 'listed', 'ends'}"
// RUN: printf 'fun:leaf\n' > %t.only
// RUN: %cc %level -fno-unroll-loops --midflight-contexts --midflight-functions=@%t.only %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t
// RUN: %show --contexts %t %t.mfp | %tree %s "elsewhere == 0" "c('leaf') == 51" "nodes == 1"
#define APART __attribute__((noinline))
static volatile int sink;
APART static void leaf(void) { sink = sink + 1; }
APART static void skipped(void) {
  leaf();
  sink = 2;
}
APART static void skipped_twice(void) {
  skipped();
  leaf();
  sink = 3;
}
APART static void listed(void) {
  skipped(); // @through
  leaf();    // @direct
  sink = 4;
}
APART static void skipped_end(void) {
  leaf();
  sink = 6;
}
// In tail position
APART static void ends(void) {
  sink = 5;
  skipped_end();
}
int main(void) {
  for (int i = 0; i < 10; i++) {
    skipped_twice(); // @skipped
    listed();        // @listed
    ends();          // @ends
  }
  leaf(); // @last
  return 0;
}
