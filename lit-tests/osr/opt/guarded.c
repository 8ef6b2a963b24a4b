// What a branch said of a value decides another comparison of it: a loop is rotated, and its first test is gone. And a switch
// of bytes in place of one of numbers that are some byte, extended, or a constant.
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='function(mem2reg),print<osr-map;function=counted>(default<O1>)' -disable-output %t.ll | FileCheck %s --check-prefix=BACK
// RUN: %opt -passes='function(mem2reg),print<osr-map;function=chosen>(default<O1>)' -disable-output %t.ll | FileCheck %s --check-prefix=MAP
// RUN: %cc --midflight-osr-fuzz=mem2reg '--midflight-osr-opt=default<O1>' %level %s -o %t
// RUN: %midflight osr fuzz --seconds 20 -- %t | FileCheck %s
#include <stdio.h>

__attribute__((noinline)) void see(int x) { printf("%d\n", x); }

__attribute__((noinline)) void counted(const unsigned short *count, int first) {
  int n = *count;
  see(first);
  if (n == 0)
    return;
  see(n);
  for (int i = 0; i < n; i++)
    see(i * first);
  see(-1);
}

__attribute__((noinline)) int chosen(const unsigned char *op) {
  int what = op ? *op : 122;
  switch (what) {
  case 170:
    see(1);
    return 5;
  case 122:
    see(2);
    break;
  case 7:
    see(3);
    return 8;
  case 200:
    see(4);
    break;
  default:
    see(what);
  }
  see(6);
  return 9;
}

int main(void) {
  for (unsigned short n = 0; n < 4; n++)
    counted(&n, n + 1);
  for (int op = 0; op < 256; op += 10)
    see(chosen(&(unsigned char){op}));
  see(chosen(&(unsigned char){7}));
  see(chosen(NULL));
  return 0;
}
// MAP: "base_to_opt":{"total":[[ALL:[0-9]+]],{{.*}}"avail":[[ALL]],
// BACK: "opt_to_base":{"total":[[BACK:[0-9]+]],{{.*}}"avail":[[BACK]],
// CHECK: no mismatch
