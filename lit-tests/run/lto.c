// Full and thin LTO, early and late: the linker needs no plugin.
// RUN: %cc -O2 -flto -fuse-ld=lld %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t && %show %t %t.mfp | %expect "f('work')['entries'] == 30"
// RUN: %cc -O2 -flto=thin -fuse-ld=lld %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t && %show %t %t.mfp | %expect "f('work')['entries'] == 30"
// RUN: %cc -O2 -flto -fuse-ld=lld --midflight-stage=late %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t && %show %t %t.mfp | %expect "f('work')['entries'] == 30"
// RUN: %cc -O2 -flto=thin -fuse-ld=lld --midflight-stage=late %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t && %show %t %t.mfp | %expect "f('work')['entries'] == 30"
// RUN: %cc -O1 -ffunction-sections -fdata-sections -Wl,--gc-sections -fuse-ld=lld %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t && %show %t %t.mfp | %expect "f('work')['entries'] == 30"
static volatile int sink;

__attribute__((noinline)) void work(int n) {
  for (int i = 0; i < n; i++)
    sink += i;
}

void unused(void) { sink = 1; }

int main(void) {
  for (int i = 0; i < 30; i++)
    work(i);
  return 0;
}
