// Full and thin LTO, where functions are inlined behind the instrumentation, when the program is linked.
// RUN: clang -O2 -DPLAIN -c %s -o %t.plain.o
// RUN: %cc -O2 -fno-unroll-loops -flto --midflight-contexts -DOTHER -c %s -o %t.other.o
// RUN: %cc -O2 -fno-unroll-loops -flto -fuse-ld=lld --midflight-contexts %s %t.other.o %t.plain.o -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t
// RUN: %show --contexts %t %t.mfp | %tree %s "elsewhere == 0" "n('main') == 1" "c('main', 'work@work') == 30" \
// RUN:   "c('main', 'work@work', 'leaf@loop') == 60" "c('main', 'called@plain') == 30" "c('main', 'called@plain', 'small') == 30" \
// RUN:   "c('main', 'called@plain', 'small', 'leaf@small') == 30" "n('leaf') == 90" "total == 181"
// RUN: %cc -O2 -fno-unroll-loops -flto=thin --midflight-contexts -DOTHER -c %s -o %t.other.o
// RUN: %cc -O2 -fno-unroll-loops -flto=thin -fuse-ld=lld --midflight-contexts %s %t.other.o %t.plain.o -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t
// RUN: %show --contexts %t %t.mfp | %tree %s "elsewhere == 0" "n('main') == 1" "c('main', 'work@work') == 30" \
// RUN:   "c('main', 'work@work', 'leaf@loop') == 60" "c('main', 'called@plain') == 30" "c('main', 'called@plain', 'small') == 30" \
// RUN:   "c('main', 'called@plain', 'small', 'leaf@small') == 30" "n('leaf') == 90" "total == 181"
// The same for code that is instrumented early.
// RUN: %cc -O2 -fno-unroll-loops -flto --midflight-contexts --midflight-stage=early -DOTHER -c %s -o %t.other.o
// RUN: %cc -O2 -fno-unroll-loops -flto -fuse-ld=lld --midflight-contexts --midflight-stage=early %s %t.other.o %t.plain.o -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t
// RUN: %show --contexts %t %t.mfp | %tree %s "elsewhere == 0" "n('main') == 1" "c('main', 'work@work') == 30" \
// RUN:   "c('main', 'work@work', 'leaf@loop') == 60" "c('main', 'called@plain') == 30" "c('main', 'called@plain', 'small') == 30" \
// RUN:   "c('main', 'called@plain', 'small', 'leaf@small') == 30" "n('leaf') == 90" "total == 181"
// Records of functions that the linker drops do no harm.
// RUN: %cc -O1 -DOTHER -ffunction-sections -fdata-sections --midflight-contexts -c %s -o %t.other.o
// RUN: %cc -O1 -fno-unroll-loops -ffunction-sections -fdata-sections -Wl,--gc-sections -fuse-ld=lld --midflight-contexts %s %t.other.o %t.plain.o -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t
// RUN: %show --contexts %t %t.mfp | %tree %s "elsewhere == 0" "c('main', 'called@plain', 'small', 'leaf@small') == 30" "total == 181"
void call(void (*f)(void));
void leaf(void), small(void), called(void), work(void), unused(void);
extern volatile int sink;

#if defined(PLAIN)
volatile int sink, rounds = 30;
void call(void (*f)(void)) {
  for (int i = 0; i < rounds; i++)
    f();
}
#elif defined(OTHER)
void leaf(void) { sink++; }
void unused(void) { leaf(); }
void called(void) {
  small();
  sink = 2;
}
#else
__attribute__((noinline)) void work(void) {
  for (int i = 0; i < 2; i++)
    leaf(); // @loop
  sink = 1;
}
void small(void) {
  leaf(); // @small
  sink = 3;
}
int main(void) {
  for (int i = 0; i < 30; i++)
    work();     // @work
  call(called); // @plain
  return 0;
}
#endif
