// Coverage by clang's gcov pass is that of clang alone, whichever of both passes comes first.
// REQUIRES: profile-runtime
// RUN: rm -rf %t && mkdir -p %t/alone %t/early %t/inlined %t/late
// RUN: cd %t/alone && clang %level --coverage %s -o prog && ./prog && llvm-cov gcov -t prog-coverage.gcda > ../lines
// RUN: FileCheck %s < %t/lines
// RUN: cd %t/early && %cc %level --midflight-stage=early --coverage %s -o prog && ./prog
// RUN: cd %t/early && llvm-cov gcov -t prog-coverage.gcda | diff ../lines -
// RUN: cd %t/inlined && %cc %level --midflight-stage=inlined --coverage %s -o prog && ./prog
// RUN: cd %t/inlined && llvm-cov gcov -t prog-coverage.gcda | diff ../lines -
// RUN: cd %t/late && %cc %level --midflight-stage=late --coverage %s -o prog && ./prog
// RUN: cd %t/late && llvm-cov gcov -t prog-coverage.gcda | diff ../lines -

// Clang's own coverage, which the front end counts, too.
// RUN: cd %t/alone && clang %level -fprofile-instr-generate -fcoverage-mapping %s -o mapped
// RUN: cd %t/alone && env LLVM_PROFILE_FILE=raw ./mapped && llvm-profdata merge raw -o data
// RUN: cd %t/alone && llvm-cov show ./mapped -instr-profile=data > ../mapped
// RUN: FileCheck %s --check-prefix=MAPPED < %t/mapped
// RUN: cd %t/early && %cc %level -fprofile-instr-generate -fcoverage-mapping %s -o mapped
// RUN: cd %t/early && env LLVM_PROFILE_FILE=raw ./mapped && llvm-profdata merge raw -o data
// RUN: cd %t/early && llvm-cov show ./mapped -instr-profile=data | diff ../mapped -
__attribute__((noinline)) static int sum(const int *p, int n) {
  int total = 0;
  for (int i = 0; i < n; i++)
    if (p[i] > 3)
      // CHECK: 3: [[#@LINE+2]]:      total += p[i];
      // MAPPED: [[#@LINE+1]]| 3| total += p[i];
      total += p[i];
    else
      total += 1;
  return total;
}
int main(void) {
  int numbers[10] = {1, 5, 2, 8, 9};
  return sum(numbers, 10) != 29;
}
