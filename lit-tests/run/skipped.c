// The report tells what is not profiled, and why, also behind a linker that drops what nobody refers to.
// RUN: %cc -O1 -ffunction-sections -Wl,--gc-sections %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t
// RUN: %midflight report --no-source %t %t.mfp | FileCheck %s
// RUN: %midflight report --format json %t %t.mfp | FileCheck %s --check-prefix=JSON
// RUN: %midflight check %t %t.mfp
// CHECK: emitted:
// CHECK-NEXT: functions: 2 profiled, 2 left alone: 1 Naked (bare), 1 NoProfileAttribute (quiet)
// JSON: "skipped":{"Naked":1,"NoProfileAttribute":1},"skipped_names":{"Naked":["bare"],"NoProfileAttribute":["quiet"]}
__attribute__((naked)) void bare(void) { __asm__("ret"); }
__attribute__((no_profile_instrument_function, noinline)) int quiet(int n) { return n + 1; }
__attribute__((noinline)) int loud(int n) { return n > 3 ? n : quiet(n); }
int main(void) {
  bare();
  return loud(3) - 4;
}
