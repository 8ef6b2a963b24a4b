/* The thesis's 6.2: numerical methods that get a function by a handle and call it as an interpreter
   does, with boxed values. By hand, feval's calls are calls of the function that it is. */
#include "common.h"
#include <math.h>

enum tag { INTEGER, REAL };

/* A value of an interpreter. */
typedef struct {
  enum tag tag;
  union {
    long integer;
    double real;
  };
} value;

typedef value function(const value *arguments, int count);

/* A handle is the function itself, or, with -DHANDLE, an object that leads to it. */
#ifdef HANDLE
typedef struct {
  const char *name;
  function *code;
} const *handle;
#define CODE(handle) (handle)->code
#else
typedef function *handle;
#define CODE(handle) (handle)
#endif

static inline value real(double x) { return (value){.tag = REAL, .real = x}; }

static inline double number(value x) { return x.tag == REAL ? x.real : (double)x.integer; }

static inline value add(value a, value b) {
  if (a.tag == INTEGER && b.tag == INTEGER)
    return (value){.tag = INTEGER, .integer = a.integer + b.integer};
  return real(number(a) + number(b));
}

static inline value subtract(value a, value b) {
  if (a.tag == INTEGER && b.tag == INTEGER)
    return (value){.tag = INTEGER, .integer = a.integer - b.integer};
  return real(number(a) - number(b));
}

static inline value multiply(value a, value b) {
  if (a.tag == INTEGER && b.tag == INTEGER)
    return (value){.tag = INTEGER, .integer = a.integer * b.integer};
  return real(number(a) * number(b));
}

/* What is to be solved: heat that goes over to surroundings whose temperature changes. */
static value heat(const value *arguments, int count) {
  if (count != 2)
    return real(0);
  value outside = add(real(20), multiply(real(0.001), arguments[0]));
  return multiply(real(-0.07), subtract(arguments[1], outside));
}

static value decay(const value *arguments, int count) {
  return count == 2 ? multiply(real(-0.5), arguments[1]) : real(0);
}

#ifdef HAND
#define FEVAL(f, arguments, count) heat(arguments, count)
#else
#define FEVAL(f, arguments, count) CODE(f)(arguments, count)
#endif

NOINLINE double euler(handle f, double from, double step, long steps, double at) {
  value t = real(from), y = real(at), h = real(step);
  for (long i = 0; i < steps; i++) {
    value arguments[] = {t, y};
    value slope = FEVAL(f, arguments, 2);
    y = add(y, multiply(h, slope));
    t = add(t, h);
  }
  return number(y);
}

NOINLINE double midpoint(handle f, double from, double step, long steps, double at) {
  value t = real(from), y = real(at), h = real(step), half = real(step / 2);
  for (long i = 0; i < steps; i++) {
    value here[] = {t, y};
    value first = FEVAL(f, here, 2);
    value there[] = {add(t, half), add(y, multiply(half, first))};
    value slope = FEVAL(f, there, 2);
    y = add(y, multiply(h, slope));
    t = add(t, h);
  }
  return number(y);
}

NOINLINE double rk4(handle f, double from, double step, long steps, double at) {
  value t = real(from), y = real(at), h = real(step), half = real(step / 2);
  for (long i = 0; i < steps; i++) {
    value a[] = {t, y};
    value k1 = FEVAL(f, a, 2);
    value b[] = {add(t, half), add(y, multiply(half, k1))};
    value k2 = FEVAL(f, b, 2);
    value c[] = {add(t, half), add(y, multiply(half, k2))};
    value k3 = FEVAL(f, c, 2);
    value d[] = {add(t, h), add(y, multiply(h, k3))};
    value k4 = FEVAL(f, d, 2);
    value sum = add(add(k1, k4), multiply(real(2), add(k2, k3)));
    y = add(y, multiply(multiply(h, real(1.0 / 6)), sum));
    t = add(t, h);
  }
  return number(y);
}

int main(int argc, char **argv) {
  const char *method = argc > 1 ? argv[1] : "euler";
  long steps = argument(argc, argv, 2, 100000000);
#ifdef HANDLE
  static __typeof__(*(handle)0) functions[] = {{"heat", heat}, {"decay", decay}};
  handle f = &functions[argc > 3];
#else
  handle f = argc > 3 ? decay : heat;
#endif
  double (*solve)(handle, double, double, long, double) = strcmp(method, "rk4") == 0 ? rk4
                                                          : strcmp(method, "midpoint") == 0
                                                              ? midpoint
                                                              : euler;
  double result = 0;
  HIDDEN(solve);
  TWICE(HIDDEN(f); result = solve(f, 0, 1e-6, steps, 90));
  printf("%s %.12g\n", method, result);
  return 0;
}
