// A static program that may be loaded anywhere begins, whichever linker it was: glibc relocates it before there is memory for
// threads, so no relocation may ask for that.
// RUN: %cc %level -static-pie -fPIE --midflight-contexts %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t
// RUN: %show --contexts %t %t.mfp | %tree %s "elsewhere == 0" "c('main', 'leaf@once') == 1" "c('main', 'compare@sort', 'leaf') > 10"
// RUN: llvm-readelf -r %t | FileCheck %s
// RUN: %cc %level -static-pie -fPIE -fuse-ld=lld --midflight-contexts %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t
// RUN: %show --contexts %t %t.mfp | %tree %s "elsewhere == 0" "c('main', 'leaf@once') == 1"
// Paths are no different.
// RUN: %cc %level -static-pie -fPIE %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t
// CHECK-NOT: TPOFF
#include <stdlib.h>
static volatile int sink;
__attribute__((noinline)) static void leaf(void) { sink++; }
static int compare(const void *a, const void *b) {
  leaf();
  return *(const int *)a - *(const int *)b;
}
int main(void) {
  int numbers[20];
  for (int i = 0; i < 20; i++)
    numbers[i] = i * 7 % 20;
  qsort(numbers, 20, sizeof *numbers, compare); // @sort
  leaf();                                       // @once
  return 0;
}
