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
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/InstructionSimplify.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/ConstantRange.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"

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
  case Instruction::ICmp:
    return cast<ICmpInst>(I).isSigned() ? Instruction::ICmp : 0;
  default:
    return 0;
  }
}

bool midflight::isWellDefined(const Value *V, const Instruction *At) {
  return isGuaranteedNotToBeUndefOrPoison(V, /*AC=*/nullptr, At);
}

bool midflight::mayBeOfLibrary(const CallBase &Call, const Function &Callee) {
  const Function &Caller = *Call.getFunction();
  return Callee.isDeclaration() && !Call.isNoBuiltin() &&
         !Call.hasOperandBundles() && !Caller.hasFnAttribute("no-builtins") &&
         !Caller.hasFnAttribute(("no-builtin-" + Callee.getName()).str());
}

bool midflight::isNotPoison(const Value *V, const Instruction *At) {
  return isGuaranteedNotToBePoison(V, /*AC=*/nullptr, At);
}

namespace {

// True for what is undefined only if something is that Assumed does not have:
// values come from what is not undefined, by operations of which none makes
// anything undefined. Those of a cycle are assumed not to be.
bool isNeverUndef(const Value *V, SmallPtrSetImpl<const Value *> &Assumed) {
  constexpr unsigned Most = 32;
  if (isGuaranteedNotToBeUndef(V) || Assumed.contains(V))
    return true;
  auto *I = dyn_cast<Instruction>(V);
  if (!I || !isa<PHINode, BinaryOperator, CastInst, CmpInst, SelectInst>(I) ||
      Assumed.size() == Most)
    return false;
  Assumed.insert(I);
  return all_of(I->operands(),
                [&](const Value *Op) { return isNeverUndef(Op, Assumed); });
}

// Where control goes at the end of a block, if it goes one way only.
const BasicBlock *onlyWay(const BasicBlock &Block) {
  auto *Branch = dyn_cast<BranchInst>(Block.getTerminator());
  auto *Condition = Branch && Branch->isConditional()
                        ? dyn_cast<ConstantInt>(Branch->getCondition())
                        : nullptr;
  return Condition ? Branch->getSuccessor(Condition->isZero())
                   : Block.getSingleSuccessor();
}

// True if memory is accessed at what an instruction gives, or at an address
// that is made of just that, before control goes anywhere else than it must:
// also behind phis where it comes in, where LLVM's programUndefinedIfPoison
// does not look. If it is poison or undefined, the access is undefined
// behaviour.
bool isAccessed(const Instruction &I) {
  constexpr unsigned Most = 64;
  SmallPtrSet<const Value *, 8> Made{&I};
  SmallPtrSet<const BasicBlock *, 8> Seen{I.getParent()};
  const BasicBlock *Block = I.getParent();
  auto At =
      isa<PHINode>(I) ? Block->getFirstNonPHIIt() : std::next(I.getIterator());
  for (unsigned Count = 0;;) {
    for (const Instruction &Next : make_range(At, Block->end())) {
      const Value *Address = getLoadStorePointerOperand(&Next);
      if (Address && Made.contains(Address))
        return true;
      if (++Count == Most || !isGuaranteedToTransferExecutionToSuccessor(&Next))
        return false;
      if (auto *Gep = dyn_cast<GetElementPtrInst>(&Next);
          Gep && Gep->getType()->isPointerTy() &&
          Made.contains(Gep->getPointerOperand()))
        Made.insert(Gep);
    }
    const BasicBlock *To = onlyWay(*Block);
    if (!To || !Seen.insert(To).second)
      return false;
    for (const PHINode &Phi : To->phis())
      if (Made.contains(Phi.getIncomingValueForBlock(Block)))
        Made.insert(&Phi);
    Block = To;
    At = To->getFirstNonPHIIt();
  }
}

// Attributes of a call that tell what is true of it, of its arguments and of
// its result, and not what it does.
AttributeMask callFacts(bool InMemory = false) {
  AttributeMask Mask;
  for (Attribute::AttrKind Kind :
       {Attribute::NonNull, Attribute::NoUndef, Attribute::Dereferenceable,
        Attribute::DereferenceableOrNull, Attribute::Range,
        Attribute::NoFPClass})
    Mask.addAttribute(Kind);
  // What is passed in memory is laid out by its alignment.
  if (!InMemory)
    Mask.addAttribute(Attribute::Alignment);
  return Mask;
}

// The attributes of a call but for such.
AttributeList withoutFacts(const CallBase &Call) {
  LLVMContext &Context = Call.getContext();
  AttributeMask OfFunction;
  for (Attribute::AttrKind Kind :
       {Attribute::NoUnwind, Attribute::WillReturn, Attribute::NoFree,
        Attribute::NoSync, Attribute::NoCallback, Attribute::NoRecurse,
        Attribute::MustProgress, Attribute::Memory, Attribute::Cold})
    OfFunction.addAttribute(Kind);
  AttributeList Attributes = Call.getAttributes()
                                 .removeRetAttributes(Context, callFacts())
                                 .removeFnAttributes(Context, OfFunction);
  for (unsigned N = 0; N != Call.arg_size(); ++N) {
    bool InMemory = Call.isPassPointeeByValueArgument(N) ||
                    Call.paramHasAttr(N, Attribute::StructRet);
    Attributes =
        Attributes.removeParamAttributes(Context, N, callFacts(InMemory));
  }
  return Attributes;
}

bool sameCall(const CallBase &A, const CallBase &B) {
  auto *CallA = dyn_cast<CallInst>(&A);
  auto *CallB = dyn_cast<CallInst>(&B);
  // Else "tail" says only that the callee has nothing of the caller's frame.
  auto IsTied = [](const CallInst *Call) {
    return Call && (Call->isMustTailCall() || Call->isNoTailCall());
  };
  if ((IsTied(CallA) || IsTied(CallB)) &&
      CallA->getTailCallKind() != CallB->getTailCallKind())
    return false;
  return A.getFunctionType() == B.getFunctionType() &&
         A.getCallingConv() == B.getCallingConv() &&
         A.hasIdenticalOperandBundleSchema(B) &&
         withoutFacts(A) == withoutFacts(B);
}

// What is true of an access or a call where it is (the alignment of an address,
// an argument that is not null) is not a part of what it does.
bool sameOperation(const Instruction *A, const Instruction *B) {
  auto *CallA = dyn_cast<CallBase>(A);
  auto *CallB = dyn_cast<CallBase>(B);
  if (CallA && CallB && A->getOpcode() == B->getOpcode() &&
      (isa<CallInst>(A) || isa<InvokeInst>(A))) {
    if (A->getType() != B->getType() ||
        A->getNumOperands() != B->getNumOperands() || !sameCall(*CallA, *CallB))
      return false;
    return all_of(zip(A->operand_values(), B->operand_values()), [](auto P) {
      return std::get<0>(P)->getType() == std::get<1>(P)->getType();
    });
  }
  bool IsSimple = isa<LoadInst, StoreInst>(A) && !A->isAtomic();
  if (!A->isSameOperationAs(B, IsSimple ? Instruction::CompareIgnoringAlignment
                                        : 0))
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
  if (auto *Compare = dyn_cast<ICmpInst>(&I))
    return CmpInst::Create(Instruction::ICmp, Compare->getUnsignedPredicate(),
                           I.getOperand(0), I.getOperand(1));
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

// Attributes of a call that make its result poison.
AttributeSet poisonAttributes(const Instruction *I) {
  auto *Call = dyn_cast<CallBase>(I);
  if (!Call)
    return {};
  LLVMContext &Context = I->getContext();
  AttributeSet Of = Call->getAttributes().getRetAttrs();
  AttributeMask Others;
  for (Attribute A : Of)
    if (A.isStringAttribute())
      Others.addAttribute(A.getKindAsString());
    else if (!callFacts().contains(A.getKindAsEnum()) ||
             A.hasAttribute(Attribute::NoUndef))
      Others.addAttribute(A.getKindAsEnum());
  return Of.removeAttributes(Context, Others);
}

bool samePoisonAnnotations(const Instruction *A, const Instruction *B) {
  return poisonAttributes(A) == poisonAttributes(B) &&
         all_of(PoisonKinds, [&](unsigned Kind) {
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

/// The global variable that an address is in, in its address space, and how
/// many bytes behind its beginning; null unless it and all that it is computed
/// from are known to be in it or at its end, or poison: one that is only
/// declared may be larger than its type.
LLVMValueRef mfb_address_in_global(LLVMValueRef Ref, int64_t *Offset) {
  auto *C = dyn_cast<Constant>(unwrap(Ref));
  if (!C || !C->getType()->isPointerTy())
    return nullptr;
  *Offset = 0;
  if (auto *GEP = dyn_cast<GEPOperator>(C)) {
    auto *GV = cast_or_null<GlobalVariable>(
        unwrap(mfb_address_in_global(wrap(GEP->getPointerOperand()), Offset)));
    if (!GV || GEP->getInRange())
      return nullptr;
    const DataLayout &Layout = GV->getParent()->getDataLayout();
    APInt Bytes(Layout.getIndexTypeSizeInBits(C->getType()), *Offset);
    TypeSize Size = Layout.getTypeAllocSize(GV->getValueType());
    if (!GEP->accumulateConstantOffset(Layout, Bytes) || Bytes.isNegative() ||
        Size.isScalable())
      return nullptr;
    if (Bytes.ugt(Size.getFixedValue()) &&
        !(GV->isDeclaration() && GEP->isInBounds()))
      return nullptr;
    *Offset = Bytes.getSExtValue();
    return wrap(GV);
  }
  auto *GV = dyn_cast<GlobalVariable>(C);
  if (!GV || GV->hasExternalWeakLinkage() || !GV->getValueType()->isSized())
    return nullptr;
  return wrap(GV);
}

/// For a simple copy of memory whose size is that of an integer type: that size
/// in bytes; else 0. Operand 0 is where it writes, operand 1 where it reads.
uint64_t mfb_copied_bytes(LLVMValueRef Inst) {
  auto *Copy = dyn_cast<MemTransferInst>(unwrap<Instruction>(Inst));
  auto *Length = Copy ? dyn_cast<ConstantInt>(Copy->getLength()) : nullptr;
  if (!Length || Copy->isVolatile() || Length->getValue().ugt(16))
    return 0;
  uint64_t Bytes = Length->getZExtValue();
  return isPowerOf2_64(Bytes) ? Bytes : 0;
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

/// True if what an instruction gives is neither poison nor undef wherever it
/// runs in a run without undefined behaviour, for what follows it. That says
/// nothing of the same operation elsewhere.
bool mfb_is_defined_by_uses(LLVMValueRef Inst) {
  auto *I = unwrap<Instruction>(Inst);
  SmallPtrSet<const Value *, 8> Assumed;
  return (programUndefinedIfPoison(I) && isNeverUndef(I, Assumed)) ||
         isAccessed(*I);
}

/// Gives instructions the same number just if they are the same operation, but
/// for operands and for flags that make a result poison. Those that are marked
/// in Unsigned get that of their unsigned counterpart. One that is exact
/// (isExactByConstant) may be taken for what has its result only where it
/// leaves no remainder: it is not the same as one that is not.
void mfb_number_operations(const LLVMValueRef *Insts, const bool *Unsigned,
                           size_t Count, uint32_t *Numbers) {
  DenseMap<uint64_t, SmallVector<uint32_t, 2>> Buckets;
  SmallVector<Instruction *, 64> Firsts;
  SmallVector<bool, 64> Exact;
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
    bool IsExact = isExactByConstant(*unwrap<Instruction>(Insts[N]));
    auto *Known = find_if(Bucket, [&](uint32_t F) {
      return sameOperation(Firsts[F], I) && Exact[F] == IsExact;
    });
    if (Known == Bucket.end()) {
      Exact.push_back(IsExact);
      Bucket.push_back(Firsts.size());
      Firsts.push_back(I);
      Known = std::prev(Bucket.end());
    }
    Numbers[N] = *Known;
  }
  for (Instruction *I : Counterparts)
    I->deleteValue();
}

// Whether some add a constant, and others subtract what is negated: these
// overflow together as signed numbers only.
static bool addAndSubtract(const LLVMValueRef *Insts, size_t Count) {
  unsigned Opcode = unwrap<Instruction>(Insts[0])->getOpcode();
  return any_of(ArrayRef(Insts, Count), [&](LLVMValueRef I) {
    return unwrap<Instruction>(I)->getOpcode() != Opcode;
  });
}

/// Leaves instructions of the same operation, or that add a constant or
/// subtract what is negated, only the flags, and the metadata and attributes
/// that can make a result poison, that all of them have.
void mfb_intersect_flags(const LLVMValueRef *Insts, size_t Count) {
  auto *First = unwrap<Instruction>(Insts[0]);
  bool Same = true;
  for (size_t N = 1; N < Count; ++N) {
    auto *I = unwrap<Instruction>(Insts[N]);
    Same &= samePoisonAnnotations(First, I);
    First->andIRFlags(I);
  }
  if (addAndSubtract(Insts, Count))
    First->setHasNoUnsignedWrap(false);
  for (size_t N = 0; N < Count; ++N) {
    auto *I = unwrap<Instruction>(Insts[N]);
    if (N)
      I->andIRFlags(First);
    if (Same)
      continue;
    for (unsigned Kind : PoisonKinds)
      I->setMetadata(Kind, nullptr);
    if (auto *Call = dyn_cast<CallBase>(I))
      Call->removeRetAttrs(callFacts());
  }
}

/// Tells which of the instructions mfb_intersect_flags takes something from.
void mfb_losing_flags(const LLVMValueRef *Insts, size_t Count, bool *Losing) {
  auto *First = unwrap<Instruction>(Insts[0]);
  bool Same = true;
  unsigned Shared = ~0u;
  for (size_t N = 0; N < Count; ++N) {
    auto *I = unwrap<Instruction>(Insts[N]);
    Same &= samePoisonAnnotations(First, I);
    Shared &= I->getRawSubclassOptionalData();
  }
  if (addAndSubtract(Insts, Count))
    Shared &= ~unsigned(OverflowingBinaryOperator::NoUnsignedWrap);
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

/// What the one comparison of a value with a constant gives, on these operands,
/// where another one of the same value has given a boolean that was branched
/// by: 1 or 0, or -1 if that does not say.
int mfb_said(LLVMValueRef Known, const LLVMValueRef *KnownOperands, bool Holds,
             LLVMValueRef Asked, const LLVMValueRef *AskedOperands) {
  // What the value is in if the comparison holds.
  auto Region = [](LLVMValueRef Inst, const LLVMValueRef *Operands,
                   Value *&Of) -> std::optional<ConstantRange> {
    auto *Comparison = dyn_cast<ICmpInst>(unwrap(Inst));
    if (!Comparison)
      return std::nullopt;
    CmpInst::Predicate P = Comparison->getPredicate();
    Value *Left = unwrap(Operands[0]), *Right = unwrap(Operands[1]);
    if (isa<ConstantInt>(Left)) {
      std::swap(Left, Right);
      P = CmpInst::getSwappedPredicate(P);
    }
    auto *C = dyn_cast<ConstantInt>(Right);
    if (!C || isa<Constant>(Left))
      return std::nullopt;
    Of = Left;
    return ConstantRange::makeExactICmpRegion(P, C->getValue());
  };
  Value *Of = nullptr, *Same = nullptr;
  auto Is = Region(Known, KnownOperands, Of);
  auto IsAsked = Region(Asked, AskedOperands, Same);
  if (!Is || !IsAsked || Of != Same)
    return -1;
  ConstantRange Range = Holds ? *Is : Is->inverse();
  // Whatever undefined bits are, it is no less than that.
  if (auto *Extended = dyn_cast<ZExtInst>(Of)) {
    unsigned Bits = Extended->getSrcTy()->getScalarSizeInBits();
    unsigned Width = Extended->getType()->getScalarSizeInBits();
    Range = Range.intersectWith(ConstantRange::getFull(Bits).zeroExtend(Width));
  }
  if (IsAsked->contains(Range))
    return 1;
  return IsAsked->inverse().contains(Range) ? 0 : -1;
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
    for (unsigned N : {0, 1})
      if (auto *C = dyn_cast<ConstantInt>(I->getOperand(1 - N))) {
        Term(N, C->getSExtValue());
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

/// For a comparison: a predicate that it, its inverse, and both with swapped
/// operands have in common, and by which of these it is that.
/// With AsUnsigned, of its unsigned counterpart.
bool mfb_comparison(LLVMValueRef Inst, bool AsUnsigned, uint32_t *Predicate,
                    bool *Swapped, bool *Negated, bool *Symmetric) {
  auto *Compare = dyn_cast<CmpInst>(unwrap(Inst));
  if (!Compare)
    return false;
  CmpInst::Predicate Own = Compare->getPredicate();
  if (AsUnsigned)
    Own = cast<ICmpInst>(Compare)->getUnsignedPredicate();
  CmpInst::Predicate Inverse = CmpInst::getInversePredicate(Own);
  *Predicate = ~0u;
  for (auto [P, IsSwapped, IsNegated] :
       {std::tuple(Own, false, false), std::tuple(Inverse, false, true),
        std::tuple(CmpInst::getSwappedPredicate(Own), true, false),
        std::tuple(CmpInst::getSwappedPredicate(Inverse), true, true)})
    if (unsigned(P) < *Predicate) {
      *Predicate = P;
      *Swapped = IsSwapped;
      *Negated = IsNegated;
      *Symmetric = CmpInst::getSwappedPredicate(P) == P;
    }
  return true;
}

/// The operand that an instruction negates, if it does that to a boolean; else
/// -1.
int mfb_negated(LLVMValueRef Inst) {
  Value *Of;
  auto *I = unwrap<Instruction>(Inst);
  if (!I->getType()->isIntegerTy(1) ||
      !PatternMatch::match(I, PatternMatch::m_Not(PatternMatch::m_Value(Of))))
    return -1;
  return Of == I->getOperand(0) ? 0 : 1;
}

/// Calls back with the value of each case of a switch whose values have at most
/// 64 bits, in the order of its successors; gives how many bits, else 0.
uint32_t mfb_cases(LLVMValueRef Inst, void *To, void (*Add)(void *, uint64_t)) {
  auto *Switch = dyn_cast<SwitchInst>(unwrap(Inst));
  if (!Switch || Switch->getCondition()->getType()->getIntegerBitWidth() > 64)
    return 0;
  for (auto &Case : Switch->cases())
    Add(To, Case.getCaseValue()->getZExtValue());
  return Switch->getCondition()->getType()->getIntegerBitWidth();
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
