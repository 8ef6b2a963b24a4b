// However often an activation moves, its stack does not grow: here two million times each, in a stack of
// 256 KiB, with 3, 15 and 24 values of two kinds, and with allocas.
// RUN: %clang %level %s -o %t %osr='osr-point;where=loop-header;when=always;chain;verify' %runtime
// RUN: env MIDFLIGHT_OSR_LOG=%t.log %t
// RUN: FileCheck %s --input-file=%t.log
// RUN: %clang %level %s -o %t.multi %osr='osr-point;where=loop-header;when=always;chain;form=multi;verify' %runtime
// RUN: env MIDFLIGHT_OSR_LOG=%t.multi.log %t.multi
// RUN: FileCheck %s --input-file=%t.multi.log --check-prefix=MULTI

// To and fro without end.
// CHECK-DAG: "from":"three.osr.{{[0-9]+}}","to":"three.osr.{{[0-9]+}}.back","transitions":1000000}
// CHECK-DAG: "from":"three.osr.{{[0-9]+}}.back","to":"three.osr.{{[0-9]+}}","transitions":1000000}
// CHECK-DAG: "from":"allocas.osr.{{[0-9]+}}","to":"allocas.osr.{{[0-9]+}}.back","transitions":1000000}
// MULTI-DAG: "from":"three.osr","to":"three.osr","transitions":2000000}
#include <limits.h>
#include <pthread.h>

#define NOINLINE __attribute__((noinline))
enum { TIMES = 2000000 };

static NOINLINE long three(long n) {
  double d = 0;
  long i;
  for (i = 0; i < n; i++)
    d += 0.5;
  return i + (long)d;
}

static NOINLINE long fifteen(long n, long a, long b, long c, long d, long e, double f, double g, double h) {
  double x = 0, y = 1, z = 2;
  long p = 3, q = 4, i;
  for (i = 0; i < n; i++) {
    a += b ^ i, b += c, c += d, d += e, e ^= a;
    f += g, g += 1, h -= g, x += f, y += 1, z -= 1;
    p += q, q ^= p;
  }
  return a ^ b ^ c ^ d ^ e ^ p ^ q ^ (long)(y + z);
}

static NOINLINE long many(long n, long a, long b, long c, long d, long e, long f, long g, long h, long k, long l, long m,
                          double o, double p, double q, double r, double s, double t, double u, double v, double w,
                          double x, double y) {
  long i;
  for (i = 0; i < n; i++) {
    a += b, b += c, c += d, d += e, e += f, f += g, g += h, h += k, k += l, l += m, m += i;
    o += p, p += q, q += r, r += s, s += t, t += u, u += v, v += w, w += x, x += y, y += 1;
  }
  return a ^ b ^ c ^ d ^ e ^ f ^ g ^ h ^ k ^ l ^ m ^ (long)(x + y) ^ (o > p) ^ (q > r) ^ (s > t) ^ (u > v) ^ (w > x);
}

static NOINLINE long allocas(long n) {
  volatile long words[8] = {0};
  volatile double d[2] = {0};
  for (long i = 0; i < n; i++) {
    words[i & 7] += i;
    d[i & 1] += 1;
  }
  return words[3] + (long)d[1];
}

static void *run(void *unused) {
  (void)unused;
  long ok = three(TIMES) == 3000000;
  ok &= fifteen(TIMES, 1, 2, 3, 4, 5, 6, 7, 8) == fifteen(TIMES, 1, 2, 3, 4, 5, 6, 7, 8);
  ok &= many(TIMES, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11) != 0;
  ok &= allocas(TIMES) > TIMES;
  return ok ? run : 0;
}

int main(void) {
  pthread_attr_t attributes;
  pthread_t thread;
  void *result = 0;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 * 1024);
  if (pthread_create(&thread, &attributes, run, 0) || pthread_join(thread, &result))
    return 2;
  return result ? 0 : 1;
}
