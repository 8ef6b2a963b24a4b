//===- sandbox.h - Analysis managers of our own ---------------------------===//

#ifndef MIDFLIGHT_SANDBOX_H
#define MIDFLIGHT_SANDBOX_H

#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include <map>
#include <memory>
#include <vector>

namespace midflight {

// Lets the analysis be asked for that tells which branches say something of a
// value.
void registerConditionsAnalysis(llvm::FunctionAnalysisManager &FAM);

// Analysis managers of its own: the host's instrumentation skips functions that
// are not to be optimized, and its caches must not see the clone.
struct Sandbox {
  llvm::PassBuilder PB;
  llvm::LoopAnalysisManager LAM;
  llvm::FunctionAnalysisManager FAM;
  llvm::CGSCCAnalysisManager CGAM;
  llvm::ModuleAnalysisManager MAM;

  // Where expressions are compared, by which passes, and what was found.
  std::unique_ptr<llvm::Module> Scratch;
  llvm::FunctionPassManager Prover;
  llvm::FunctionPassManager BoundedProver;
  std::map<std::vector<uint64_t>, bool> Proved;

  Sandbox() {
    PB.registerModuleAnalyses(MAM);
    PB.registerCGSCCAnalyses(CGAM);
    PB.registerFunctionAnalyses(FAM);
    registerConditionsAnalysis(FAM);
    PB.registerLoopAnalyses(LAM);
    PB.crossRegisterProxies(LAM, FAM, CGAM, MAM);
  }
};

} // namespace midflight

#endif
