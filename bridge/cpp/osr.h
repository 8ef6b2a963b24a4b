//===- osr.h - What the parts of on-stack replacement share ---------------===//

#ifndef MIDFLIGHT_OSR_H
#define MIDFLIGHT_OSR_H

#include "llvm/ADT/StringRef.h"

namespace llvm {
class Function;
}

namespace midflight {

// Marks code that makes selectors portable: no point is inside it.
constexpr llvm::StringLiteral GlueKind = "midflight.glue";

// Makes the selectors of a function's exceptions mean the same in every
// version.
void makeSelectorsPortable(llvm::Function &F);

// Personalities whose `resume` is a call of _Unwind_Resume.
bool resumesByUnwinder(const llvm::Function &F);

} // namespace midflight

#endif
