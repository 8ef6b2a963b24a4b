// An array in the frame that only ever has what a constant has: opt reads the constant, base has the
// array. Where base is entered, it has an array of its own, with a copy of the constant. Where opt
// is entered, it may read the constant before base has made its copy.
// RUN: clang -O0 -Xclang -disable-O0-optnone -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='function(sroa),print<osr-map>(instcombine<no-verify-fixpoint>)' -disable-output %t.ll | FileCheck %s --check-prefix=MAP
// RUN: %cc --midflight-osr-fuzz=sroa '--midflight-osr-opt=instcombine<no-verify-fixpoint>,gvn,loop-simplify,lcssa,loop-mssa(licm)' %level %s -o %t
// RUN: %midflight osr fuzz --seconds 20 -- %t | FileCheck %s
// RUN: %cc --midflight-osr-fuzz=sroa '--midflight-osr-opt=instcombine<no-verify-fixpoint>' %level %s -o %t.alone
// RUN: %midflight osr fuzz --seconds 20 -- %t.alone | FileCheck %s
// RUN: %cc '--midflight-osr-fuzz=sroa;debug-mutant=store' '--midflight-osr-opt=instcombine<no-verify-fixpoint>' %level %s -o %t.store
// RUN: not %midflight osr fuzz --seconds 20 -- %t.store | FileCheck %s --check-prefix=STORE
// CHECK: no mismatch
// STORE: mismatch
#include <stdio.h>
#include <string.h>

__attribute__((noinline)) void see(const char *what, long x) { printf("%s %ld\n", what, x); }

__attribute__((noinline)) long sum(const int *all, int count) {
  long sum = 0;
  for (int i = 0; i < count; i++)
    sum += all[i];
  return sum;
}

// MAP: "name":"weigh"
// MAP-SAME: "base_to_opt":{"total":[[N:[0-9]+]],{{[^}]*}}"avail":[[N]],
// MAP-SAME: "opt_to_base":{"total":[[M:[0-9]+]],{{[^}]*}}"avail":[[M]],
// MAP-SAME: "unproved":[]
// Initialized in a loop, again and again.
__attribute__((noinline)) long weigh(int n) {
  long total = 0;
  for (int i = 0; i < n; i++) {
    int weights[4] = {3, 1, 4, 1};
    see("weigh", i);
    for (int k = 0; k < 3; k++)
      total += weights[(i + k) & 3] * (k + 1);
  }
  return total;
}

// MAP: "name":"name"
// MAP-SAME: "base_to_opt":{"total":[[N:[0-9]+]],{{[^}]*}}"avail":[[N]],
// MAP-SAME: "opt_to_base":{"total":[[M:[0-9]+]],{{[^}]*}}"avail":[[M]],
// MAP-SAME: "unproved":[]
// Initialized late, on one way only.
__attribute__((noinline)) const char *name(int kind, int n) {
  see("name", kind);
  if (kind & 4) {
    const char *names[5] = {"zero", "one", "two", "three", "four"};
    const char *first = names[kind & 3];
    see(first, n);
    return n & 1 ? names[n % 5] : first;
  }
  return "none";
}

// MAP: "name":"part"
// MAP-SAME: "base_to_opt":{"total":[[N:[0-9]+]],{{[^}]*}}"avail":[[N]],
// MAP-SAME: "opt_to_base":{"total":[[M:[0-9]+]],{{[^}]*}}"avail":[[M]],
// MAP-SAME: "unproved":[]
// A part of it is copied elsewhere.
__attribute__((noinline)) int part(int n) {
  const int all[6] = {10, 20, 30, 40, 50, 60};
  int own[3];
  see("part", n);
  memcpy(own, &all[n & 3], sizeof own);
  own[n % 3] += n;
  return own[0] + own[1] * 2 + own[2] * 3 + all[n & 1];
}

// Opt needs only where it is: base loads it from its own array, once that has the constant.
__attribute__((noinline)) long is_four(int n) {
  int all[5] = {3, 1, 4, 1, 5};
  int one = all[n % 5];
  see("four", n);
  return one == 4;
}

// It is changed: an array like any other one.
__attribute__((noinline)) int changed(int n) {
  int all[4] = {5, 6, 7, 8};
  see("changed", n);
  all[n & 3] = n;
  return all[0] + all[1] * 2 + all[(n + 1) & 3];
}

// Others see it.
__attribute__((noinline)) long seen(int n) {
  int all[4] = {9, 8, 7, 6};
  see("seen", n);
  return sum(all, 4) + all[n & 3];
}

int main(void) {
  for (int n = 0; n < 8; n++) {
    see("weighed", weigh(n));
    see(name(n, n), n);
    see("parts", part(n));
    see("is four", is_four(n));
    see("changes", changed(n));
    see("seen", seen(n));
  }
  return 0;
}
