//===- inliner.h - What is inlined before functions are profiled ----------===//

#pragma once

#include "llvm/Passes/PassBuilder.h"

namespace midflight {

/// Adds passes that inline small functions, and clean up without turning
/// branches into selects. Nothing at -O0.
void addInliner(llvm::ModulePassManager &MPM, llvm::OptimizationLevel Level);

} // namespace midflight
