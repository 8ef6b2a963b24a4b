//===- inliner.cpp - What is inlined before functions are profiled --------===//
//
// What a small function costs is mostly the profiling of it, and one that is
// inlined later has, for each caller, other counts than all together. So what
// will surely be inlined is inlined first, by the passes and thresholds that
// LLVM has for its own instrumentation of the IR (`-preinline-threshold`); but
// branches stay what they are: of a select, paths do not tell what it chose.
// And a function with one caller, which LLVM inlines whatever its size, stays
// where it is unless it is small: its counts are those of its caller anyway,
// and loops are optimized better in a function of their own.
//
//===----------------------------------------------------------------------===//

#include "inliner.h"

#include "llvm/Analysis/InlineAdvisor.h"
#include "llvm/Analysis/InlineCost.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/Inliner.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LowerExpectIntrinsic.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

using namespace llvm;

namespace {

/// About as many instructions as the threshold lets pass without a bonus.
constexpr unsigned SmallSize = 15;

constexpr char Mark[] = "midflight-one-caller";

bool isLargeWithOneCaller(const Function &F) {
  if (!F.hasLocalLinkage() || F.isDeclaration() || !F.hasOneUse() ||
      F.hasFnAttribute(Attribute::AlwaysInline) ||
      F.hasFnAttribute(Attribute::NoInline))
    return false;
  auto *Call = dyn_cast<CallBase>(F.user_back());
  return Call && Call->getCalledFunction() == &F &&
         F.getInstructionCount() > SmallSize;
}

/// Keeps the inliner from functions with one caller.
struct HoldPass : PassInfoMixin<HoldPass> {
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    for (Function &F : M)
      if (isLargeWithOneCaller(F)) {
        F.addFnAttr(Attribute::NoInline);
        F.addFnAttr(Mark);
      }
    return PreservedAnalyses::none();
  }
};

/// Lets go of what HoldPass held.
struct ReleasePass : PassInfoMixin<ReleasePass> {
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    for (Function &F : M)
      if (F.hasFnAttribute(Mark)) {
        F.removeFnAttr(Attribute::NoInline);
        F.removeFnAttr(Mark);
      }
    return PreservedAnalyses::none();
  }
};

} // namespace

void midflight::addInliner(ModulePassManager &MPM, OptimizationLevel Level) {
  if (Level == OptimizationLevel::O0)
    return;
  constexpr int Threshold = 75, HintThreshold = 325;
  InlineParams Params;
  Params.DefaultThreshold = Threshold;
  Params.HintThreshold =
      Level.isOptimizingForSize() ? Threshold : HintThreshold;
  auto Simplify = [] {
    return SimplifyCFGPass(SimplifyCFGOptions().speculateBlocks(false));
  };

  FunctionPassManager First;
  First.addPass(LowerExpectIntrinsicPass());
  First.addPass(Simplify());
  First.addPass(SROAPass(SROAOptions::ModifyCFG));
  First.addPass(EarlyCSEPass());
  MPM.addPass(createModuleToFunctionPassAdaptor(std::move(First)));

  FunctionPassManager CleanUp;
  CleanUp.addPass(SROAPass(SROAOptions::ModifyCFG));
  CleanUp.addPass(EarlyCSEPass());
  CleanUp.addPass(Simplify());
  CleanUp.addPass(InstCombinePass());
  ModuleInlinerWrapperPass Inliner(
      Params, /*MandatoryFirst=*/true,
      InlineContext{ThinOrFullLTOPhase::None, InlinePass::EarlyInliner});
  Inliner.getPM().addPass(createCGSCCToFunctionPassAdaptor(std::move(CleanUp)));
  MPM.addPass(HoldPass());
  MPM.addPass(std::move(Inliner));
  MPM.addPass(ReleasePass());
  // What nobody calls any more.
  MPM.addPass(GlobalDCEPass());
}
