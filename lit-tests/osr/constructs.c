// All that C has, moved into continuations at every point: the output is that of the plain program.
// RUN: clang %level %s -o %t.plain -lm
// RUN: %clang %level %s -o %t -lm %osr='osr-fuzz;verify' %runtime
// RUN: %fire %t.plain %t always every:1 every:2 every:3 every:7 every:100 random:1:0.5 random:2:0.05 'at:*:1' 'at:*:2'
// RUN: %clang %level %s -o %t.late -lm %osr='osr-fuzz;stage=late;verify' %runtime
// RUN: %fire %t.plain %t.late always every:2 every:3 random:3:0.3 'at:*:1'
// RUN: %clang %level %s -o %t.single -lm %osr='osr-fuzz;form=single;max-points=12;verify' %runtime
// RUN: %fire %t.plain %t.single always every:2 random:4:0.2
#include <complex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

static NOINLINE int loops(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++)
    for (int j = i; j < n; j++) {
      if ((i ^ j) & 1)
        continue;
      int k = j;
      while (k > 0) {
        sum += k & i;
        k >>= 1;
      }
      if (sum > 10000)
        goto out;
    }
out:
  return sum;
}

static NOINLINE int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

static int is_odd(unsigned n);
static NOINLINE int is_even(unsigned n) { return n == 0 ? 1 : is_odd(n - 1); }
static NOINLINE int is_odd(unsigned n) { return n == 0 ? 0 : is_even(n - 1); }

static NOINLINE const char *choose(int x) {
  switch (x) {
  case 0:
    return "zero";
  case 1:
  case 2:
    return "few";
  case 7:
    x = 100;
    // fall through
  case 100:
    return x == 100 ? "hundred" : "?";
  case 1000 ... 2000:
    return "range";
  default:
    return "many";
  }
}

static NOINLINE int states(const char *text) {
  int count = 0;
start:
  switch (*text++) {
  case 'a':
    count++;
    goto start;
  case 'b':
    goto after_b;
  case 0:
    return count;
  default:
    goto start;
  }
after_b:
  if (*text == 'b') {
    text++;
    count += 10;
    goto after_b;
  }
  goto start;
}

struct big {
  long words[6];
  char tail;
};
struct small {
  float x, y;
};
struct mixed {
  long a;
  double b;
};

static NOINLINE struct big make(int n) {
  struct big result = {{0}, 0};
  for (int i = 0; i < 6; i++)
    result.words[i] = n * i;
  result.tail = (char)n;
  return result;
}
static NOINLINE long take(struct big by_value, struct small s, struct mixed m) {
  by_value.words[2] += (long)(s.x + m.b);
  long sum = by_value.tail + m.a;
  for (int i = 0; i < 6; i++)
    sum += by_value.words[i];
  return sum;
}
static NOINLINE struct small twice(struct small s) { return (struct small){s.x * 2, s.y * 2}; }
static NOINLINE struct mixed swap(struct mixed m) { return (struct mixed){(long)m.b, (double)m.a}; }

static NOINLINE double variadic(const char *kinds, ...) {
  va_list list, again;
  va_start(list, kinds);
  va_copy(again, list);
  double sum = 0;
  for (; *kinds; kinds++)
    switch (*kinds) {
    case 'i':
      sum += va_arg(list, int);
      break;
    case 'd':
      sum += va_arg(list, double);
      break;
    case 'b':
      sum += va_arg(list, struct big).words[1];
      break;
    case 'l':
      sum += (double)va_arg(list, long double);
      break;
    }
  sum += va_arg(again, int);
  va_end(again);
  va_end(list);
  return sum;
}

// The registers that va_start has saved are in the frame, and nothing of it leads to them.
static va_list global_list;
static NOINLINE int next_of_global(int n) {
  int sum = 0;
  while (n-- > 0)
    sum = sum * 10 + va_arg(global_list, int);
  return sum;
}
static NOINLINE int by_global_list(int n, ...) {
  va_start(global_list, n);
  int sum = next_of_global(n);
  va_end(global_list);
  return sum;
}

static NOINLINE double vla(int n) {
  double total = 0;
  for (int round = 1; round < 4; round++) {
    double matrix[n][n + round];
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n + round; j++)
        matrix[i][j] = i * 0.5 + j;
    for (int i = 0; i < n; i++)
      total += matrix[i][n - i];
  }
  char *buffer = __builtin_alloca(n + 1);
  memset(buffer, 'x', n);
  buffer[n] = 0;
  return total + strlen(buffer);
}

static _Thread_local int in_thread = 5;
static NOINLINE int thread_local_sum(int n) {
  for (int i = 0; i < n; i++)
    in_thread += i;
  return in_thread;
}

static NOINLINE unsigned assembly(unsigned x) {
  unsigned result = 0;
  for (int i = 0; i < 3; i++) {
#if defined(__x86_64__)
    unsigned long wide;
    __asm__ volatile("bswap %0" : "=r"(result) : "0"(x + i));
    __asm__("leaq 1(%1), %0" : "=r"(wide) : "r"((unsigned long)result) : "cc");
    result = (unsigned)wide;
    __asm__ goto("testl %0, %0\n\tjs %l1" : : "r"(result) : "cc" : negative);
    result ^= 1;
  negative:;
#else
    result = __builtin_bswap32(x + i) + 1;
    if ((int)result >= 0)
      result ^= 1;
#endif
  }
  return result;
}

