//===- sandbox.h - Analysis managers of our own ---------------------------===//

#ifndef MIDFLIGHT_SANDBOX_H
#define MIDFLIGHT_SANDBOX_H

#include "llvm/Analysis/TargetTransformInfo.h"
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

  // The host's, which knows the target, if it is asked.
  llvm::FunctionAnalysisManager *Host = nullptr;

  Sandbox() {
    FAM.registerPass([this] {
      return llvm::TargetIRAnalysis([this](const llvm::Function &F) {
        if (!Host)
          return llvm::TargetTransformInfo(F.getDataLayout());
        // A function of the sandbox's may be erased: the host is not to know
        // it.
        auto &Ours = const_cast<llvm::Function &>(F);
        auto Target = std::move(Host->getResult<llvm::TargetIRAnalysis>(Ours));
        Host->clear(Ours, Ours.getName());
        return Target;
      });
    });
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
