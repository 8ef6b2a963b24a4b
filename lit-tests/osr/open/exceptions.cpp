// Exceptions pass through versions, are thrown and caught by what was inlined, and destructors run
// once.
// RUN: clang++ %level %s -o %t.plain
// RUN: %clangxx %level %s -o %t %osr='osr-point;where=loop-header;when=count:30;to=open:inline-callee;stage=early;verify' %runtime
// RUN: %open %t.plain %t %jit never now background always every:2 every:3 every:50 'at:*:1' 'at:*:2' 'at:*:100'
#include <cstdio>
#include <stdexcept>
#include <string>

static int alive;

struct Counted {
  std::string text;
  explicit Counted(int n) : text(std::to_string(n)) { alive++; }
  ~Counted() { alive--; }
};

using Step = int (*)(int);

static int may_throw(int n) {
  if (n % 97 == 96)
    throw std::runtime_error("at " + std::to_string(n));
  return n + 1;
}

static int catches(int n) {
  try {
    if (n % 50 == 49)
      throw n;
    return n;
  } catch (int caught) {
    return -caught;
  }
}

static int leaves(int n) {
  if (n % 211 == 210)
    throw n;
  return n / 2;
}

__attribute__((noinline)) static long loop(Step *step, int from, int to) {
  long sum = 0;
  for (int i = from; i < to; i++) {
    Counted counted(i);
    try {
      sum += (*step)(i) + (long)counted.text.size();
    } catch (const std::exception &error) {
      sum += std::string(error.what()).size() * 1000;
    }
    if (i == 700)
      *step = may_throw;
  }
  return sum;
}

int main() {
  Step all[] = {may_throw, catches, leaves};
  for (int round = 0; round < 12; round++) {
    Step step = all[round % 3];
    for (int from = 0; from < 1000;) {
      int to = from + 250;
      try {
        std::printf("%d %ld\n", from, loop(&step, from, to));
      } catch (int n) {
        std::printf("left at %d\n", n);
      }
      from = to;
    }
    std::printf("alive %d\n", alive);
  }
}
