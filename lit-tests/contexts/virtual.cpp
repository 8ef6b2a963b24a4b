// Call sites with several callees, by virtual calls and pointers: each callee has its own contexts there, whatever comes
// in between.
// RUN: %cxx %level -fno-unroll-loops --midflight-contexts %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t
// RUN: %show --contexts %t %t.mfp | %tree %s "elsewhere == 0" "c('main') == 1" "c('main', 'visit@all') == 9000" \
// RUN:   "c('main', 'visit@all', '_ZN5Shape4areaEi@first') == 3000" "c('main', 'visit@all', '_ZN6Square4areaEi@first') == 3000" \
// RUN:   "c('main', 'visit@all', '_ZN6Circle4areaEi@first') == 3000" \
// RUN:   "c('main', 'visit@all', '_ZN5Shape4areaEi@second') == 3000" "c('main', 'visit@all', '_ZN6Circle4areaEi@second') == 3000" \
// RUN:   "c('main', 'visit@all', '_ZN6Square4areaEi@first', 'leaf') == 3000" \
// RUN:   "c('main', 'visit@all', '_ZN6Circle4areaEi@second', '_ZN5Shape4areaEi') == 3000" \
// RUN:   "c('main', 'table@table') == 100" "all(c('main', 'table@table', f'_Z5stateILi{i}EEiv@state') == 1000 for i in range(40))" \
// RUN:   "n('leaf') == 6000 + 40000" \
// RUN:   "size('main', 'visit@all', '_ZN5Shape4areaEi@first') == 1" "size('main', 'table@table', '_Z5stateILi39EEiv@state') == 1" "nodes < 110"
#define APART __attribute__((noinline))
static volatile int sink;
extern "C" APART void leaf() { sink = sink + 1; }

struct Shape {
  virtual APART int area(int x) { return x + sink; }
  virtual ~Shape() = default;
};
struct Square : Shape {
  APART int area(int x) override {
    leaf();
    return x * x;
  }
};
struct Circle : Shape {
  APART int area(int x) override { return Shape::area(x) * 3; }
};

extern "C" APART int visit(Shape *shape, int x) {
  int a = shape->area(x); // @first
  a += shape->area(a);    // @second
  return a;
}

template <int N> APART int state() {
  leaf();
  return N + sink;
}

extern "C" APART int table() {
  static int (*const volatile states[])() = {
      state<0>,  state<1>,  state<2>,  state<3>,  state<4>,  state<5>,  state<6>,  state<7>,  state<8>,  state<9>,
      state<10>, state<11>, state<12>, state<13>, state<14>, state<15>, state<16>, state<17>, state<18>, state<19>,
      state<20>, state<21>, state<22>, state<23>, state<24>, state<25>, state<26>, state<27>, state<28>, state<29>,
      state<30>, state<31>, state<32>, state<33>, state<34>, state<35>, state<36>, state<37>, state<38>, state<39>};
  int sum = 0;
  for (int i = 0; i < 400; i++)
    sum += states[i * 7 % 40](); // @state
  return sum;
}

int main() {
  Shape shape;
  Square square;
  Circle circle;
  Shape *volatile shapes[] = {&shape, &square, &circle};
  for (int i = 0; i < 9000; i++)
    visit(shapes[i % 3], i); // @all
  for (int i = 0; i < 100; i++)
    table(); // @table
  return 0;
}
