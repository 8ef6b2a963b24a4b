//===- sandbox.h - Analysis managers of our own ---------------------------===//

#ifndef MIDFLIGHT_SANDBOX_H
#define MIDFLIGHT_SANDBOX_H

#include "llvm/Passes/PassBuilder.h"

namespace midflight {

// Analysis managers of its own: the host's instrumentation skips functions that
// are not to be optimized, and its caches must not see the clone.
struct Sandbox {
  llvm::PassBuilder PB;
  llvm::LoopAnalysisManager LAM;
  llvm::FunctionAnalysisManager FAM;
  llvm::CGSCCAnalysisManager CGAM;
  llvm::ModuleAnalysisManager MAM;

  Sandbox() {
    PB.registerModuleAnalyses(MAM);
    PB.registerCGSCCAnalyses(CGAM);
    PB.registerFunctionAnalyses(FAM);
    PB.registerLoopAnalyses(LAM);
    PB.crossRegisterProxies(LAM, FAM, CGAM, MAM);
  }
};

} // namespace midflight

#endif
