//===- accesses.cpp - What single instructions access --------------------===//
//
// How many bytes loads and stores access, and what has one byte all over once
// an instruction has run.
//
//===----------------------------------------------------------------------===//

#include "llvm-c/Core.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

/// What a simple load or store accesses: its type, and how the place is
/// aligned; null for others.
static std::pair<Type *, Align> simplyAccessed(Instruction *I) {
  if (auto *Load = dyn_cast<LoadInst>(I); Load && Load->isSimple())
    return {Load->getType(), Load->getAlign()};
  if (auto *Store = dyn_cast<StoreInst>(I); Store && Store->isSimple())
    return {Store->getValueOperand()->getType(), Store->getAlign()};
  return {nullptr, Align()};
}

extern "C" {

/// For a simple load or store of an integer: how many bytes that is in memory;
/// else 0.
uint64_t mfb_integer_bytes(LLVMValueRef Inst) {
  Type *T = simplyAccessed(unwrap<Instruction>(Inst)).first;
  return T && T->isIntegerTy() && T->getIntegerBitWidth() % 8 == 0
             ? T->getIntegerBitWidth() / 8
             : 0;
}

/// How many bytes a simple load or store accesses; for others, 0.
uint64_t mfb_accessed_bytes(LLVMValueRef Inst) {
  auto *I = unwrap<Instruction>(Inst);
  Type *T = simplyAccessed(I).first;
  if (!T)
    return 0;
  TypeSize Size = I->getDataLayout().getTypeStoreSize(T);
  return Size.isFixed() ? Size.getFixedValue() : 0;
}

/// Whether it is a simple load or store whose address is a multiple of as many
/// bytes as it accesses, so that two such accesses of one size are of one
/// place, or of places that do not overlap.
bool mfb_is_aligned(LLVMValueRef Inst) {
  uint64_t Bytes = mfb_accessed_bytes(Inst);
  Align Known = simplyAccessed(unwrap<Instruction>(Inst)).second;
  return Bytes != 0 && Known.value() % Bytes == 0;
}

/// Where a simple store, copy or fill of memory writes; null for others.
static Value *writtenAddress(Instruction *I) {
  if (auto *Store = dyn_cast<StoreInst>(I))
    return Store->isSimple() ? Store->getPointerOperand() : nullptr;
  auto *Memory = dyn_cast<MemIntrinsic>(I);
  return Memory && !Memory->isVolatile() ? Memory->getRawDest() : nullptr;
}

/// Zero, if the first bytes of a constant are that, or are padding, of which
/// nothing else is known; else null.
static Value *zeroOf(Value *V, uint64_t Bytes, const DataLayout &DL) {
  auto *GV = dyn_cast<GlobalVariable>(V->stripPointerCasts());
  if (!GV || !GV->isConstant() || !GV->hasDefinitiveInitializer() ||
      Bytes > DL.getTypeStoreSize(GV->getValueType()).getFixedValue())
    return nullptr;
  auto *Byte =
      dyn_cast_or_null<ConstantInt>(isBytewiseValue(GV->getInitializer(), DL));
  return Byte && Byte->isZero() ? Byte : nullptr;
}

/// For what writes one byte to all bytes of a place, whose number is constant:
/// that number, and the byte, which is a constant or what is stored. Zeros may
/// be copied from a constant.
bool mfb_fills(LLVMValueRef Inst, uint32_t *Bytes, LLVMValueRef *Byte) {
  auto *I = unwrap<Instruction>(Inst);
  if (!writtenAddress(I))
    return false;
  const DataLayout &DL = I->getModule()->getDataLayout();
  Value *Filled = nullptr;
  if (auto *Memory = dyn_cast<MemIntrinsic>(I)) {
    auto *Length = dyn_cast<ConstantInt>(Memory->getLength());
    if (!Length || Length->getValue().getActiveBits() > 32)
      return false;
    *Bytes = static_cast<uint32_t>(Length->getZExtValue());
    auto *Copy = dyn_cast<MemTransferInst>(Memory);
    Filled = Copy ? zeroOf(Copy->getRawSource(), *Bytes, DL)
                  : cast<MemSetInst>(Memory)->getValue();
  } else {
    Value *Stored = cast<StoreInst>(I)->getValueOperand();
    Type *T = Stored->getType();
    // What padding and unused bits have is not known.
    if (!T->isSingleValueType() || isa<ScalableVectorType>(T) ||
        !DL.typeSizeEqualsStoreSize(T))
      return false;
    *Bytes = static_cast<uint32_t>(DL.getTypeStoreSize(T).getFixedValue());
    Filled = isBytewiseValue(Stored, DL);
  }
  if (!Filled || *Bytes == 0)
    return false;
  // Of other constants it is not known what each of their uses is.
  if (isa<Constant>(Filled) && !isa<ConstantInt>(Filled))
    return false;
  *Byte = wrap(Filled);
  return true;
}

/// The integer that constant operations give, of at most \p Depth levels; null
/// for others.
static ConstantInt *folded(Value *V, const DataLayout &DL, unsigned Depth) {
  if (auto *C = dyn_cast<ConstantInt>(V))
    return C;
  auto *I = dyn_cast<Instruction>(V);
  if (!I || Depth == 0 || !(I->isBinaryOp() || I->isCast()))
    return nullptr;
  SmallVector<Constant *, 2> Operands;
  for (Value *Operand : I->operands()) {
    Constant *C = folded(Operand, DL, Depth - 1);
    if (!C)
      return nullptr;
    Operands.push_back(C);
  }
  return dyn_cast_or_null<ConstantInt>(
      ConstantFoldInstOperands(I, Operands, DL));
}

/// A pointer without the constant offsets that were added to it, and their sum.
static std::pair<Value *, APInt> withoutOffsets(Value *V,
                                                const DataLayout &DL) {
  APInt Offset(DL.getIndexTypeSizeInBits(V->getType()), 0);
  auto Folds = [&DL](Value &Index, APInt &Is) {
    ConstantInt *C = folded(&Index, DL, 4);
    if (C)
      Is = C->getValue();
    return C != nullptr;
  };
  const Value *Base = V->stripAndAccumulateConstantOffsets(
      DL, Offset, /*AllowNonInbounds=*/true, /*AllowInvariantGroup=*/false,
      Folds);
  return {const_cast<Value *>(Base), Offset};
}

/// How many bytes behind the place that one such instruction writes to the
/// other one's is, if that is constant.
bool mfb_bytes_behind(LLVMValueRef Inst, LLVMValueRef Other, int64_t *Bytes) {
  auto *I = unwrap<Instruction>(Inst);
  Value *From = writtenAddress(I);
  Value *To = writtenAddress(unwrap<Instruction>(Other));
  if (!From || !To)
    return false;
  const DataLayout &DL = I->getModule()->getDataLayout();
  if (auto Offset = To->getPointerOffsetFrom(From, DL)) {
    *Bytes = *Offset;
    return true;
  }
  auto [FromBase, FromOffset] = withoutOffsets(From, DL);
  auto [ToBase, ToOffset] = withoutOffsets(To, DL);
  if (FromBase != ToBase || FromOffset.getBitWidth() != ToOffset.getBitWidth())
    return false;
  *Bytes = (ToOffset - FromOffset).getSExtValue();
  return true;
}

} // extern "C"
