// What cannot have a point is told as an ordinary remark of clang, with its place; a marker there is a
// warning, since somebody asked for that very point.
// RUN: %clang %level -gline-tables-only -c %s -o %t.o -I%runtime_include -Rpass-missed=midflight-osr %osr='osr-point;where=call;when=flag' 2>&1 | FileCheck %s
// RUN: %clang %level -c %s -o %t.o -I%runtime_include -DMIDFLIGHT_OSR %osr='osr-point;where=marker;when=flag' 2>&1 | FileCheck %s --check-prefix=MARKER
// RUN: %clang %level -c %s -o %t.o -I%runtime_include %osr='osr-point;where=call;when=flag' 2>&1 | FileCheck %s --check-prefix=SILENT --allow-empty

// MARKER-NOT: remark
// MARKER-DAG: warning: midflight: OSR point 'jumps' in 'jumps': there is none: the function returns twice or calls what does, as setjmp [ReturnsTwice]
// MARKER-DAG: warning: midflight: OSR point 'varies' in 'varies': there is none: va_start follows, and a continuation has no variable arguments [VaStart]
// SILENT-NOT: {{.}}
#include <midflight.h>
#include <setjmp.h>
#include <stdarg.h>

void use(const void *);

// CHECK-DAG: refusals.c:[[#@LINE+1]]:{{[0-9]+}}: remark: no OSR points{{.*}}: the function returns twice or calls what does, as setjmp [-Rpass-missed=midflight-osr]
int jumps(jmp_buf buffer) {
  int value = setjmp(buffer);
  MIDFLIGHT_OSR_POINT("jumps");
  use(&value);
  return value;
}

// CHECK-DAG: refusals.c:[[#@LINE+1]]:{{[0-9]+}}: remark: no OSR points{{.*}}: the function returns twice or calls what does, as setjmp [-Rpass-missed=midflight-osr]
int builtin(void **buffer) {
  int value = __builtin_setjmp(buffer);
  use(&value);
  return value;
}

int varies(int n, ...) {
  va_list list;
  // CHECK-DAG: refusals.c:[[#@LINE+1]]:3: remark: no OSR point here{{.*}}: va_start follows, and a continuation has no variable arguments [-Rpass-missed=midflight-osr]
  use(&n);
  MIDFLIGHT_OSR_POINT("varies");
  va_start(list, n);
  n += va_arg(list, int);
  va_end(list);
  return n;
}
