// REQUIRES: level-O2
// Functions of all kinds of prototypes as callees that are inlined, and as functions that are left
// for a version and behind a guard: many arguments, wide and small ones, structs by value and as
// results, long double, complex numbers, vectors, and variable arguments.
// RUN: clang -O1 -fwrapv %s -o %t.plain -lm
// RUN: %clang %level -fwrapv %s -o %t %osr='osr-point;where=loop-header;when=count:10;to=open:inline-callee;stage=early;verify' %runtime -lm
// RUN: %open %t.plain %t %jit never now background always every:2 every:3 'at:*:1' 'at:*:2' 'at:*:40'
// RUN: %clang %level -fwrapv %s -o %t.late %osr='osr-point;where=loop-header;when=count:10;to=open:inline-callee;stage=late;verify' %runtime -lm
// RUN: %open %t.plain %t.late %jit never now background always every:3
// RUN: %clang %level -fwrapv %s -o %t.value %osr='osr-point;where=loop-header;when=count:10;to=open:specialize-value;stage=early;verify' %runtime -lm
// RUN: %open %t.plain %t.value %jit never now background always every:3 'at:*:2'
#include <complex.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))
typedef __int128 wide;
typedef struct { char c; short s; } tiny;
typedef struct { long a; double b; } pair;
typedef struct { int a[10]; double d; char text[13]; } large;
typedef struct { float x, y, z; } point;
typedef int four __attribute__((vector_size(16)));

typedef long (*many_t)(int, double, long, float, wide, short, double, char, tiny, long, long, pair, unsigned char, double, double, double, double, double, double, double, int);
#define MANY int a, double b, long c, float d, wide e, short f, double g, char h, tiny i, long j, long k, pair l, unsigned char m, double nn, double o, double p, double q, double r, double s, double t, int u
static long many_sum(MANY) {
  return a + (long)b + c * 3 + (long)(d * 2) + (long)(e >> 64) * 5 + (long)e + f + (long)g + h * 7 + i.c + i.s + j - k + l.a + (long)l.b + m + (long)(nn + o * 2 + p * 3 + q + r + s * 4 + t) + u;
}
static long many_mix(MANY) {
  return (a ^ c) + (long)(b * d) - (long)(e * 3 >> 60) + f * h - i.c * i.s + (j & k) + l.a * (long)l.b + (m << 3) + (long)(nn - o + p - q + r - s + t) - u;
}

/* The function itself has many parameters, in registers and in memory, and changes them. */
NOINLINE long many(many_t *call, int n, MANY) {
  long sum = 0;
  for (int x = 0; x < n; x++) {
    sum = sum * 3 + (*call)(a, b, c, d, e, f, g, h, i, j, k, l, m, nn, o, p, q, r, s, t, u);
    a -= x, b += 0.5, c ^= a, d *= -1, e = e * 3 + x, f += 300, g -= 1, h += 29, i.c ^= 5, i.s -= 999;
    j = j * 5 + 1, k >>= 1, l.a += f, l.b -= 2, m -= 77, o += 1, p = q, q = s, s = t + 1, t = r, u ^= h;
    if (x == 30)
      *call = many_mix;
    if (x == 60)
      *call = many_sum;
  }
  return sum + i.s + m + h + f;
}

static large grow(large x, int by) {
  for (int i = 0; i < 10; i++)
    x.a[i] += by * i;
  x.d = x.d * 0.5 + by;
  x.text[by % 12] ^= 1;
  return x;
}
static large turn(large x, int by) {
  large y = x;
  for (int i = 0; i < 10; i++)
    y.a[i] = x.a[(i + by) % 10] - 1;
  memmove(y.text, x.text + 1, 11);
  return y;
}
NOINLINE large by_value(large (*f)(large, int), large x, int n) {
  for (int i = 0; i < n; i++)
    x = f(x, i);
  return x;
}

static pair pair_add(pair a, pair b) { return (pair){a.a + b.a, a.b - b.b}; }
static pair pair_mix(pair a, pair b) { return (pair){a.a * 3 ^ b.a, a.b * 0.25 + b.b}; }
NOINLINE pair pairs(pair (*f)(pair, pair), pair x, int n) {
  pair y = {1, 2};
  for (int i = 0; i < n; i++) {
    pair z = f(x, y);
    x = y, y = z;
  }
  return y;
}

static point cross(point a, point b) {
  return (point){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x + 1};
}
NOINLINE point points(point (*f)(point, point), point x, int n) {
  for (int i = 0; i < n; i++)
    x = f((point){(float)(i & 3), 1, 0.5f}, x);
  return x;
}

static tiny tiny_a(tiny a, signed char b) { return (tiny){(char)(a.c + b), (short)(a.s * b + 1)}; }
NOINLINE tiny tinies(tiny (*f)(tiny, signed char), tiny x, int n) {
  for (int i = 0; i < n; i++)
    x = f(x, (signed char)(i * 5));
  return x;
}

static long double half(long double a, long double b) { return a / 2 + b; }
static long double less(long double a, long double b) { return a - b * 0.125L; }
NOINLINE long double longs(long double (*f)(long double, long double), long double x, int n) {
  for (int i = 0; i < n; i++)
    x = f(x, i);
  return x;
}

static double _Complex rotate(double _Complex a, float _Complex b) { return conj(a) * 0.5 + b; }
static double _Complex add(double _Complex a, float _Complex b) { return a - b + I; }
NOINLINE double _Complex complexes(double _Complex (*f)(double _Complex, float _Complex), double _Complex x, int n) {
  for (int i = 0; i < n; i++)
    x = f(x, (float)i + 2 * I);
  return x;
}

