// A callee that was inlined where its caller catches what it throws: it is left by a call of its
// continuation, which throws into the caller's version.
// RUN: clang++ %level -I %runtime_include %s -o %t.plain
// RUN: %clangxx %level -I %runtime_include -DMIDFLIGHT_OSR=1 %s -o %t %osr='osr-point;where=loop-header;when=count:20;to=open:inline-callee;verify' %runtime
// RUN: %open %t.plain %t %jit never now background always every:2 every:3 'at:*:1' 'at:*:2' 'at:*:5'
// RUN: %clangxx %level -I %runtime_include -DMIDFLIGHT_OSR=1 %s -o %t.early %osr='osr-point;where=loop-header;when=count:20;to=open:inline-callee;stage=early;verify' %runtime
// RUN: %open %t.plain %t.early %jit now background always every:3
// RUN: env MIDFLIGHT_JIT_MUTANT=frame-kept %open %t.plain %t %jit '!now'
#include <cstdio>
#include <midflight.h>
#include <stdexcept>
#include <string>

#define NOINLINE __attribute__((noinline))

static midflight_assumption limit = MIDFLIGHT_ASSUMPTION(50);

static void set(long value) {
  if (midflight_invalidate)
    midflight_invalidate(&limit, value);
  else
    limit.value = value;
}

struct pair {
  long first;
  std::string second;
};

static long cleanups, quiet;

struct guarded {
  ~guarded() { cleanups++; }
};

NOINLINE static void change(long x) {
  if (!quiet && x % 37 == 36)
    set(20 + x % 50);
}

/* Its result goes through memory; it throws behind the call that invalidates. */
static pair check(long x) {
  guarded here;
  long before = midflight_assume(&limit);
  change(x);
  if (x % 64 > midflight_assume(&limit))
    throw std::runtime_error(std::to_string(x % 7 + before));
  return {before + x, std::string(x % 5, 'x')};
}

NOINLINE long run(pair (*f)(long), long n) {
  long sum = 0;
  for (long i = 0; i < n; i++) {
    guarded here;
    try {
      pair found = f(i);
      sum = sum * 3 + found.first + (long)found.second.size() * midflight_assume(&limit);
    } catch (const std::exception &error) {
      sum = sum * 5 + std::stol(error.what()) - midflight_assume(&limit);
    }
  }
  return sum;
}

int main() {
  pair (*volatile f)(long) = check;
  for (int round = 0; round < 30; round++) {
    quiet = round % 10 > 6;
    printf("%ld %ld\n", run(f, quiet ? 3000 : 200), cleanups);
  }
  return 0;
}
