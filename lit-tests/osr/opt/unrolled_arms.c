// A loop that was unrolled whole has no branch of its own left: base goes on over its own, whose counter is
// a constant in each copy, however many ways its body has. What it loads from an array is what was stored to
// the element that the counter is then.
// RUN: clang -O0 -Xclang -disable-O0-optnone -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='function(mem2reg),print<osr-map;function=rows>(loop-simplify,lcssa,loop(loop-rotate,loop-unroll-full),early-cse<memssa>)' -disable-output %t.ll | FileCheck %s --check-prefix=MAP
// RUN: %cc --midflight-osr-fuzz=mem2reg '--midflight-osr-opt=loop-simplify,lcssa,loop(loop-rotate,loop-unroll-full),early-cse<memssa>' %level %s -o %t
// RUN: %midflight osr fuzz --seconds 20 -- %t | FileCheck %s
// RUN: %cc --midflight-osr-fuzz=mem2reg '--midflight-osr-opt=loop-simplify,lcssa,loop(loop-rotate,loop-unroll-full),gvn' %level %s -o %t
// RUN: %midflight osr fuzz --seconds 20 -- %t | FileCheck %s
#include <stdio.h>

static int seen;

__attribute__((noinline)) static void see(int n) { seen = seen * 31 + n; }

// MAP: "name":"rows"
// MAP-SAME: "opt_to_base":{"total":[[N:[0-9]+]],{{[^}]*}}"avail":[[N]],
// MAP-SAME: "unproved":[]
__attribute__((noinline)) int rows(const int *from, int mode) {
  int left[2];
  left[0] = from[mode];
  left[1] = from[mode + 1];
  int sum = 0;
  for (int i = 0; i < 2; ++i) {
    if (left[i] & 1) {
      see(left[i]);
      sum += 3;
    } else {
      see(mode);
      sum += left[i];
    }
  }
  see(sum);
  return sum;
}

// The element before the one that was stored to last is another one in each copy.
__attribute__((noinline)) int shifted(const int *from, int n) {
  int a[5];
  a[0] = from[0];
  for (int i = 0; i < 4; ++i) {
    a[i + 1] = from[i + 1] + n;
    if (a[i] > n)
      see(a[i + 1]);
    else
      see(a[i] * 3);
    a[i] = n;
  }
  return a[0] + a[3] * 5 + a[4];
}

int main(void) {
  int a[8] = {1, 2, 3, 4, 6, 6, 9, 8}, sum = 0;
  for (int i = 0; i < 7; ++i)
    sum = sum * 7 + rows(a, i);
  for (int i = 0; i < 3; ++i)
    sum = sum * 7 + shifted(a + i, i);
  printf("%d %d\n", sum, seen);
  return 0;
}
// CHECK: no mismatch
