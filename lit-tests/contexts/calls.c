// Each call site of each context has its own counts, and the tree tells where it is.
// RUN: %cc %level -fno-unroll-loops --midflight-contexts %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t
// RUN: %show --contexts %t %t.mfp | %tree %s "elsewhere == 0" "nodes == 9" "c('main') == 1" \
// RUN:   "c('main', 'twice@loop') == 10" "c('main', 'twice@once') == 1" \
// RUN:   "c('main', 'twice@loop', 'leaf@first') == 10" "c('main', 'twice@loop', 'leaf@again') == 30" \
// RUN:   "c('main', 'twice@once', 'leaf@first') == 1" "c('main', 'twice@once', 'leaf@again') == 3" \
// RUN:   "c('main', 'rare@rare') == 5" "c('main', 'rare@rare', 'leaf@often') == 2"
// RUN: %midflight show --contexts %t %t.mfp | FileCheck %s
// RUN: %midflight report --no-source %t %t.mfp | FileCheck %s --check-prefix=REPORT
// CHECK:      mode=cct activations=63 elsewhere=0 floor=0
// CHECK-NEXT: count  context
// CHECK-NEXT: {{^}}    1  main  {{.*}}calls.c:[[#MAIN:]]{{$}}
// CHECK-NEXT: {{^}}   10    twice  {{.*}}calls.c:[[#MAIN+2]]{{$}}
// CHECK-NEXT: {{^}}   30      leaf  {{.*}}calls.c:[[#MAIN-10]]{{$}}
// CHECK-NEXT: {{^}}   10      leaf  {{.*}}calls.c:[[#MAIN-12]]{{$}}
// CHECK-NEXT: {{^}}    5    rare  {{.*}}calls.c:[[#MAIN+5]]{{$}}
// CHECK-NEXT: {{^}}    2      leaf  {{.*}}calls.c:[[#MAIN-4]]{{$}}
// REPORT: counted: 63 activations of 4 functions

// Told apart by functions, there is one context for both calls, and no line.
// RUN: %cc %level -fno-unroll-loops --midflight-contexts --midflight-granularity=functions %s -o %t.f && env MIDFLIGHT_PROFILE=%t.f.mfp %t.f
// RUN: %show --contexts %t.f %t.f.mfp | %tree %s "elsewhere == 0" "nodes == 5" "c('main', 'twice') == 11" \
// RUN:   "c('main', 'twice', 'leaf') == 44" "c('main', 'rare', 'leaf') == 2" \
// RUN:   "all(at['site'] is None for at in contexts)"
// The tables have the slots.
// RUN: %show --tables %t | FileCheck %s --check-prefix=TABLES
// TABLES: "contexts":[
static volatile int sink;
__attribute__((noinline)) static void leaf(void) { sink++; }

__attribute__((noinline)) static void twice(void) {
  leaf(); // @first
  for (int i = 0; i < 3; i++)
    leaf(); // @again
  sink++;
}

__attribute__((noinline)) static void rare(int n) {
  if (n > 2)
    leaf(); // @often
  sink++;
}

int main(void) {
  for (int i = 0; i < 10; i++)
    twice(); // @loop
  twice(); // @once
  for (int i = 0; i < 5; i++)
    rare(i); // @rare
  return 0;
}
