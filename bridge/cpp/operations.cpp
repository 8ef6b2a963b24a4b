//===- operations.cpp - Operations, and several of them together ----------===//
//
// Which are the same, what they are equal to, their flags, and copies of them
// elsewhere.
//
//===----------------------------------------------------------------------===//

#include "operations.h"
#include "llvm-c/Core.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/InstructionSimplify.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace midflight;

unsigned midflight::unsignedOpcode(const Instruction &I) {
  switch (I.getOpcode()) {
  case Instruction::SExt:
    return Instruction::ZExt;
  case Instruction::SIToFP:
    return Instruction::UIToFP;
  case Instruction::AShr:
    return Instruction::LShr;
  case Instruction::SDiv:
    return Instruction::UDiv;
  case Instruction::SRem:
    return Instruction::URem;
  default:
    return 0;
  }
}

bool midflight::isWellDefined(const Value *V, const Instruction *At) {
  return isGuaranteedNotToBeUndefOrPoison(V, /*AC=*/nullptr, At);
}

bool midflight::isNotPoison(const Value *V, const Instruction *At) {
  return isGuaranteedNotToBePoison(V, /*AC=*/nullptr, At);
}

namespace {

bool sameOperation(const Instruction *A, const Instruction *B) {
  if (!A->isSameOperationAs(B))
    return false;
  if (auto *SA = dyn_cast<SwitchInst>(A)) {
    auto *SB = cast<SwitchInst>(B);
    if (SA->getNumCases() != SB->getNumCases())
      return false;
    for (auto CA = SA->case_begin(), CB = SB->case_begin();
         CA != SA->case_end(); ++CA, ++CB)
      if (CA->getCaseValue() != CB->getCaseValue())
        return false;
  }
  if (auto *PA = dyn_cast<LandingPadInst>(A))
    return PA->isIdenticalTo(B);
  return true;
}

Instruction *makeUnsigned(const Instruction &I) {
  unsigned Opcode = unsignedOpcode(I);
  if (I.isCast())
    return CastInst::Create(Instruction::CastOps(Opcode), I.getOperand(0),
                            I.getType());
  return BinaryOperator::Create(Instruction::BinaryOps(Opcode), I.getOperand(0),
                                I.getOperand(1));
}

// How far expressions are looked into
constexpr unsigned DeepestExpression = 4;

// What an expression is made of.
struct Expression {
  // What it is equal to
  const Value *Other = nullptr;
  // How often it uses that
  unsigned Uses = 0;
  // What must not be poison for its flags
  SmallVector<Instruction *, 4> Flagged;
};

// True if a value is poison, or one of several, only if the expression's other
// one is.
bool restsOn(Value *V, Expression &Of, unsigned Depth = 0) {
  if (V == Of.Other) {
    ++Of.Uses;
    return true;
  }
  if (isWellDefined(V))
    return true;
  auto *I = dyn_cast<Instruction>(V);
  if (!I || Depth == DeepestExpression ||
      !(isa<BinaryOperator>(I) || isa<CastInst>(I) || isa<CmpInst>(I)) ||
      canCreateUndefOrPoison(cast<Operator>(I),
                             /*ConsiderFlagsAndMetadata=*/false))
    return false;
  if (I->hasPoisonGeneratingAnnotations())
    Of.Flagged.push_back(I);
  return all_of(I->operands(), [&](Value *Operand) {
    return restsOn(Operand, Of, Depth + 1);
  });
}

// True if an operation on these operands that has another value unless it is
// poison or undef has it even then, but for flags.
bool isTotal(const Instruction &I, ArrayRef<Value *> Ops, Expression &Of) {
  if (isa<SelectInst>(I)) {
    // What is not chosen does not matter.
    auto *Condition = dyn_cast<ConstantInt>(Ops[0]);
    if (Condition && Ops[Condition->isZero() ? 2 : 1] == Of.Other)
      return true;
    if (Ops[1] == Ops[2] && Ops[1] == Of.Other)
      return isWellDefined(Ops[0]);
  }
  // Elements of what is put together are what was put there.
  if (isa<ExtractValueInst>(I))
    return true;
  if (canCreateUndefOrPoison(cast<Operator>(&I),
                             /*ConsiderFlagsAndMetadata=*/false) &&
      !all_of(Ops, [](const Value *V) { return isa<Constant>(V); }))
    return false;
  // Each use of what is undef may have another value.
  return all_of(Ops, [&](Value *Operand) { return restsOn(Operand, Of); }) &&
         (Of.Uses <= 1 || isGuaranteedNotToBeUndef(Of.Other));
}

// Metadata that makes a result poison.
constexpr unsigned PoisonKinds[] = {
    LLVMContext::MD_range, LLVMContext::MD_nonnull, LLVMContext::MD_align};

bool samePoisonMetadata(const Instruction *A, const Instruction *B) {
  return all_of(PoisonKinds, [&](unsigned Kind) {
    return A->getMetadata(Kind) == B->getMetadata(Kind);
  });
}

} // namespace

