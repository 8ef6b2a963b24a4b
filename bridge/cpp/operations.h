//===- operations.h - What is known of operations -------------------------===//

#ifndef MIDFLIGHT_OPERATIONS_H
#define MIDFLIGHT_OPERATIONS_H

namespace llvm {
class Instruction;
}

namespace midflight {

// The operation on unsigned numbers that gives the same where no operand is
// negative; 0 if there is none.
unsigned unsignedOpcode(const llvm::Instruction &I);

} // namespace midflight

#endif
