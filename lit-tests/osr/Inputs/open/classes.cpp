// Templates, virtual calls, covariant results, lambdas, std::function, and exceptions.
#include "program.h"
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

thread_local int alive;

struct Shape {
  Shape() { alive++; }
  Shape(const Shape &) { alive++; }
  virtual ~Shape() { alive--; }
  virtual long area(int scale) const = 0;
  virtual Shape *copy() const = 0;
  virtual Shape *me() { return this; }
};

struct Square : Shape {
  int side;
  explicit Square(int side) : side(side) {}
  long area(int scale) const override { return (long)side * side * scale; }
  Square *copy() const override { return new Square(side + 1); }
};

struct Named {
  std::string name;
  explicit Named(int n) : name("n" + std::to_string(n)) {}
  virtual ~Named() = default;
  virtual std::string title() const { return name; }
};

// Its copy is adjusted: the result is no longer at the address of the Shape.
struct Labelled : Named, Shape {
  int factor;
  explicit Labelled(int n) : Named(n), factor(n) {}
  long area(int scale) const override { return factor * scale - (long)name.size(); }
  Labelled *copy() const override { return new Labelled(factor * 2); }
  Labelled *me() override { return this; }
  std::string title() const override { return "<" + name + ">"; }
};

// It is a Shape by a virtual base.
struct Deep : virtual Shape {
  int depth;
  explicit Deep(int depth) : depth(depth) {}
  long area(int scale) const override { return depth ^ scale; }
  Deep *copy() const override { return new Deep(depth + 3); }
};

NOINLINE long total(const std::vector<std::unique_ptr<Shape>> &shapes, int rounds) {
  long sum = 0;
  for (int r = 0; r < rounds; r++) {
    const auto &shape = shapes[(size_t)(r / 40) % shapes.size()];
    sum = sum * 3 + shape->area(r);
  }
  return sum;
}

NOINLINE long copies(const Shape &first, int rounds) {
  std::unique_ptr<Shape> shape(first.copy());
  long sum = 0;
  for (int r = 0; r < rounds; r++) {
    std::unique_ptr<Shape> next(shape->copy());
    sum += next->me()->area(r) % 1000;
    if (r % 8 == 7)
      next.reset(first.copy());
    shape = std::move(next);
  }
  return sum;
}

template <typename T> NOINLINE T fold(const std::vector<T> &v, T start, T (*step)(T, T)) {
  for (const T &x : v)
    start = step(start, x);
  return start;
}

NOINLINE long repeat(const std::function<long(long)> &f, int rounds) {
  long x = 1;
  for (int r = 0; r < rounds; r++)
    x = f(x) + r;
  return x;
}

struct Stop {
  int at;
  std::string why;
};

int throws(int n) {
  if (n % 61 == 60)
    throw Stop{n, "stop " + std::to_string(n)};
  if (n % 47 == 46)
    throw std::out_of_range("out");
  return n / 3;
}

int quiet(int n) { return n & 7; }

struct Guarded : Shape {
  long area(int) const override { return 0; }
  Shape *copy() const override { return new Guarded; }
};

NOINLINE long inner(int (*f)(int), int from, int to) {
  long sum = 0;
  for (int i = from; i < to; i++) {
    Guarded guarded;
    sum += f(i);
  }
  return sum;
}

NOINLINE long outer(int (*f)(int), long (*g)(int (*)(int), int, int), int rounds) {
  long sum = 0;
  for (int r = 0; r < rounds; r++) {
    Guarded guarded;
    try {
      sum = sum * 5 + g(f, r * 9, r * 9 + 30);
    } catch (const std::out_of_range &error) {
      sum += error.what()[0];
    }
  }
  return sum;
}

} // namespace

extern "C" int run_all(char *out, int size, int seed) {
  int used = 0;
  auto print = [&](const char *what, long value) {
    used += std::snprintf(out + used, (size_t)(size - used), "%s %ld\n", what, value);
  };
  for (int k = 0; k < 4; k++) {
    std::vector<int> v(60);
    for (int i = 0; i < 60; i++)
      v[(size_t)i] = (i * 37 + seed * 11 + k) % 101;
    print("moves", sort(v.data(), 60, comparators[k]));
    print("first", v[0] * 1000 + v[59]);
    print("again", sort(v.data(), 60, comparators[(k + 1) % 4]));
  }
  std::vector<std::unique_ptr<Shape>> shapes;
  shapes.emplace_back(new Square(seed + 2));
  shapes.emplace_back(new Labelled(seed + 5));
  shapes.emplace_back(new Deep(seed));
  for (int k = 0; k < 3; k++) {
    print("total", total(shapes, 200));
    print("copies", copies(*shapes[(size_t)k], 60));
  }
  std::vector<double> doubles;
  std::vector<short> shorts;
  for (int i = 0; i < 100; i++) {
    doubles.push_back(i * 0.25 + seed);
    shorts.push_back((short)(i * 331 + seed));
  }
  for (int k = 0; k < 2; k++) {
    print("doubles", (long)fold<double>(doubles, 1, [](double a, double b) { return a * 0.5 + b; }));
    print("shorts", fold<short>(shorts, 3, [](short a, short b) { return (short)(a * 3 - b); }));
    print("shorts", fold<short>(shorts, 3, [](short a, short b) { return (short)(a ^ b); }));
  }
  long captured = seed;
  std::function<long(long)> functions[] = {
      [captured](long x) { return x % 1000 + captured; },
      [&captured](long x) { return (captured += x & 1) + replaceable((int)(x & 15)); },
      std::negate<long>()};
  for (int k = 0; k < 6; k++)
    print("repeat", repeat(functions[k % 3], 70));
  for (int k = 0; k < 4; k++) {
    try {
      print("outer", outer(k % 2 ? throws : quiet, inner, 20));
      print("outer", outer(throws, inner, 3));
    } catch (const Stop &stop) {
      print(stop.why.c_str(), stop.at);
    }
    print("alive", alive);
  }
  return used;
}
