// What the code generator makes calls of by itself, as of functions for 128-bit division, is found
// though the program exports nothing of the kind.
// RUN: clang -O1 -fwrapv %s -o %t.plain -lm
// RUN: %clang %level -fwrapv %s -o %t %osr='osr-point;where=loop-header;when=count:10;to=open:inline-callee;stage=early;verify' %runtime -lm
// RUN: %open %t.plain %t %jit never now background always every:3
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))
typedef __int128 wide;
typedef unsigned __int128 uwide;

static wide divides(wide a, long b) { return a / (b * 12345678901234567 + 1) + (a >> 77) % (b | 1); }
static wide converts(wide a, long b) {
  return a % (((wide)b << 40) + 7) + (wide)((double)a * 0.125) + (wide)((float)(uwide)a * 1e-20f) + (wide)((long double)a / 3);
}
static wide shifts(wide a, long b) { return (uwide)a / 1000003 + ((uwide)a % ((uwide)b + 9) << (b & 63)); }
NOINLINE wide wides(wide (*f)(wide, long), int n, wide x) {
  for (int i = 0; i < n; i++)
    x = f(x, i) + i;
  return x;
}

static double _Complex times(double _Complex a, double _Complex b) { return a * b * 0.01; }
static double _Complex over(double _Complex a, double _Complex b) { return a / (b + 0.5); }
NOINLINE double _Complex complexes(double _Complex (*f)(double _Complex, double _Complex), int n) {
  double _Complex x = 1 + I;
  for (int i = 0; i < n; i++)
    x = f(x, i + 2 * I) + 0.25;
  return x;
}

static double functions(double a, int b) {
  return fmod(a * 3.7, 11) + sqrt((double)b) + floor(a) + ldexp(a, -(b & 3)) + trunc(a * 1.5) + __builtin_powi(0.5, b & 7);
}
static double more(double a, int b) { return fabs(sin(a)) + cos(b) + exp2((double)(b & 3)) + fmax(a, b) * 0.25; }
NOINLINE double doubles(double (*f)(double, int), int n) {
  double x = 1;
  for (int i = 0; i < n; i++)
    x = f(x, i) * 0.5;
  return x;
}

struct large { char bytes[600]; };
static void copies(struct large *a, const struct large *b, int n) {
  *a = *b;
  a->bytes[n % 600] ^= 3;
}
static void clears(struct large *a, const struct large *b, int n) {
  memset(a, n, sizeof *a);
  memmove(a->bytes + 5, b->bytes, (size_t)(n & 255) + 3);
}
NOINLINE int large(void (*f)(struct large *, const struct large *, int), int n) {
  struct large a = {"text"}, b = {"other text"};
  int sum = 0;
  for (int i = 0; i < n; i++) {
    f(&a, &b, i * 7);
    f(&b, &a, i * 3);
    sum = sum * 5 + a.bytes[i] + b.bytes[i * 5 % 600] + (memcmp(&a, &b, 9) > 0);
  }
  return sum;
}

int main(void) {
  for (int k = 0; k < 4; k++) {
    wide (*const all[])(wide, long) = {divides, converts, shifts};
    for (int i = 0; i < 3; i++) {
      wide r = wides(all[i], 60, ((wide)k << 90) + 12345);
      printf("%lx %lx\n", (long)r, (long)(r >> 64));
    }
    double _Complex z = complexes(k & 1 ? over : times, 50);
    printf("%.9g %.9g\n", creal(z), cimag(z));
    printf("%.9g\n", doubles(k & 1 ? more : functions, 50));
    printf("%d\n", large(k & 1 ? clears : copies, 60));
  }
}