/* Small integers are extended by the caller or by the callee. */
static short small_a(signed char a, unsigned char b, short c, unsigned short d, _Bool e) {
  return (short)(a - b + c * d + e);
}
static short small_b(signed char a, unsigned char b, short c, unsigned short d, _Bool e) {
  return (short)(e ? a * b : c ^ d);
}
NOINLINE unsigned short small(short (*f)(signed char, unsigned char, short, unsigned short, _Bool), int n, signed char a, unsigned char b, short c, unsigned short d, _Bool e) {
  for (int i = 0; i < n; i++) {
    short x = f(a, b, c, d, e);
    a = (signed char)(x + a), b = (unsigned char)(x >> 1), c -= x, d += (unsigned short)x, e = x & 1;
  }
  return (unsigned short)(a * 3 + b * 5 + c * 7 + d + e);
}

static wide wide_a(wide a, wide b) { return a * 3 - (b << 50); }
static wide wide_b(wide a, wide b) { return (a >> 3) ^ b * b; }
NOINLINE wide wides(wide (*f)(wide, wide), wide x, int n) {
  for (int i = 0; i < n; i++)
    x = f(x, (wide)i << 60);
  return x;
}

static four four_a(four a, four b) { return a * 3 + b; }
static four four_b(four a, four b) { return a - (b ^ 5); }
NOINLINE four vectors(four (*f)(four, four), four x, int n) {
  for (int i = 0; i < n; i++)
    x = f(x, (four){i, 1, -i, 7});
  return x;
}

static long sum_of(int n, ...) {
  va_list list;
  va_start(list, n);
  long sum = 0;
  for (int i = 0; i < n; i++)
    sum = sum * 2 + (i & 1 ? (long)va_arg(list, double) : va_arg(list, long));
  va_end(list);
  return sum;
}
static long none_of(int n, ...) { return n * 7; }
NOINLINE long variable(long (*f)(int, ...), int n) {
  long sum = 0;
  for (int i = 0; i < n; i++)
    sum += f(i % 12, 1L, 2.0, (long)i, 4.0, 5L, i * 0.5, 7L, 8.0, 9L, 10.0, 11L, sum * 0.001);
  return sum;
}

/* The open function has variable arguments, and goes on reading them. */
NOINLINE long reads(long (*f)(long, long), int n, ...) {
  va_list list;
  va_start(list, n);
  long sum = 0;
  for (int i = 0; i < n; i++)
    sum = f(sum, i & 1 ? (long)va_arg(list, double) : va_arg(list, long));
  va_end(list);
  return sum;
}
static long times(long a, long b) { return a * 3 + b; }
static long minus(long a, long b) { return a - b * 5; }
static void nothing(int *a) { *a = *a * 3 + 1; }
static void still(int *a) { *a ^= 0x55; }
NOINLINE void no_result(void (*f)(int *), int *a, int n) {
  for (int i = 0; i < n; i++)
    f(a);
}

int main(void) {
  for (int k = 0; k < 4; k++) {
    many_t call = k & 1 ? many_mix : many_sum;
    printf("%ld\n", many(&call, 100, k, 2.5, 3, 4.5f, (wide)5 << 70, 6, 7.25, 'h', (tiny){9, 10}, 11, 1 << 20, (pair){12, 13}, 14, 15, 16, 17, 18, 19, 20, 21, 22));
    large x = {{1, 2, 3, 4, 5, 6, 7, 8, 9, k}, 2.5, "twelve bytes"};
    x = by_value(k & 1 ? turn : grow, x, 50);
    printf("%d %d %a %s\n", x.a[3], x.a[9], x.d, x.text);
    pair p = pairs(k & 1 ? pair_mix : pair_add, (pair){k, k + 0.5}, 60);
    printf("%ld %a\n", p.a, p.b);
    point c = points(cross, (point){1, (float)k, 2}, 20);
    printf("%a %a %a\n", c.x, c.y, c.z);
    tiny t = tinies(tiny_a, (tiny){(char)k, 3}, 60);
    printf("%d %d\n", t.c, t.s);
    printf("%La\n", longs(k & 1 ? half : less, k + 0.3L, 60));
    double _Complex z = complexes(k & 1 ? rotate : add, k - 2 * I, 60);
    printf("%a %a\n", creal(z), cimag(z));
    printf("%d\n", small(k & 1 ? small_b : small_a, 90, (signed char)-k, 200, -3000, 60000, k > 1));
    wide w = wides(k & 1 ? wide_b : wide_a, k + 1, 70);
    printf("%lx %lx\n", (long)w, (long)(w >> 64));
    four v = vectors(k & 1 ? four_b : four_a, (four){1, 2, 3, k}, 50);
    printf("%d %d %d %d\n", v[0], v[1], v[2], v[3]);
    printf("%ld\n", variable(k & 1 ? none_of : sum_of, 60));
    printf("%ld\n", reads(k & 1 ? minus : times, 34, 1L, 2.0, 3L, 4.0, 5L, 6.0, 7L, 8.0, 9L, 10.0, 11L, 12.0, 13L, 14.0, 15L, 16.0, 17L, 18.0, 19L, 20.0, 21L, 22.0, 23L, 24.0, 25L, 26.0, 27L, 28.0, 29L, 30.0, 31L, 32.0, 33L, 34.0));
    int a = k;
    no_result(k & 1 ? still : nothing, &a, 50);
    printf("%d\n", a);
  }
}
