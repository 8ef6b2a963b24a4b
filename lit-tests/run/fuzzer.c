// libFuzzer writes the input that a crash came of, and its ends leave a profile.
// REQUIRES: sanitizers
// DEFINE: %{fuzz} = env MIDFLIGHT_PROFILE=%t.d/%%p.mfp %t.fuzzer -seed=1 -artifact_prefix=%t.d/
// DEFINE: %{clean} = rm -rf %t.d %t.corpus && mkdir %t.d %t.corpus
// DEFINE: %{merged} = %midflight merge -o %t.mfp %t.d/*.mfp && %show %t.fuzzer %t.mfp
//
// RUN: %cc %level --midflight-k=2 -fsanitize=fuzzer %s -o %t.fuzzer
// RUN: %{clean} && printf 'F' > %t.corpus/input && not %{fuzz} %t.corpus > %t.log 2>&1
// RUN: FileCheck --check-prefix=FAULT %s < %t.log && ls %t.d | FileCheck --check-prefix=CRASH %s
// RUN: %{merged} | %expect "f('LLVMFuzzerTestOneInput')['entries'] >= 1" "completed('work') >= 1"
// RUN: %{clean} && printf 'A' > %t.corpus/input && not %{fuzz} %t.corpus > %t.log 2>&1
// RUN: FileCheck --check-prefix=SIGNAL %s < %t.log && ls %t.d | FileCheck --check-prefix=CRASH %s
// RUN: %{merged} | %expect "completed('work') >= 1"
// RUN: %{clean} && printf 'T' > %t.corpus/input && not %{fuzz} -timeout=1 %t.corpus > %t.log 2>&1
// RUN: FileCheck --check-prefix=TIMEOUT %s < %t.log && ls %t.d | FileCheck --check-prefix=TIMED %s
// RUN: %{merged} | %expect "completed('work') >= 1"
// RUN: %{clean} && printf 'E' > %t.corpus/input && not %{fuzz} %t.corpus > %t.log 2>&1
// RUN: FileCheck --check-prefix=EXIT %s < %t.log && ls %t.d | FileCheck --check-prefix=CRASH %s
// RUN: %{merged} | %expect "completed('work') >= 1"
// An end that is none.
// RUN: %{clean} && printf 'N' > %t.corpus/input && %{fuzz} -runs=0 %t.corpus > %t.log 2>&1
// RUN: ls %t.d | FileCheck --check-prefix=NONE %s
// RUN: %{merged} | %expect "completed('work') >= 1"
//
// With AddressSanitizer as well, which libFuzzer lets end the process; what it finds leaves a profile.
// RUN: %cc %level --midflight-k=2 -fsanitize=fuzzer,address %s -o %t.fuzzer
// RUN: %{clean} && printf 'F' > %t.corpus/input && not %{fuzz} %t.corpus > %t.log 2>&1
// RUN: FileCheck --check-prefix=FAULT %s < %t.log && ls %t.d | FileCheck --check-prefix=CRASH %s
// RUN: %{merged} | %expect "completed('work') >= 1"
// RUN: %{clean} && printf 'B' > %t.corpus/input && not %{fuzz} %t.corpus > %t.log 2>&1
// RUN: FileCheck --check-prefix=BOUNDS %s < %t.log && ls %t.d | FileCheck --check-prefix=CRASH %s
// RUN: %{merged} | %expect "completed('work') >= 1"
//
// Parts that are linked into a fuzzer are programs like others without one.
// RUN: %cc %level --midflight-k=2 -fsanitize=fuzzer-no-link -DMAIN %s -o %t.fuzzer
// RUN: %{clean} && not env MIDFLIGHT_PROFILE=%t.d/x.mfp %t.fuzzer F > %t.log 2>&1
// RUN: %{merged} | %expect "completed('work') == 1"
//
// SIGNAL: ERROR: libFuzzer: deadly signal
// TIMEOUT: ERROR: libFuzzer: timeout
// EXIT: ERROR: libFuzzer: fuzz target exited
// FAULT: ERROR: {{(AddressSanitizer|UndefinedBehaviorSanitizer): SEGV|libFuzzer: deadly signal}}
// BOUNDS: ERROR: AddressSanitizer: heap-buffer-overflow
// CRASH: {{^}}crash-
// TIMED: {{^}}timeout-
// NONE-NOT: crash-
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

__attribute__((noinline)) static void work(void) { __asm__ volatile(""); }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  work();
  if (size != 1)
    return 0;
  switch (data[0]) {
  case 'F':
    *(volatile int *)8 = 1;
    break;
  case 'A':
    abort();
  case 'T':
    for (;;)
      __asm__ volatile("");
  case 'E':
    exit(3);
  case 'B': {
    char *volatile room = malloc(8);
    room[8 + (data[0] != 'B')] = 1;
    free(room);
  }
  }
  return 0;
}

#ifdef MAIN
int main(int argc, char **argv) {
  return LLVMFuzzerTestOneInput((const uint8_t *)argv[argc - 1], 1);
}
#endif