typedef float floats __attribute__((vector_size(16)));
typedef int ints __attribute__((vector_size(32)));
static NOINLINE float vectors(int n) {
  floats sum = {0, 0, 0, 0};
  ints more = {1, 2, 3, 4, 5, 6, 7, 8};
  for (int i = 0; i < n; i++) {
    sum += (floats){i, 2.f * i, 1, more[i & 7]};
    more = more * 3 + (more > 100);
  }
  return sum[0] + sum[1] + sum[2] + sum[3] + (more[5] & 0xff);
}

static NOINLINE long double extended(int n) {
  long double sum = 0, power = 1;
  for (int i = 1; i < n; i++) {
    power /= 3;
    sum += power * i;
  }
  return sum;
}

static NOINLINE unsigned __int128 wide(unsigned long n) {
  unsigned __int128 result = 1;
  for (unsigned long i = 1; i <= n; i++)
    result = result * i + (result >> 70);
  return result;
}

static NOINLINE double _Complex turn(double _Complex z, int n) {
  for (int i = 0; i < n; i++)
    z = z * z * 0.5 + 0.25 * I;
  return z;
}

static int add(int a, int b) { return a + b; }
static int subtract(int a, int b) { return a - b; }
static NOINLINE int pointers(int n) {
  int (*const table[])(int, int) = {add, subtract, add};
  int result = 0;
  for (int i = 0; i < n; i++)
    result = table[i % 3](result, i);
  return result;
}

struct bits {
  unsigned a : 3;
  signed b : 5;
  unsigned long c : 40;
  _Bool d : 1;
};
static NOINLINE long bit_fields(int n) {
  struct bits bits = {0};
  long sum = 0;
  for (int i = 0; i < n; i++) {
    bits.a += 3;
    bits.b -= i;
    bits.c = bits.c * 5 + bits.a;
    bits.d ^= i & 1;
    sum += bits.a + bits.b + (long)(bits.c & 0xffff) + bits.d;
  }
  return sum;
}

static NOINLINE int computed(int n) {
  static void *const targets[] = {&&left, &&right, &&out};
  int i = 0, sum = 0;
  goto *targets[0];
left:
  sum += i;
  goto *targets[++i < n ? 1 : 2];
right:
  sum -= 2 * i;
  goto *targets[++i < n ? 0 : 2];
out:
  return sum;
}

static jmp_buf buffer;
static NOINLINE void jump(int n) {
  for (int i = 0; i < n; i++)
    if (i == 3)
      longjmp(buffer, i);
}
static NOINLINE int jumped(int n) {
  volatile int before = n;
  int value = setjmp(buffer);
  if (value == 0)
    jump(n);
  return value * 10 + before;
}

static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static NOINLINE int sorted(int n) {
  int list[32], *p = list;
  for (int i = 0; i < 32; i++)
    *p++ = (i * n + 7) % 37;
  qsort(list, 32, sizeof *list, compare);
  int checksum = 0;
  for (int i = 0; i < 32; i++)
    checksum = checksum * 31 + list[i];
  return checksum;
}

static NOINLINE int many(int a, long b, short c, char d, float e, double f, int g, int h, int i, double j, int *k,
                         unsigned char l, _Bool m) {
  for (int n = 0; n < 4; n++) {
    a += (int)b + c * n;
    f += e + d;
    *k += g + h + i;
    j -= l;
    m = !m;
  }
  return a + (int)f + *k + (int)j + m;
}

int main(int argc, char **argv) {
  int n = 10 * argc, k = 4;
  printf("%d %d %d %d\n", loops(n), loops(40), fibonacci(9), is_even(7));
  for (int i = 0; i < 12; i++)
    printf("%s ", choose(i * i * i));
  printf("%d\n", states("abbbacbba"));
  struct mixed m = swap((struct mixed){3, 4.5});
  struct small s = twice((struct small){1.5f, 2.5f});
  printf("%ld %g %g %ld %g\n", take(make(n), s, m), s.x, s.y, m.a, m.b);
  printf("%g\n", variadic("idblid", 1, 2.5, make(3), 4.25L, 5, 6.5));
  printf("%d\n", by_global_list(4, 1, 2, 3, 4));
  printf("%g %d %x\n", vla(n), thread_local_sum(n), assembly(n * 0x01020304u));
  printf("%g %.15Lg\n", vectors(n), extended(n));
  unsigned __int128 w = wide(40);
  printf("%lx%016lx\n", (unsigned long)(w >> 64), (unsigned long)w);
  double _Complex z = turn(0.5 + 0.5 * I, n);
  printf("%g %g\n", creal(z), cimag(z));
  printf("%d %ld %d %d %d\n", pointers(n), bit_fields(n), computed(n), jumped(n), sorted(n));
  printf("%d %d\n", many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, &k, 250, 1), k);
  return n;
}