extern "C" {

/// The global variable that a constant address is in, and how many bytes behind
/// its beginning; null if it is none.
LLVMValueRef mfb_constant_place(LLVMValueRef Ref, int64_t *Offset) {
  auto *C = dyn_cast<Constant>(unwrap(Ref));
  if (!C || !C->getType()->isPointerTy())
    return nullptr;
  auto *Of = const_cast<Value *>(C->stripInBoundsConstantOffsets());
  auto *GV = dyn_cast<GlobalVariable>(Of);
  if (!GV)
    return nullptr;
  const DataLayout &Layout = GV->getParent()->getDataLayout();
  APInt Bytes(Layout.getIndexTypeSizeInBits(C->getType()), 0);
  if (C->stripAndAccumulateConstantOffsets(Layout, Bytes,
                                           /*AllowNonInbounds=*/true) != GV)
    return nullptr;
  *Offset = Bytes.getSExtValue();
  return wrap(GV);
}

const char *mfb_opcode_name(LLVMValueRef Inst) {
  return unwrap<Instruction>(Inst)->getOpcodeName();
}

/// True if control goes on behind an instruction in any case, and it is no
/// access by which threads or hardware speak to each other.
bool mfb_stays(LLVMValueRef Inst) {
  auto *I = unwrap<Instruction>(Inst);
  return !I->mayThrow() && I->willReturn() && !I->isAtomic() &&
         !I->isVolatile();
}

/// True for an operation on signed numbers that has an unsigned counterpart.
bool mfb_has_unsigned(LLVMValueRef Inst) {
  return unsignedOpcode(*unwrap<Instruction>(Inst)) != 0;
}

/// True if a value is neither poison nor undef in any run without undefined
/// behaviour.
bool mfb_is_well_defined(LLVMValueRef V) { return isWellDefined(unwrap(V)); }

/// Gives instructions the same number just if they are the same operation, but
/// for operands and for flags that make a result poison. Those that are marked
/// in Unsigned get that of their unsigned counterpart.
void mfb_number_operations(const LLVMValueRef *Insts, const bool *Unsigned,
                           size_t Count, uint32_t *Numbers) {
  DenseMap<uint64_t, SmallVector<uint32_t, 2>> Buckets;
  SmallVector<Instruction *, 64> Firsts;
  SmallVector<Instruction *, 8> Counterparts;
  for (size_t N = 0; N != Count; ++N) {
    auto *I = unwrap<Instruction>(Insts[N]);
    if (Unsigned[N]) {
      I = makeUnsigned(*I);
      Counterparts.push_back(I);
    }
    Type *Operand =
        I->getNumOperands() ? I->getOperand(0)->getType() : I->getType();
    uint64_t Hash = hash_combine(I->getOpcode(), I->getType(), Operand,
                                 I->getNumOperands());
    auto &Bucket = Buckets[Hash >> 1];
    auto *Known = find_if(
        Bucket, [&](uint32_t F) { return sameOperation(Firsts[F], I); });
    if (Known == Bucket.end()) {
      Bucket.push_back(Firsts.size());
      Firsts.push_back(I);
      Known = std::prev(Bucket.end());
    }
    Numbers[N] = *Known;
  }
  for (Instruction *I : Counterparts)
    I->deleteValue();
}

/// Leaves instructions of the same operation only the flags, and the metadata
/// that can make a result poison, that all of them have.
void mfb_intersect_flags(const LLVMValueRef *Insts, size_t Count) {
  auto *First = unwrap<Instruction>(Insts[0]);
  bool Same = true;
  for (size_t N = 1; N < Count; ++N) {
    auto *I = unwrap<Instruction>(Insts[N]);
    Same &= samePoisonMetadata(First, I);
    First->andIRFlags(I);
  }
  for (size_t N = 0; N < Count; ++N) {
    auto *I = unwrap<Instruction>(Insts[N]);
    if (N)
      I->andIRFlags(First);
    if (!Same)
      for (unsigned Kind : PoisonKinds)
        I->setMetadata(Kind, nullptr);
  }
}

/// Tells which of the instructions mfb_intersect_flags takes something from.
void mfb_losing_flags(const LLVMValueRef *Insts, size_t Count, bool *Losing) {
  auto *First = unwrap<Instruction>(Insts[0]);
  bool Same = true;
  unsigned Shared = ~0u;
  for (size_t N = 0; N < Count; ++N) {
    auto *I = unwrap<Instruction>(Insts[N]);
    Same &= samePoisonMetadata(First, I);
    Shared &= I->getRawSubclassOptionalData();
  }
  for (size_t N = 0; N < Count; ++N)
    Losing[N] =
        !Same ||
        (unwrap<Instruction>(Insts[N])->getRawSubclassOptionalData() & ~Shared);
}

/// Takes from instructions the flags and the metadata that can make a result
/// poison.
void mfb_drop_flags(const LLVMValueRef *Insts, size_t Count) {
  for (size_t N = 0; N < Count; ++N) {
    auto *I = unwrap<Instruction>(Insts[N]);
    I->dropPoisonGeneratingAnnotations();
  }
}

/// What an operation on other operands is equal to: a constant, or a value that
/// is there already; null if LLVM knows none. Nothing is concluded from flags,
/// from undefined values or from the place, and one is poison when the other
/// is, if the instructions lose their flags that this calls back with.
LLVMValueRef mfb_simplify(LLVMValueRef Inst, const LLVMValueRef *Operands,
                          size_t Count, void *To,
                          void (*Add)(void *, LLVMValueRef)) {
  auto *I = unwrap<Instruction>(Inst);
  auto IsUndefined = [](Value *V) {
    auto *C = dyn_cast<Constant>(V);
    return C && C->containsUndefOrPoisonElement();
  };
  SmallVector<Value *, 4> Ops;
  for (size_t N = 0; N != Count; ++N) {
    Ops.push_back(unwrap(Operands[N]));
    if (IsUndefined(Ops.back()))
      return nullptr;
  }
  SimplifyQuery Q(I->getModule()->getDataLayout(), /*TLI=*/nullptr,
                  /*DT=*/nullptr, /*AC=*/nullptr, /*CXTI=*/nullptr,
                  /*UseInstrInfo=*/false, /*CanUseUndef=*/false);
  Value *V = simplifyInstructionWithOperands(I, Ops, Q);
  if (!V || V == I || IsUndefined(V))
    return nullptr;
  Expression Of;
  Of.Other = V;
  if (!isTotal(*I, Ops, Of))
    return nullptr;
  for (Instruction *Flagged : Of.Flagged)
    Add(To, wrap(static_cast<Value *>(Flagged)));
  return wrap(V);
}

/// For an operation that adds multiples of its operands, modulo 2^64 or the
/// size of its type: calls back with each operand that is no constant, and its
/// factor, and gives the constant. For an address, operand 0 is the base.
bool mfb_linear(LLVMValueRef Inst, int64_t *ConstantPart, void *To,
                void (*Add)(void *, uint32_t, int64_t)) {
  auto *I = unwrap<Instruction>(Inst);
  *ConstantPart = 0;
  auto Term = [&](unsigned Operand, int64_t Factor) {
    if (auto *C = dyn_cast<ConstantInt>(I->getOperand(Operand)))
      *ConstantPart += Factor * C->getSExtValue();
    else
      Add(To, Operand, Factor);
  };
  if (auto *GEP = dyn_cast<GetElementPtrInst>(I)) {
    const DataLayout &DL = I->getModule()->getDataLayout();
    if (GEP->getType()->isVectorTy() ||
        DL.getIndexTypeSizeInBits(GEP->getType()) != 64)
      return false;
    APInt Constant(64, 0);
#if LLVM_VERSION_MAJOR >= 20
    SmallMapVector<Value *, APInt, 4> Offsets;
#else
    MapVector<Value *, APInt> Offsets;
#endif
    if (!GEP->collectOffset(DL, 64, Offsets, Constant))
      return false;
    *ConstantPart = Constant.getSExtValue();
    Add(To, 0, 1);
    for (auto &[Index, Scale] : Offsets)
      for (unsigned N = 1; N != GEP->getNumOperands(); ++N)
        if (GEP->getOperand(N) == Index) {
          Add(To, N, Scale.getSExtValue());
          break;
        }
    return true;
  }
  if (!I->getType()->isIntegerTy() || I->getType()->getIntegerBitWidth() > 64)
    return false;
  switch (I->getOpcode()) {
  case Instruction::Add:
    Term(0, 1);
    Term(1, 1);
    return true;
  case Instruction::Sub:
    Term(0, 1);
    Term(1, -1);
    return true;
  case Instruction::Mul:
    if (auto *C = dyn_cast<ConstantInt>(I->getOperand(1))) {
      Term(0, C->getSExtValue());
      return true;
    }
    return false;
  case Instruction::Shl:
    if (auto *C = dyn_cast<ConstantInt>(I->getOperand(1)))
      if (C->getValue().ult(I->getType()->getIntegerBitWidth())) {
        Term(0, int64_t(uint64_t(1) << C->getZExtValue()));
        return true;
      }
    return false;
  default:
    return false;
  }
}

/// The value for which a switch goes to a block, if there is just one.
LLVMValueRef mfb_case_to(LLVMValueRef Inst, LLVMBasicBlockRef To) {
  auto *Switch = dyn_cast<SwitchInst>(unwrap(Inst));
  return wrap(static_cast<Value *>(Switch ? Switch->findCaseDest(unwrap(To))
                                          : nullptr));
}

/// Appends a copy of an instruction with other operands.
LLVMValueRef mfb_repeat(LLVMBuilderRef Builder, LLVMValueRef Inst,
                        const LLVMValueRef *Operands, size_t Count) {
  Instruction *Copy = unwrap<Instruction>(Inst)->clone();
  for (size_t N = 0; N != Count; ++N)
    Copy->setOperand(N, unwrap(Operands[N]));
  SmallVector<std::pair<unsigned, MDNode *>, 4> Metadata;
  Copy->getAllMetadataOtherThanDebugLoc(Metadata);
  // The place is another one: only what is said of the access itself stays.
  for (auto [Kind, Node] : Metadata)
    if (Kind != LLVMContext::MD_tbaa && Kind != LLVMContext::MD_fpmath)
      Copy->setMetadata(Kind, nullptr);
  unwrap(Builder)->Insert(Copy);
  Copy->setDebugLoc(unwrap(Builder)->getCurrentDebugLocation());
  return wrap(static_cast<Value *>(Copy));
}

/// Loads what a simple store would have stored, from an address.
LLVMValueRef mfb_load_as_stored(LLVMBuilderRef Builder, LLVMValueRef StoreRef,
                                LLVMValueRef Address) {
  auto *Store = unwrap<StoreInst>(StoreRef);
  return wrap(static_cast<Value *>(
      unwrap(Builder)->CreateAlignedLoad(Store->getValueOperand()->getType(),
                                         unwrap(Address), Store->getAlign())));
}

/// Removes instructions that only each other use.
void mfb_erase_dead(const LLVMValueRef *Insts, size_t Count) {
  for (size_t N = 0; N < Count; ++N) {
    auto *I = unwrap<Instruction>(Insts[N]);
    if (!I->use_empty())
      I->replaceAllUsesWith(PoisonValue::get(I->getType()));
  }
  for (size_t N = 0; N < Count; ++N)
    unwrap<Instruction>(Insts[N])->eraseFromParent();
}

} // extern "C"
