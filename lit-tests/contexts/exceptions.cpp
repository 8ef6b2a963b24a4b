// Exceptions that go through frames of code that is not instrumented, are caught there or in instrumented code, and are
// thrown again: what is called next has its context where the stack is.
// RUN: clang++ %level -DPLAIN -c %s -o %t.plain.o
// RUN: %cxx %level --midflight-contexts %s %t.plain.o -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t
// RUN: %show --contexts %t %t.mfp | %tree %s "elsewhere == 0" "c('main') == 1" \
// RUN:   "c('main', 'in_plain@plain') == 300" "c('main', 'in_plain@plain', 'guard') == 300" \
// RUN:   "c('main', 'in_plain@plain', 'guard', 'throws@thrower') == 300" \
// RUN:   "c('main', 'in_plain@plain', 'guard', 'release') == 300" \
// RUN:   "c('main', 'in_plain@plain', 'leaf@in_plain') == 200" \
// RUN:   "c('main', 'leaf@behind') == 300" \
// RUN:   "c('main', 'catches@own') == 300" "c('main', 'catches@own', 'through@own_call') == 300" \
// RUN:   "c('main', 'catches@own', 'through@own_call', 'guard') == 300" \
// RUN:   "c('main', 'catches@own', 'leaf@caught') == 100" "c('main', 'catches@own', 'leaf@uncaught') == 200" \
// RUN:   "c('main', 'catches@own', 'through@own_call', 'leaf@in_through') == 200" \
// RUN:   "c('main', 'again@again') == 300" "c('main', 'again@again', 'rethrows') == 300" \
// RUN:   "c('main', 'again@again', 'rethrows', 'guard') == 300" "c('main', 'again@again', 'rethrows', 'leaf@rethrow') == 100" \
// RUN:   "c('main', 'again@again', 'leaf@second') == 100" \
// RUN:   "c('main', 'tells@tells', 'leaf@told') == 300" "c('main', 'leaf@last') == 1" \
// RUN:   "n('guard') == 900" "n('release') == 900" "callers('release') == {'guard'}" "callers('throws') == {'guard'}" \
// RUN:   "nodes <= 40"
extern "C" {
void call_and_catch(void (*f)(int), int n);
void call_through(void (*f)(int), int n);
void in_plain(int n);
}

#ifdef PLAIN
struct Room {
  volatile char bytes[128];
  Room() { bytes[0] = 1; }
  ~Room() { bytes[1] = 2; }
};
extern "C" void call_and_catch(void (*f)(int), int n) {
  Room room;
  try {
    f(n);
  } catch (...) {
  }
}
extern "C" void call_through(void (*f)(int), int n) {
  Room room;
  f(n);
}
#else
#define APART extern "C" __attribute__((noinline))
static volatile int sink;

APART void leaf() { sink = sink + 1; }
APART void release() { sink = sink + 1; }

struct Guard {
  __attribute__((always_inline)) ~Guard() { release(); }
};

APART int throws(int n) {
  if (n % 3 == 0)
    throw n;
  return n;
}

APART int guard(int n) {
  Guard guard;
  return throws(n) + 1; // @thrower
}

APART void in_plain(int n) {
  guard(n);
  leaf(); // @in_plain
  sink = n;
}

APART void through(int n) {
  guard(n);
  leaf(); // @in_through
  sink = n;
}

APART void catches(int n) {
  try {
    call_through(through, n); // @own_call
    leaf();                   // @uncaught
  } catch (int) {
    leaf(); // @caught
  }
  sink = n;
}

APART void rethrows(int n) {
  try {
    guard(n);
  } catch (int) {
    leaf(); // @rethrow
    throw;
  }
  sink = n;
}

APART void again(int n) {
  try {
    call_through(rethrows, n);
  } catch (...) {
    leaf(); // @second
  }
  sink = n;
}

APART void tells(int n) {
  leaf(); // @told
  sink = n;
}

int main() {
  for (int i = 0; i < 300; i++) {
    call_and_catch(in_plain, i); // @plain
    leaf();                      // @behind
    catches(i);                  // @own
    again(i);                    // @again
    tells(i);                    // @tells
  }
  leaf(); // @last
  return 0;
}
#endif
