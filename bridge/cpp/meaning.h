//===- meaning.h - What a function of a few operations gives --------------===//
//
// The functions that the prover makes: over their arguments, one block after
// the other, each of which a branch may leave to where nothing goes on.
//
//===----------------------------------------------------------------------===//

#ifndef MIDFLIGHT_MEANING_H
#define MIDFLIGHT_MEANING_H

#include "llvm/IR/Function.h"

namespace midflight {

// True if the function gives false for some arguments that it was tried with.
bool isRefutedBySamples(llvm::Function &F);

// True if Z3 proves, within a bounded number of steps, that the function gives
// true, or poison, whatever its arguments are.
bool isProvedByZ3(llvm::Function &F);

} // namespace midflight

#endif
