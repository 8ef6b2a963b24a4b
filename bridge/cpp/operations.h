//===- operations.h - What is known of operations -------------------------===//

#ifndef MIDFLIGHT_OPERATIONS_H
#define MIDFLIGHT_OPERATIONS_H

namespace llvm {
class CallBase;
class Function;
class Instruction;
class Value;
} // namespace llvm

namespace midflight {

// The operation on unsigned numbers that gives the same where no operand is
// negative; 0 if there is none.
unsigned unsignedOpcode(const llvm::Instruction &I);

// True if a value is neither poison nor undef in any run without undefined
// behaviour; in those runs that come to a place, if one is given.
bool isWellDefined(const llvm::Value *V, const llvm::Instruction *At = nullptr);

// True if a value is not poison, but may be undef, in any run without undefined
// behaviour that comes to a place.
bool isNotPoison(const llvm::Value *V, const llvm::Instruction *At);

// True for a division or a shift to the right by a constant that is poison if
// that leaves a remainder.
bool isExactByConstant(const llvm::Instruction &I);

// True if what a call calls is the C library's if it has its name: where the
// library's functions are what they are elsewhere.
bool mayBeOfLibrary(const llvm::CallBase &Call, const llvm::Function &Callee);

// True if a call may return more than once, as that of setjmp.
bool returnsTwice(const llvm::CallBase &Call);

} // namespace midflight

#endif
