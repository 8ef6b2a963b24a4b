//===- inliner.cpp - What is inlined before functions are profiled --------===//
//
// What a small function costs is mostly the profiling of it, and one that is
// inlined later has, for each caller, other counts than all together. So what
// will surely be inlined is inlined first, by the passes and thresholds that
// LLVM has for its own instrumentation of the IR (`-preinline-threshold`); but
// branches stay what they are: of a select, paths do not tell what it chose.
//
//===----------------------------------------------------------------------===//

#include "inliner.h"

#include "llvm/Analysis/InlineAdvisor.h"
#include "llvm/Analysis/InlineCost.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/Inliner.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LowerExpectIntrinsic.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

using namespace llvm;

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
  MPM.addPass(std::move(Inliner));
  // What nobody calls any more.
  MPM.addPass(GlobalDCEPass());
}
