// A generator of the program's own: a pattern matcher that is specialized to its pattern. It
// assumes the pattern's address, and loads of the pattern are constants in the version. Then
// generators that fail in all ways: the program goes on, and one line says why.
// RUN: clang %level -I %runtime_include %s -o %t.plain
// RUN: %clang %level -I %runtime_include -I %llvm_root/include -DMIDFLIGHT_OSR=1 %s -o %t %osr='osr-point;where=marker;when=count:30;to=open:user:pattern;verify' %runtime -lLLVM-%llvm -Wl,--export-dynamic
// RUN: env KIND=good %open %t.plain %t %jit never now background always every:3 'at:*:1'
// RUN: env KIND=fails MIDFLIGHT_OSR_COMPILE=now MIDFLIGHT_JIT=%jit %t > %t.out 2> %t.err; %t.plain | diff - %t.out
// RUN: FileCheck --check-prefix=FAILS %s < %t.err
// FAILS: midflight: no version of 'match' at point 'pattern': I do not like it
// RUN: env KIND=number MIDFLIGHT_OSR_COMPILE=now MIDFLIGHT_JIT=%jit %t > %t.out 2> %t.err; %t.plain | diff - %t.out
// RUN: FileCheck --check-prefix=NUMBER %s < %t.err
// NUMBER: midflight: no version of 'match' at point 'pattern': the generator failed with 7
// RUN: env KIND=nothing MIDFLIGHT_OSR_COMPILE=now MIDFLIGHT_JIT=%jit %t > %t.out 2> %t.err; %t.plain | diff - %t.out
// RUN: not test -s %t.err
// RUN: env KIND=broken MIDFLIGHT_OSR_COMPILE=now MIDFLIGHT_JIT=%jit %t > %t.out 2> %t.err; %t.plain | diff - %t.out
// RUN: FileCheck --check-prefix=BROKEN %s < %t.err
// BROKEN: midflight: no version of 'match' at point 'pattern': it does not verify
// RUN: env KIND=endless MIDFLIGHT_JIT=%jit %t > %t.out 2> %t.err; %t.plain | diff - %t.out
// RUN: env KIND=none MIDFLIGHT_OSR_COMPILE=now MIDFLIGHT_JIT=%jit %t > %t.out 2> %t.err; %t.plain | diff - %t.out
// RUN: FileCheck --check-prefix=NONE %s < %t.err
// NONE: midflight: no version of 'match' at point 'pattern': the program has no generator 'pattern'; it is made known by midflight_osr_generator
#include <midflight.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const patterns[] = {"a.c*d", "*x*y*", "abc", "*"};

__attribute__((noinline)) int match(const char *pattern, const char *text) {
  int steps = 0;
  const char *star = NULL, *after = NULL;
  while (*text) {
    MIDFLIGHT_OSR_OPEN("pattern", pattern);
    steps++;
    if (*pattern == '*') {
      star = ++pattern;
      after = text;
    } else if (*pattern == *text || *pattern == '.') {
      pattern++;
      text++;
    } else if (star) {
      pattern = star;
      text = ++after;
    } else {
      return -steps;
    }
  }
  while (*pattern == '*')
    pattern++;
  return *pattern ? -steps : steps;
}

#ifdef MIDFLIGHT_OSR
#include <llvm-c/Core.h>

/* Loads of bytes from constant addresses within a pattern are constants. */
static int fold(void *function, void *user) {
  (void)user;
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
      if (!LLVMIsALoadInst(i))
        continue;
      LLVMValueRef address = LLVMGetOperand(i, 0);
      if (!LLVMIsAConstantExpr(address) || LLVMGetConstOpcode(address) != LLVMIntToPtr)
        continue;
      const char *at = (const char *)LLVMConstIntGetZExtValue(LLVMGetOperand(address, 0));
      for (int p = 0; p < 4; p++)
        if (at >= patterns[p] && at <= patterns[p] + strlen(patterns[p]))
          LLVMReplaceAllUsesWith(i, LLVMConstInt(LLVMTypeOf(i), *at, 1));
    }
  return 0;
}

static int ruin(void *function, void *user) {
  (void)user;
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(
      LLVMGetModuleContext(LLVMGetGlobalParent(function)));
  LLVMPositionBuilderAtEnd(builder, LLVMGetLastBasicBlock(function));
  LLVMBuildRetVoid(builder);
  LLVMDisposeBuilder(builder);
  return 0;
}

static int make(struct midflight_generation *g, void *user) {
  const char *kind = user;
  if (!strcmp(kind, "fails"))
    g->fail(g, "I do not like it");
  if (!strcmp(kind, "number"))
    return 7;
  if (!strcmp(kind, "nothing"))
    return 1;
  if (!strcmp(kind, "broken")) {
    g->transform(g, ruin, NULL);
    return 0;
  }
  while (!strcmp(kind, "endless")) {
  }
  if (g->version != MIDFLIGHT_GENERATION_VERSION)
    return 2;
  if (!g->value || g->assume(g, g->value, g->point, g->key))
    return 3;
  if (!g->assume(g, g->point, g->point, 0) || !g->assume(g, LLVMGetParam(g->function, 0), NULL, 0))
    return 4;
  g->transform(g, fold, NULL);
  return 0;
}
#endif

int main(void) {
#ifdef MIDFLIGHT_OSR
  const char *kind = getenv("KIND");
  if (kind && strcmp(kind, "none") && midflight_osr_generator("pattern", make, (void *)kind))
    return 1;
#endif
  char text[200];
  for (int round = 0; round < 60; round++) {
    for (int i = 0; i < 199; i++)
      text[i] = "abcdxyabc"[(i * i + round) % 9];
    text[round % 40 ? 199 : 10] = 0;
    text[199] = 0;
    for (int p = 0; p < 4; p++)
      printf("%d ", match(patterns[p], text));
    putchar('\n');
  }
}
