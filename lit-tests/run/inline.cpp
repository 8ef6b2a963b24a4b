// An inline function of two units is one function if both compiled it alike, wherever its code was
// inlined; and the linker keeps one table.
// RUN: %cxx %level -c %s -o %t.1.o && %cxx %level -DSECOND -c %s -o %t.2.o && %cxx %t.1.o %t.2.o -o %t
// RUN: env MIDFLIGHT_PROFILE=%t.mfp %t && %show %t %t.mfp | %expect \
// RUN:   "sum(g['entries'] for g in document['functions'] if g['name'] == '_Z6sharedi') == 70"
// RUN: %cxx %level -fuse-ld=lld -Wl,--gc-sections -ffunction-sections %t.1.o %t.2.o -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t
int second(int n);

inline int shared(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += i % 3 ? i : 1;
  return sum;
}

#ifdef SECOND
int second(int n) {
  int sum = 0;
  for (int i = 0; i < 40; i++)
    sum += shared(n);
  return sum;
}
#else
int main() {
  int sum = second(3);
  for (int i = 0; i < 30; i++)
    sum += shared(i);
  return sum == 0;
}
#endif
