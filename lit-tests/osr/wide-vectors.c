// A function that may use wider registers than others moves with all of its vectors.
// REQUIRES: avx
// RUN: %clang %level %s -o %t.single %osr='osr-point;where=loop-header;when=every:3;verify' %runtime
// RUN: %t.single
// RUN: %clang %level %s -o %t.chain %osr='osr-point;where=loop-header;when=every:3;chain;verify' %runtime
// RUN: %t.chain
// RUN: %clang %level %s -o %t.multi %osr='osr-point;where=loop-header;when=every:3;chain;form=multi;verify' %runtime
// RUN: %t.multi
typedef float floats __attribute__((vector_size(32)));
#define AVX __attribute__((noinline, target("avx")))

AVX static floats grow(floats v, int n) {
  floats sum = v;
  for (int i = 0; i < n; i++)
    sum += v * (float)i;
  return sum;
}

AVX static int check(int n) {
  floats list = {1, 2, 3, 4, 5, 6, 7, 8};
  floats result = grow(list * (float)n, 10);
  for (int i = 0; i < 8; i++)
    if (result[i] != 46 * n * (i + 1))
      return i + 1;
  return 0;
}

int main(int argc, char **argv) {
  (void)argv;
  return check(argc);
}
