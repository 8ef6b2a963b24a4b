// What the C API is told wrongly, it says; nothing is inserted.
//
//     c-api-errors PROGRAM.ll
#include "midflight_osr_api.h"
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static LLVMModuleRef parse(LLVMContextRef context, const char *path) {
  LLVMMemoryBufferRef buffer;
  LLVMModuleRef module;
  char *message = NULL;
  if (LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &message) ||
      LLVMParseIRInContext(context, buffer, &module, &message)) {
    fprintf(stderr, "c-api-errors: %s\n", message);
    exit(1);
  }
  return module;
}

static LLVMValueRef nothing(void *user, LLVMBuilderRef builder, const LLVMValueRef *needs,
                            size_t count) {
  return NULL;
}

static LLVMValueRef given(void *user, LLVMBuilderRef builder, const LLVMValueRef *needs,
                          size_t count) {
  return user;
}

/// The second instruction of a function, which is `%1`.
static LLVMValueRef second(LLVMValueRef function) {
  LLVMValueRef first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));
  return LLVMGetNextInstruction(first);
}

static void say(char *message) {
  printf("%s\n", message ? message : "no message");
  midflight_osr_free_text(message);
}

static void refuse(LLVMValueRef before, const char *condition, midflight_state_map *map) {
  char *message = NULL;
  if (midflight_osr_insert_resolved(before, "hot", condition, map, &message))
    printf("inserted\n");
  say(message);
}

int main(int argc, char **argv) {
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef module = parse(context, argv[1]), other = parse(context, argv[1]);
  LLVMValueRef from = LLVMGetNamedFunction(module, "from"), to = LLVMGetNamedFunction(module, "to");
  LLVMValueRef n = LLVMGetParam(from, 0), m = LLVMGetParam(to, 0), at = second(from);
  LLVMValueRef landing = second(to), live = LLVMGetPreviousInstruction(landing);
  char *before = LLVMPrintModuleToString(module), *message = NULL;

  printf("%p\n", (void *)midflight_state_map_create(from, NULL));
  printf("%p\n", (void *)midflight_state_map_create(n, to));
  midflight_state_map_identity(from, m, &message);
  say(message);
  refuse(at, "flag", NULL);

  midflight_state_map *map = midflight_state_map_create(from, LLVMGetNamedFunction(other, "to"));
  refuse(at, "flag", map);
  midflight_state_map_dispose(map);

  map = midflight_state_map_create(from, to);
  midflight_state_map_values(map, m, n, &message);
  say(message);
  midflight_state_map_values(map, n, LLVMConstInt(LLVMTypeOf(n), 1, 0), &message);
  say(message);
  midflight_state_map_values(map, NULL, m, &message);
  say(message);
  midflight_state_map_values(map, n, m, &message);
  refuse(NULL, "flag", map);
  refuse(at, "patch", map);
  midflight_state_map_landing(map, at, landing);
  refuse(at, "flag", map);
  midflight_state_map_compensate(map, at, live, NULL, 0, nothing, NULL);
  refuse(at, "flag", map);
  midflight_state_map_compensate(map, at, live, NULL, 0, given, at);
  refuse(at, "flag", map);
  midflight_state_map_compensate(map, at, live, NULL, 0, given,
                                 LLVMConstInt(LLVMInt1TypeInContext(context), 1, 0));
  refuse(at, "flag", map);
  midflight_state_map_compensate(map, at, live, &at, 1, given, NULL);
  refuse(at, "flag", map);
  midflight_state_map_landing(map, at, m);
  refuse(at, "flag", map);
  midflight_state_map_dispose(map);

  printf("%s\n", strcmp(before, LLVMPrintModuleToString(module)) ? "changed" : "unchanged");
  return 0;
}
