// A program that is linked with instrumented libraries, of which each has a runtime in it: all images are in one
// profile, whichever linker it was.
// RUN: rm -rf %t && mkdir %t
// RUN: %cc %level -fPIC -shared -DFIRST %s -o %t/libfirst.so
// RUN: %cc %level -fPIC -shared -DSECOND %s -o %t/libsecond.so -L%t -lfirst
// RUN: %cc %level %s -o %t/prog -L%t -lsecond -lfirst -Wl,-rpath,%t
// RUN: env MIDFLIGHT_PROFILE=%t/bfd.mfp %t/prog 2>&1 | count 0
// RUN: %midflight show --format json --library %t/libfirst.so --library %t/libsecond.so %t/prog %t/bfd.mfp | %expect "f('main')['entries'] == 1" "f('second')['entries'] == 4" "f('first')['entries'] == 12"
// RUN: %cc %level -fuse-ld=lld %s -o %t/other -L%t -lsecond -lfirst -Wl,-rpath,%t
// RUN: env MIDFLIGHT_PROFILE=%t/lld.mfp %t/other 2>&1 | count 0
// RUN: %midflight show --format json --library %t/libfirst.so --library %t/libsecond.so %t/other %t/lld.mfp | %expect "f('main')['entries'] == 1" "f('second')['entries'] == 4" "f('first')['entries'] == 12"
void first(int n);
void second(int n);
#if defined(FIRST)
static volatile int sink;
void first(int n) {
  for (int i = 0; i < n; i++)
    sink += i;
}
#elif defined(SECOND)
void second(int n) {
  for (int i = 0; i < n; i++)
    first(i);
}
#else
int main(void) {
  for (int i = 0; i < 4; i++)
    second(3);
  return 0;
}
#endif
