// What a branch says is equal to a value may stand for it behind that: GVN removes a load of what was compared, and
// the phi that it puts there has the other value on one way.
// RUN: clang -O0 -Xclang -disable-O0-optnone -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='function(sroa),print<osr-map;function=compared>(gvn)' -disable-output %t.ll | FileCheck %s --check-prefix=COMPARED
// RUN: %cc --midflight-osr-fuzz=sroa --midflight-osr-opt=gvn %level %s -o %t
// RUN: %midflight osr fuzz --seconds 5 -- %t | FileCheck %s
// RUN: %cc --midflight-osr-fuzz=sroa '--midflight-osr-opt=default<O2>' %level %s -o %t
// RUN: %midflight osr fuzz --seconds 5 -- %t | FileCheck %s
#include <stdio.h>

static int seen, pad;

__attribute__((noinline)) static void see(int n) { seen = seen * 31 + n; }

__attribute__((noinline)) static void change(int n) { pad = n; }

// COMPARED: "name":"compared"
// COMPARED-SAME: "base_to_opt":{"total":[[N:[0-9]+]],{{[^}]*}}"avail":[[N]],
// COMPARED-SAME: "opt_to_base":{"total":[[N:[0-9]+]],{{[^}]*}}"avail":[[N]],
// COMPARED-SAME: "unproved":[]
__attribute__((noinline)) int compared(int last, int n) {
  if (pad != last)
    change(n);
  int now = pad;
  if (now & 1)
    see(now);
  else
    see(n);
  return now * 3 + last;
}

// The same, if they differ.
__attribute__((noinline)) int differ(int last, int n) {
  if (pad == last)
    change(n);
  int now = pad;
  if (now & 1)
    see(now);
  else
    see(n);
  return now * 3 + last;
}

int main(void) {
  int sum = 0;
  for (int i = 0; i < 12; ++i)
    sum = sum * 7 + compared(i % 3, i) + differ(i % 2, i + 1);
  printf("%d %d\n", sum, seen);
  return 0;
}
// CHECK: no mismatch
