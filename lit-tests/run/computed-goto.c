// A threaded interpreter: edges of an indirectbr cannot be split.
// RUN: %cc %level --midflight-k=3 %s -o %t && env MIDFLIGHT_PROFILE=%t.mfp %t && %show %t %t.mfp | %expect \
// RUN:   "f('run')['entries'] == 1" "f('run')['interrupted'] == 0"
int total;

__attribute__((noinline)) void run(const unsigned char *code) {
  static void *ops[] = {&&halt, &&add, &&twice, &&back};
  int pc = 0, loops = 0;
  goto *ops[code[pc++]];
add:
  total++;
  goto *ops[code[pc++]];
twice:
  total *= 2;
  goto *ops[code[pc++]];
back:
  if (++loops < 10)
    pc = 0;
  goto *ops[code[pc++]];
halt:
  return;
}

int main(void) {
  run((const unsigned char[]){1, 1, 2, 3, 0});
  return total == 0;
}
