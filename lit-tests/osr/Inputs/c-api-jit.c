// A JIT by llvm-c: ORC compiles a module with flag points that the C API has inserted; the runtime,
// which is linked into this program, arms them by name and by their flags, and counts.
//
//     c-api-jit PROGRAM.ll
#include "midflight.h"
#include "midflight_osr_api.h"
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <stdio.h>
#include <stdlib.h>

static void fail(const char *message) {
  fprintf(stderr, "c-api-jit: %s\n", message);
  exit(1);
}

static void check(LLVMErrorRef error) {
  if (error)
    fail(LLVMGetErrorMessage(error));
}

/// A flag point at the head of the second block of `base`, which moves to a copy.
static void insert(LLVMModuleRef module, const char *name) {
  char *message = NULL;
  LLVMValueRef base = LLVMGetNamedFunction(module, name);
  LLVMValueRef copy = LLVMGetNamedFunction(module, "copy");
  midflight_state_map *map = midflight_state_map_identity(base, copy, &message);
  if (!map)
    fail(message);
  LLVMBasicBlockRef loop = LLVMGetNextBasicBlock(LLVMGetEntryBasicBlock(base));
  LLVMValueRef at = LLVMGetFirstInstruction(loop);
  while (LLVMGetInstructionOpcode(at) == LLVMPHI)
    at = LLVMGetNextInstruction(at);
  midflight_osr_point *point =
      midflight_osr_insert_resolved(at, "hot", "flag", map, &message);
  if (!point || !midflight_osr_point_flag(point))
    fail(message);
  midflight_osr_release(point);
  midflight_state_map_dispose(map);
}

static LLVMMemoryBufferRef compile(LLVMModuleRef module) {
  char *message = NULL, *triple = LLVMGetDefaultTargetTriple();
  LLVMTargetRef target;
  LLVMMemoryBufferRef object;
  LLVMInitializeNativeTarget();
  LLVMInitializeNativeAsmPrinter();
  LLVMInitializeNativeAsmParser();
  if (LLVMGetTargetFromTriple(triple, &target, &message))
    fail(message);
  LLVMTargetMachineRef machine =
      LLVMCreateTargetMachine(target, triple, "generic", "", LLVMCodeGenLevelDefault,
                              LLVMRelocPIC, LLVMCodeModelDefault);
  if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMObjectFile, &message, &object))
    fail(message);
  LLVMDisposeTargetMachine(machine);
  LLVMDisposeMessage(triple);
  return object;
}

int main(int argc, char **argv) {
  LLVMMemoryBufferRef buffer;
  LLVMModuleRef module;
  char *message = NULL;
  LLVMContextRef context = LLVMContextCreate();
  if (argc != 2 || LLVMCreateMemoryBufferWithContentsOfFile(argv[1], &buffer, &message) ||
      LLVMParseIRInContext(context, buffer, &module, &message))
    fail(message ? message : "usage: c-api-jit PROGRAM.ll");
  insert(module, "sum");
  if (midflight_osr_emit_registration(module, "sum", &message))
    fail("a name that is taken");
  printf("%s\n", message);
  midflight_osr_free_text(message);
  if (!midflight_osr_emit_registration(module, "points", &message))
    fail(message);

  LLVMOrcLLJITRef jit;
  LLVMOrcExecutorAddress sum_at, points_at;
  LLVMMemoryBufferRef object = compile(module);
  check(LLVMOrcCreateLLJIT(&jit, NULL));
  check(LLVMOrcLLJITAddObjectFile(jit, LLVMOrcLLJITGetMainJITDylib(jit), object));
  check(LLVMOrcLLJITLookup(jit, &sum_at, "sum"));
  check(LLVMOrcLLJITLookup(jit, &points_at, "points"));
  long (*sum)(long) = (long (*)(long))sum_at;
  midflight_osr_points *points = (midflight_osr_points *)points_at;

  printf("unknown: %d\n", midflight_osr_arm("hot"));
  midflight_osr_register_code(points);
  printf("unarmed: %ld %llu\n", sum(10), midflight_osr_count("hot"));
  int armed = midflight_osr_arm("hot");
  printf("armed: %d %ld", armed, sum(10));
  printf(" %llu\n", midflight_osr_count("hot"));
  *(volatile uint32_t *)midflight_osr_flag("hot") = 0;
  printf("flag: %ld %llu\n", sum(10), midflight_osr_count("hot"));
  midflight_osr_unregister_code(points);
  check(LLVMOrcDisposeLLJIT(jit));
  printf("gone: %d %llu\n", midflight_osr_arm("hot"), midflight_osr_count("hot"));
  LLVMDisposeModule(module);
  LLVMContextDispose(context);
  return 0;
}
