// Inserts an OSR point by the C API: `sum` moves to `fast` after 4 iterations. In `fast` there is
// 2*i in place of i, so compensation code doubles it; and each transition is counted in @moves.
//
//     c-api PROGRAM.ll >PROGRAM.osr.ll
#include "midflight_osr_api.h"
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(char *message) {
  fprintf(stderr, "c-api: %s\n", message);
  exit(1);
}

/// The instruction, or argument, of a name.
static LLVMValueRef named(LLVMValueRef function, const char *name) {
  size_t length;
  for (unsigned i = 0; i < LLVMCountParams(function); i++)
    if (!strcmp(LLVMGetValueName2(LLVMGetParam(function, i), &length), name))
      return LLVMGetParam(function, i);
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
      if (!strcmp(LLVMGetValueName2(i, &length), name))
        return i;
  fail("no such value");
  return NULL;
}

static LLVMValueRef twice(void *user, LLVMBuilderRef builder, const LLVMValueRef *needs,
                          size_t count) {
  return LLVMBuildAdd(builder, needs[0], needs[0], "double");
}

static void count_move(void *moves, LLVMBuilderRef builder, const LLVMValueRef *needs,
                       size_t count) {
  LLVMTypeRef type = LLVMGlobalGetValueType(moves);
  LLVMValueRef old = LLVMBuildLoad2(builder, type, moves, "");
  LLVMBuildStore(builder, LLVMBuildAdd(builder, old, LLVMConstInt(type, 1, 0), ""), moves);
}

int main(int argc, char **argv) {
  LLVMMemoryBufferRef buffer;
  LLVMModuleRef module;
  char *message = NULL;
  LLVMContextRef context = LLVMContextCreate();
  if (argc != 2 || LLVMCreateMemoryBufferWithContentsOfFile(argv[1], &buffer, &message) ||
      LLVMParseIRInContext(context, buffer, &module, &message))
    fail(message ? message : "usage: c-api PROGRAM.ll");
  LLVMValueRef sum = LLVMGetNamedFunction(module, "sum"), fast = LLVMGetNamedFunction(module, "fast");
  LLVMValueRef point = named(sum, "square");

  LLVMValueRef live[8];
  ptrdiff_t count = midflight_osr_live_values(point, live, 8);
  fprintf(stderr, "live at the point: %td\n", count);

  midflight_state_map *map = midflight_state_map_create(sum, fast);
  if (midflight_state_map_values(map, named(sum, "n"), named(fast, "m"), &message) ||
      midflight_state_map_values(map, named(sum, "s"), named(fast, "acc"), &message))
    fail(message);

  // What is missing is said.
  if (midflight_osr_insert_resolved(point, "hot", "count:4", map, &message))
    fail("a point without a landing");
  fprintf(stderr, "%s\n", message);
  midflight_osr_free_text(message);

  midflight_state_map_landing(map, point, named(fast, "half"));
  LLVMValueRef needs[] = {named(sum, "i")};
  midflight_state_map_compensate(map, point, named(fast, "double"), needs, 1, twice, NULL);
  midflight_state_map_prologue(map, point, NULL, 0, count_move,
                               LLVMGetNamedGlobal(module, "moves"));

  // Insert, remove, and insert for good.
  for (int i = 0; i < 2; i++) {
    midflight_osr_point *inserted =
        midflight_osr_insert_resolved(point, "hot", "count:4", map, &message);
    if (!inserted)
      fail(message);
    if (i == 0)
      midflight_osr_remove(inserted);
    else
      midflight_osr_release(inserted);
  }
  midflight_state_map_dispose(map);
  if (LLVMVerifyModule(module, LLVMReturnStatusAction, &message))
    fail(message);
  char *text = LLVMPrintModuleToString(module);
  fputs(text, stdout);
  LLVMDisposeMessage(text);
  LLVMDisposeModule(module);
  LLVMContextDispose(context);
  return 0;
}
