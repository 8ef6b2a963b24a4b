// C++ exceptions pass through continuations, are caught in them, are thrown again by them, and run their
// destructors once.
// RUN: clang++ %level %s -o %t.plain
// RUN: %clangxx %level %s -o %t %osr='osr-fuzz;verify' %runtime
// RUN: %fire %t.plain %t always every:2 every:3 every:5 random:1:0.3 'at:*:1'
// RUN: %clangxx %level %s -o %t.late %osr='osr-fuzz;stage=late;verify' %runtime
// RUN: %fire %t.plain %t.late always every:2 random:2:0.3
// RUN: %clangxx %level %s -o %t.single %osr='osr-fuzz;form=single;max-points=20;verify' %runtime
// RUN: %fire %t.plain %t.single always every:2 random:2:0.3
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

static int alive;

struct Guard {
  const char *name;
  explicit Guard(const char *name) : name(name) { alive++; }
  Guard(const Guard &) = delete;
  ~Guard() {
    alive--;
    std::printf("~%s ", name);
  }
};

// Unwinds through frames with handlers of other types.
static int deep(int n) {
  Guard guard("deep");
  if (n == 0)
    throw std::runtime_error("bottom");
  try {
    return deep(n - 1) + 1;
  } catch (const std::logic_error &) {
    return -1;
  }
}

// Throws again from a handler, inside another handler's reach.
static int again(int n) {
  try {
    Guard outer("outer");
    try {
      Guard inner("inner");
      if (n & 1)
        throw n;
      throw std::string("text");
    } catch (int x) {
      if (x > 2)
        throw;
      return x;
    }
  } catch (const std::string &text) {
    return 100 + (int)text.size();
  }
  return 7;
}

struct Member {
  Guard guard{"member"};
  explicit Member(bool fail) {
    if (fail)
      throw 5L;
  }
};

static int constructed(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    try {
      Member member(i % 3 == 1);
      sum += i;
    } catch (long x) {
      sum += (int)x * 10;
    } catch (...) {
      sum = -1;
    }
  }
  return sum;
}

static int sealed(int n) noexcept {
  try {
    return again(n);
  } catch (int x) {
    return x * 2;
  }
}

int main() {
  try {
    deep(4);
  } catch (std::exception &e) {
    std::printf("%s %d\n", e.what(), alive);
  }
  for (int i = 0; i < 6; i++)
    std::printf("%d\n", sealed(i));
  std::printf("%d %d\n", constructed(8), alive);
  std::map<std::string, std::vector<int>> lists;
  for (int i = 0; i < 10; i++)
    lists[std::to_string(i % 3)].push_back(i);
  int sum = 0;
  for (auto &[name, list] : lists)
    for (int x : list)
      sum += x;
  try {
    sum += lists.at("9")[0];
  } catch (std::out_of_range &) {
    sum += 1000;
  }
  std::printf("%d\n", sum);
  return alive;
}
