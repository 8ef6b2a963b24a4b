// Destructors run once each, in their order, where a cleanup moves while an exception is on its way and
// its function was inlined into the one with the handler: there the personality remembers a landing pad
// of the frame, which is one before the cleanup. Every phase of the schedule is tried.
// RUN: clang++ %level %s -o %t.plain -pthread
// RUN: %clangxx %level %s -o %t %osr='osr-fuzz;verify' %runtime
// RUN: %fire %t.plain %t always every:2 every:3 every:4 every:5 every:6 every:7 every:8 every:9 every:10 \
// RUN:     every:11 every:12 every:13 random:1:0.3 random:2:0.03
// RUN: %clangxx %level %s -o %t.late %osr='osr-fuzz;stage=late;verify' %runtime
// RUN: %fire %t.plain %t.late always every:2 every:5 every:6 every:11 random:3:0.2
// RUN: %clangxx %level %s -o %t.opt %osr='osr-opt;fuzz;passes=default<O2>;verify' %runtime
// RUN: %fire %t.plain %t.opt always every:2 every:3 every:5 every:6 every:7 every:11 random:5:0.2
// RUN: %t.plain >%t.expected
// RUN: %clangxx %level %s -o %t.count %osr='osr-point;where=loop-header;when=count:3;verify' %runtime
// RUN: %t.count >%t.out && diff %t.out %t.expected
// RUN: %clangxx %level %s -o %t.chain %osr='osr-point;where=call;when=every:3;chain;verify' %runtime
// RUN: %t.chain >%t.out && diff %t.out %t.expected
// RUN: %clangxx %level %s -o %t.default %osr='osr-opt;up=count:5;verify' %runtime
// RUN: %t.default >%t.out && diff %t.out %t.expected
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <pthread.h>

#define NOINLINE __attribute__((noinline))
#define INLINE __attribute__((always_inline)) inline

static unsigned long trace;
static long living;

static void mix(unsigned long x) { trace = (trace ^ x) * 1099511628211u; }

// Nothing is counted before its cleanup.
struct Plain {
  ~Plain() { mix(3); }
};

struct Each {
  unsigned id = (unsigned)++living;
  ~Each() {
    mix(id);
    living--;
  }
};

NOINLINE static void stop(int what) {
  switch (what) {
  case 1:
    throw 1;
  case 2:
    throw 2L;
  case 3:
    throw "text";
  case 4:
    pthread_exit(nullptr);
  }
}

// So little is live in its cleanup that it travels in registers: the stack pointer, by which the unwinder
// knows the frame with the handler, is the same in its calls.
INLINE void quiet() {
  Plain all[27];
  stop(1);
}

// One level of inlining into the handler.
static void one(int what) {
  Each all[11];
  stop(what);
}

// Whether it is inlined or not is not up to the inliner.
INLINE void always(int what) {
  Each all[5], more[3];
  stop(what);
}

// Two levels, with a cleanup of each.
static void two(int what) {
  Each before[4];
  one(what);
  mix(1);
}

// A handler of another type between, in the function of the cleanup.
static int between(int what) {
  Each outer[3];
  try {
    Each inner[4];
    try {
      always(what);
      one(what);
    } catch (long x) {
      mix(x);
      return 1;
    }
  } catch (char) {
    mix(99);
  }
  return 2;
}

// Throws again, from inside of cleanups.
static int again(int what) {
  Each outer[4];
  try {
    one(what);
  } catch (int x) {
    Each inner[3];
    if (x == 1)
      throw;
  } catch (...) {
    Each inner[2];
    throw 5;
  }
  return 3;
}

// A destructor that itself catches, while another exception is on its way.
struct Busy {
  ~Busy() {
    try {
      Each few[3];
      stop(2);
    } catch (long x) {
      mix(x + (unsigned)std::uncaught_exceptions());
    }
    try {
      one(3);
    } catch (const char *text) {
      mix(text[0]);
    }
  }
};

static void busy(int what) {
  Busy first, second;
  Each all[2];
  stop(what);
}

// Its own handler, behind its own cleanups, in a loop.
static int loops(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    Each each[2];
    try {
      Each all[3];
      if (i % 3)
        stop(i % 3);
      two(i % 2 ? 3 : 0);
      sum += i;
    } catch (int x) {
      sum += x;
      continue;
    } catch (long x) {
      sum += 10 * (int)x;
    } catch (...) {
      if (i > 7)
        break;
      sum += 100;
    }
    mix(sum);
  }
  return sum;
}

static void deep(int n, int what) {
  Each all[3];
  if (n == 0)
    stop(what);
  else
    deep(n - 1, what);
  mix(n);
}

static int all_kinds(int what) {
  int result = 0;
  for (int i = 0; i < 2; i++)
    try {
      quiet();
    } catch (int x) {
      result -= x;
    }
  try {
    one(what);
  } catch (int x) {
    result += x;
  } catch (...) {
    result += 2;
  }
  try {
    two(what);
    always(what);
    result += 4;
  } catch (int x) {
    result += 8 * x;
  } catch (long x) {
    result += 16 * (int)x;
  } catch (const char *) {
    result += 64;
  }
  try {
    result += between(what);
  } catch (int) {
    result += 128;
  } catch (...) {
    result += 256;
  }
  try {
    try {
      result += again(what);
    } catch (long) {
      result = -1;
    }
  } catch (int x) {
    result += 512 * x;
  }
  try {
    busy(what);
  } catch (...) {
    result += 4096;
  }
  try {
    deep(6, what);
  } catch (...) {
    result += 8192;
  }
  return result;
}

// A thread that ends unwinds too, and no handler stops it.
static void *ends(void *) {
  try {
    two(4);
  } catch (long) {
    mix(77);
  }
  return nullptr;
}

static void nothing_passes(int what) noexcept {
  Each all[4];
  two(what);
}

int main() {
  for (int what = 0; what < 4; what++) {
    int result = all_kinds(what);
    std::printf("%d %lx %ld\n", result, trace, living);
  }
  int sum = loops(12);
  std::printf("%d %lx %ld\n", sum, trace, living);
  pthread_t thread;
  pthread_create(&thread, nullptr, ends, nullptr);
  pthread_join(thread, nullptr);
  std::printf("%lx %ld\n", trace, living);
  std::set_terminate([] {
    // Whether cleanups on the way to it run is up to the compiler.
    std::puts("terminated");
    std::exit(living > 1000);
  });
  nothing_passes(1);
}
