//===- unroll.h - Unrolling the loops that a profile names ----------------===//

#ifndef MIDFLIGHT_UNROLL_H
#define MIDFLIGHT_UNROLL_H

#include "llvm/IR/PassManager.h"

namespace midflight {

/// `path-profile-unroll`: what the marks of a profile become, in front of the
/// vectorizer.
struct UnrollMarkedPass : llvm::PassInfoMixin<UnrollMarkedPass> {
  llvm::PreservedAnalyses run(llvm::Function &F,
                              llvm::FunctionAnalysisManager &FAM);
};

} // namespace midflight

#endif
