// Vectors reach the host whole, also where the function may use wider registers than others.
// REQUIRES: avx
// RUN: %clang %level -DMIDFLIGHT_OSR -I%runtime_include %s -o %t %osr='osr-point;where=marker;when=always;exit=host;verify' %runtime
// RUN: %t
#include <midflight.h>
#include <string.h>

typedef float floats __attribute__((vector_size(32)));

#define AVX __attribute__((noinline, target("avx")))

AVX static floats twice(floats v) {
  floats sum = v;
  MIDFLIGHT_OSR_POINT("here");
  return sum + v;
}

AVX void host(struct midflight_osr_exit *exit) {
  floats v;
  if (exit->count != 1 || exit->values[0].kind != MIDFLIGHT_OSR_OTHER || exit->values[0].bits != 256)
    return;
  memcpy(&v, exit->values[0].address, sizeof v);
  v *= 3;
  memcpy(exit->result, &v, sizeof v);
}

AVX static int check(void) {
  volatile floats list = {1, 2, 3, 4, 5, 6, 7, 8};
  floats result = twice(list);
  for (int i = 0; i < 8; i++)
    if (result[i] != 3 * (i + 1))
      return i + 1;
  return 0;
}

int main(void) { return check(); }
