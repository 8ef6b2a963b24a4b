//===- sandbox.cpp - Stock passes on one function -------------------------===//
//
// Runs LLVM's passes on one function, and follows what becomes of its blocks
// and instructions.
//
//===----------------------------------------------------------------------===//

#include "sandbox.h"
#include "llvm-c/Core.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/ValueHandle.h"

using namespace llvm;
using namespace midflight;

namespace {

//===----------------------------------------------------------------------===//
// Pipelines
//===----------------------------------------------------------------------===//

char *message(Error E) {
  std::string Text = toString(std::move(E));
  return LLVMCreateMessage(Text.c_str());
}

// The level that `default<O2>` names, if the text is that.
std::optional<OptimizationLevel> levelOf(StringRef Text) {
  if (!Text.consume_front("default<") || !Text.consume_back(">"))
    return std::nullopt;
  return StringSwitch<std::optional<OptimizationLevel>>(Text)
      .Case("O1", OptimizationLevel::O1)
      .Case("O2", OptimizationLevel::O2)
      .Case("O3", OptimizationLevel::O3)
      .Case("Os", OptimizationLevel::Os)
      .Case("Oz", OptimizationLevel::Oz)
      .Default(std::nullopt);
}

// A pipeline of function passes. `default<O2>` stands for what LLVM's pipeline
// of that level does to a single function.
Error parsePipeline(PassBuilder &PB, FunctionPassManager &FPM, StringRef Text) {
  // As in opt, a pass over loops may be named without `loop(...)`.
  unsigned Depth = 0;
  size_t Begin = 0;
  for (size_t N = 0; N <= Text.size(); ++N) {
    char C = N == Text.size() ? ',' : Text[N];
    Depth += C == '(' || C == '<';
    Depth -= (C == ')' || C == '>') && Depth;
    if (C != ',' || (Depth && N != Text.size()))
      continue;
    std::string Pass = Text.slice(Begin, N).trim().str();
    Begin = N + 1;
    if (std::optional<OptimizationLevel> Level = levelOf(Pass)) {
      FPM.addPass(PB.buildFunctionSimplificationPipeline(
          *Level, ThinOrFullLTOPhase::None));
      continue;
    }
    Error E = PB.parsePassPipeline(FPM, Pass);
    if (!E)
      continue;
    FunctionPassManager Wrapped;
    if (Error Other =
            PB.parsePassPipeline(Wrapped, "loop-mssa(" + Pass + ")")) {
      consumeError(std::move(Other));
      return E;
    }
    consumeError(std::move(E));
    FPM.addPass(std::move(Wrapped));
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// What becomes of blocks and instructions
//===----------------------------------------------------------------------===//

struct Tracker {
  // The instruction itself, null when it is deleted.
  std::vector<WeakVH> Self;
  // What stands for it: it follows every replacement of all uses.
  std::vector<WeakTrackingVH> Now;
  std::vector<WeakVH> Blocks;
};

} // namespace

extern "C" {

void *mfb_sandbox_new() { return new Sandbox; }

void mfb_sandbox_free(void *S) { delete static_cast<Sandbox *>(S); }

/// Has passes know the module's target, as far as the host does.
void mfb_sandbox_use_target(void *S, void *MAM, LLVMModuleRef M) {
  auto &Modules = *static_cast<ModuleAnalysisManager *>(MAM);
  static_cast<Sandbox *>(S)->Host =
      &Modules.getResult<FunctionAnalysisManagerModuleProxy>(*unwrap(M))
           .getManager();
}

/// Null if the pipeline can be parsed, else a message.
char *mfb_check_pipeline(void *S, const char *Text, size_t Length) {
  FunctionPassManager FPM;
  if (Error E = parsePipeline(static_cast<Sandbox *>(S)->PB, FPM,
                              StringRef(Text, Length)))
    return message(std::move(E));
  return nullptr;
}

/// A pipeline that can be parsed, as the text of its passes one by one.
char *mfb_passes_of_pipeline(const char *Text, size_t Length) {
  PassInstrumentationCallbacks Names;
  PassBuilder PB(nullptr, PipelineTuningOptions(), std::nullopt, &Names);
  FunctionPassManager FPM;
  if (Error E = parsePipeline(PB, FPM, StringRef(Text, Length))) {
    consumeError(std::move(E));
    return nullptr;
  }
  std::string Passes;
  raw_string_ostream OS(Passes);
  FPM.printPipeline(OS, [&](StringRef Class) {
    StringRef Name = Names.getPassNameForClassName(Class);
    return Name.empty() ? Class : Name;
  });
  return LLVMCreateMessage(Passes.c_str());
}

/// Forgets what is known of a function that is changed or erased.
void mfb_sandbox_forget(void *SandboxPtr, LLVMValueRef Fn) {
  auto &S = *static_cast<Sandbox *>(SandboxPtr);
  Function &F = *unwrap<Function>(Fn);
  S.FAM.clear(F, F.getName());
  S.LAM.clear();
}

/// Runs a pipeline of function passes on one function.
char *mfb_run_pipeline(void *SandboxPtr, LLVMValueRef Fn, const char *Text,
                       size_t Length) {
  auto &S = *static_cast<Sandbox *>(SandboxPtr);
  Function &F = *unwrap<Function>(Fn);
  FunctionPassManager FPM;
  if (Error E = parsePipeline(S.PB, FPM, StringRef(Text, Length)))
    return message(std::move(E));
  FPM.run(F, S.FAM);
  mfb_sandbox_forget(SandboxPtr, Fn);
  return nullptr;
}

/// Follows the blocks and instructions of a function from now on.
void *mfb_track(LLVMValueRef Fn) {
  auto *T = new Tracker;
  for (BasicBlock &BB : *unwrap<Function>(Fn)) {
    T->Blocks.emplace_back(&BB);
    for (Instruction &I : BB) {
      T->Self.emplace_back(&I);
      T->Now.emplace_back(&I);
    }
  }
  return T;
}

void mfb_track_free(void *T) { delete static_cast<Tracker *>(T); }

/// The block that once was the n-th; null if it is gone.
LLVMBasicBlockRef mfb_tracked_block(void *T, size_t Index) {
  return wrap(cast_or_null<BasicBlock>(
      static_cast<Value *>(static_cast<Tracker *>(T)->Blocks[Index])));
}

/// The instruction that once was the n-th; null if it was deleted.
LLVMValueRef mfb_tracked(void *T, size_t Index) {
  return wrap(static_cast<Value *>(static_cast<Tracker *>(T)->Self[Index]));
}

/// What stands for the n-th instruction: itself, or what its uses were given;
/// null if it was deleted unused.
LLVMValueRef mfb_tracked_value(void *T, size_t Index) {
  return wrap(static_cast<Value *>(static_cast<Tracker *>(T)->Now[Index]));
}

} // extern "C"
