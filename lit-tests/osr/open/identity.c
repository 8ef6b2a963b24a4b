// What function and callee both refer to is one thing in the version: states that are functions
// return and compare each other, a static pointer is led elsewhere by one and used by the other,
// and functions are handed their own addresses.
// RUN: clang -O1 -fwrapv %s -o %t.plain
// RUN: %clang %level -fwrapv %s -o %t %osr='osr-point;where=loop-header;when=count:5;to=open:inline-callee;stage=early;verify' %runtime
// RUN: %open %t.plain %t %jit never now background always every:2 every:3 'at:*:1' 'at:*:2' 'at:*:40'
#include <stdio.h>

#define NOINLINE __attribute__((noinline))

struct state;
typedef struct state (*step)(int);
struct state {
  step next;
  int value;
};

static struct state even(int n);
static struct state odd(int n) { return (struct state){n % 5 == 4 ? even : odd, n * 3}; }
static struct state even(int n) { return (struct state){n % 7 == 6 ? odd : even, n + 5}; }

NOINLINE static long run(step s, int n) {
  long sum = 0;
  for (int i = 0; i < n; i++) {
    struct state t = s(i);
    sum = sum * 3 + t.value + (t.next == odd) + (t.next == even) * 2 + (t.next == s) * 7;
    if (t.next != odd && t.next != even)
      puts("a third state");
    s = t.next;
  }
  return sum;
}

static long *kept;
static const char text[] = "text";
static const char *seen;
static long count(const char *name, int n) {
  *kept += n;
  seen = n & 1 ? name : text;
  return name == text;
}
static long less(const char *name, int n) {
  *kept -= n;
  return name == text ? 5 : 7;
}

NOINLINE static long escapes(long (*f)(const char *, int), int n) {
  long one = 7, two = 1;
  kept = &one;
  long x = 0;
  for (int i = 0; i < n; i++) {
    seen = 0;
    x = x * 3 + f(i % 3 ? text : "other", i) + one;
    x += seen == text;
    if (i % 8 == 6)
      kept = kept == &one ? &two : &one;
  }
  return x * 31 + two;
}

typedef long (*walk)(void *, int);
NOINLINE static long own(walk w, int n, int depth);
static long back(void *f, int n) { return f == (void *)own ? n * 3 : -n; }
static long forth(void *f, int n) {
  return f == (void *)forth ? n * 3 : f == (void *)own ? 5 - n : 1000000;
}
NOINLINE static long own(walk w, int n, int depth) {
  long sum = 0;
  for (int i = 0; i < n; i++) {
    sum = sum * 5 + w((void *)own, i) + w(i & 1 ? (void *)w : 0, i);
    if (depth && i % 9 == 8)
      sum ^= own(w == back ? forth : back, n - 2, depth - 1);
  }
  return sum;
}

int main(void) {
  for (int k = 0; k < 6; k++) {
    printf("%ld\n", run(k & 1 ? odd : even, 60));
    printf("%ld\n", escapes(k & 1 ? count : less, 60));
    printf("%ld\n", own(k & 1 ? back : forth, 40, 2));
  }
}
