// Behind each return of __builtin_setjmp, which LLVM does not mark as returning twice, the stream begins
// anew, also where it was inlined: no path is counted twice.
// RUN: %cc %level --midflight-stage=late %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t && %midflight check %t %t.mfp
static void *buffer[5];
static volatile int hops;

__attribute__((noinline)) static void jump(void) {
  hops++;
  __builtin_longjmp(buffer, 1);
}

static void try(void) {
  if (!__builtin_setjmp(buffer))
    jump();
}

int main(void) {
  try();
  return hops != 1;
}
