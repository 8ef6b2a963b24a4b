// Flag and patch points are armed and disarmed while the program runs, the latter in mid-loop by another
// thread, and counted.
// RUN: %clang %level -DMIDFLIGHT_OSR -I%runtime_include %s -o %t.flag %osr='osr-point;where=marker;when=flag;chain;verify' %runtime
// RUN: %t.flag
// RUN: env MIDFLIGHT_OSR_FIRE=arm:spin %t.flag armed
// RUN: %clang %level -DMIDFLIGHT_OSR -I%runtime_include %s -o %t.patch %osr='osr-point;where=marker;when=patch;chain;verify' %runtime
// RUN: %t.patch
// RUN: env MIDFLIGHT_OSR_FIRE=arm:spin %t.patch armed
#include <errno.h>
#include <midflight.h>
#include <pthread.h>
#include <stdio.h>

static volatile int stop;
static volatile long rounds;

#define CHECK(holds)                                                                                                   \
  do {                                                                                                                 \
    if (!(holds)) {                                                                                                    \
      printf("%d: %s\n", __LINE__, #holds);                                                                            \
      return 1;                                                                                                        \
    }                                                                                                                  \
  } while (0)

static __attribute__((noinline)) long spin(long a, double b) {
  long sum = a;
  while (!stop) {
    MIDFLIGHT_OSR_POINT("spin");
    rounds++;
    sum += (long)b;
  }
  return sum;
}

static void *run(void *result) {
  *(long *)result = spin(1, 2);
  return 0;
}

static void wait_rounds(long more) {
  for (long until = rounds + more; rounds < until;)
    ;
}

int main(int argc, char **argv) {
  pthread_t thread;
  long result = 0;
  CHECK(midflight_osr_arm("nobody") == 0);
  CHECK(midflight_osr_arm(NULL) == -EINVAL);
  CHECK(pthread_create(&thread, NULL, run, &result) == 0);
  wait_rounds(100);
  if (argc > 1) {
    // MIDFLIGHT_OSR_FIRE=arm:spin armed it before main.
    CHECK(midflight_osr_count("spin") > 0);
    CHECK(midflight_osr_disarm("spin") > 0);
    wait_rounds(100);
  }
  unsigned long long before = midflight_osr_count("spin");
  CHECK(argc > 1 || before == 0);
  wait_rounds(100);
  CHECK(midflight_osr_count("spin") == before);

  CHECK(midflight_osr_arm("*arming.c:sp*") > 0);
  wait_rounds(100);
  unsigned long long armed = midflight_osr_count("spin");
  CHECK(armed >= before + 50);

  CHECK(midflight_osr_disarm("spin") > 0);
  wait_rounds(2);
  before = midflight_osr_count("spin");
  wait_rounds(100);
  CHECK(midflight_osr_count("spin") == before);

  for (int i = 0; i < 1000; i++) {
    CHECK(midflight_osr_arm("spin") > 0);
    CHECK(midflight_osr_disarm("spin") > 0);
  }
  stop = 1;
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(result == 1 + 2 * rounds);
  return 0;
}
