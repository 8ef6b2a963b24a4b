// Frames that longjmp leaves, also those of code that is not instrumented: what is called next has its context where the
// stack is, however often that happens.
// RUN: clang %level -DPLAIN -c %s -o %t.plain.o
// RUN: %cc %level --midflight-contexts %s %t.plain.o -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t
// RUN: %show --contexts %t %t.mfp | %tree %s "elsewhere == 0" "c('main') == 1" \
// RUN:   "c('main', 'at_once') == 2 * 100000" "c('main', 'at_once', 'leaf') == 2 * 100000" \
// RUN:   "c('main', 'below') == 100000" "c('main', 'below', 'leaf@below') == 100000" "c('main', 'below', 'jump@below_jump') == 100000" \
// RUN:   "c('main', 'often') == 100000" "c('main', 'often', 'leaf@one') == 100000" \
// RUN:   "c('main', 'often', 'leaf@two') == 100000" "c('main', 'often', 'jump@often') == 100000" \
// RUN:   "c('main', 'leaf@after') == 1" "n('never') == 0" \
// RUN:   "c('main', 'own@own') == 100" "c('main', 'own@own', 'jump') == 100" "c('main', 'own@own', 'leaf@back') == 100" \
// RUN:   "c('main', 'leaf@last') == 1" "nodes == 15"
#include <setjmp.h>
extern jmp_buf buffer;
void at_once(int x), below(int x), often(int x), run(int rounds);

#ifdef PLAIN
jmp_buf buffer;
static void deep(int n, void (*f)(int)) {
  volatile char room[256];
  room[0] = (char)n;
  if (n)
    deep(n - 1, f);
  else
    f(n);
  room[1] = room[0];
}
void run(int rounds) {
  for (volatile int i = 0; i < rounds; i++) {
    if (!setjmp(buffer)) at_once(0);
    if (!setjmp(buffer)) below(1);
    if (!setjmp(buffer)) deep(3, at_once);
    if (!setjmp(buffer)) deep(i % 5, often);
  }
}
#else
static volatile int sink;
#define APART __attribute__((noinline))
APART static void leaf(void) { sink++; }
APART static void never(void) { sink++; }
APART static void jump(void) {
  sink++;
  longjmp(buffer, 1);
}
APART static void own(void) {
  if (!setjmp(buffer))
    jump();
  else
    leaf(); // @back
  sink++;
}
void at_once(int x) {
  sink += x;
  leaf();
  longjmp(buffer, 1);
}
void below(int x) {
  leaf(); // @below
  if (x)
    jump(); // @below_jump
  never();
  sink++;
}
void often(int x) {
  leaf(); // @one
  leaf(); // @two
  jump(); // @often
  never();
  sink += x;
}
int main(void) {
  run(100000);
  leaf(); // @after
  for (int i = 0; i < 100; i++)
    own(); // @own
  leaf(); // @last
  return 0;
}
#endif
