//===- prover.cpp - Whether two expressions are always equal --------------===//
//
// Two expressions over the same leaves are put into a function of their own,
// as total functions: without flags and metadata, and with leaves that are
// neither poison nor undef. They are equal if LLVM's own passes see that.
//
// Where the first one must be well defined, it keeps its flags, and its leaves
// are what they can be there: the second one is equal then.
//
// Shifts are by what is left of the amount in as many bits as it can have, so
// that they are total, too. Apart from that it is proved that both expressions
// shift by too much at the same times, which is poison.
//
//===----------------------------------------------------------------------===//

#include "meaning.h"
#include "operations.h"
#include "sandbox.h"
#include "llvm-c/Core.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/DomConditionCache.h"
#include "llvm/Analysis/LazyValueInfo.h"
#include "llvm/Analysis/SimplifyQuery.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Analysis/WithCache.h"
#include "llvm/IR/ConstantRange.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/KnownBits.h"

using namespace llvm;
using namespace midflight;

namespace {

// Values that one is made of; with more, nothing is known of it.
constexpr unsigned MostValues = 64;

// What a term is.
enum Kind : uint32_t {
  Leaf,
  Constant_,
  Operation,
  SignExtended,
  ZeroExtended,
  Bounded, // a leaf that is what it can be where an instruction runs
  Flagged, // an operation that keeps its flags
  Exact,   // one by a constant that is poison if that leaves a remainder
  Chosen,  // a phi that is what a boolean chooses
};

bool isLeaf(uint32_t K) { return K == Leaf || K == Bounded; }
bool isOperation(uint32_t K) {
  return K == Operation || K == Flagged || K == Exact;
}

// Both expressions, as the caller passes them: each term's operands come before
// it. One that is extended has its only operand, and a value of the type that
// it is extended to.
struct Terms {
  const LLVMValueRef *Values;
  const uint32_t *Kinds;
  const uint32_t *Begin; // one more than there are terms
  const uint32_t *Operands;
  size_t Count;
  // For each term, if it is bounded, what it can be, and its bits that are zero
  // at the end.
  std::vector<std::optional<ConstantRange>> Ranges;
  std::vector<unsigned> Zeros;
  // Booleans that hold, or do not, where terms are compared.
  SmallVector<std::pair<uint32_t, bool>, 4> Conditions;

  Value *value(size_t N) const { return unwrap(Values[N]); }
  ArrayRef<uint32_t> operands(size_t N) const {
    return ArrayRef(Operands + Begin[N], Begin[N + 1] - Begin[N]);
  }
};

// Intrinsics that are functions of their operands, whatever these are.
bool isTotalIntrinsic(Intrinsic::ID ID) {
  switch (ID) {
  case Intrinsic::bitreverse:
  case Intrinsic::bswap:
  case Intrinsic::ctpop:
  case Intrinsic::fshl:
  case Intrinsic::fshr:
  case Intrinsic::sadd_sat:
  case Intrinsic::smax:
  case Intrinsic::smin:
  case Intrinsic::ssub_sat:
  case Intrinsic::uadd_sat:
  case Intrinsic::umax:
  case Intrinsic::umin:
  case Intrinsic::usub_sat:
    return true;
  default:
    return false;
  }
}

// True if any integer can be divided by it.
bool isTotalDivisor(const Value *V) {
  auto *Divisor = dyn_cast<ConstantInt>(V);
  return Divisor && !Divisor->isZero() && !Divisor->isMinusOne();
}

// True for a shift that is poison if the amount is too large, which it can be.
bool isPartialShift(const Instruction &I) {
  if (!I.isShift() || !I.getType()->isIntegerTy())
    return false;
  auto *Amount = dyn_cast<ConstantInt>(I.getOperand(1));
  return !Amount || Amount->uge(I.getType()->getIntegerBitWidth());
}

// The flags of an instruction, as bits.
uint64_t flagsOf(const Instruction &I) {
  return static_cast<const Value &>(I).getRawSubclassOptionalData();
}

bool isSimple(const Type *T) {
  return (T->isIntegerTy() && T->getIntegerBitWidth() <= 128) ||
         T->isPointerTy();
}

// Numbers of which the bits can be compared.
bool isFloat(const Type *T) { return T->isFloatTy() || T->isDoubleTy(); }

// What a type, operation or constant is, so that equal terms have equal words.
void addWords(const Terms &T, size_t N, std::vector<uint64_t> &Words) {
  const Value *V = T.value(N);
  Words.push_back(T.Kinds[N]);
  if (T.Kinds[N] == Constant_) {
    Words.push_back(reinterpret_cast<uintptr_t>(V));
    return;
  }
  Words.push_back(reinterpret_cast<uintptr_t>(V->getType()));
  if (isLeaf(T.Kinds[N])) {
    if (const auto &Range = T.Ranges[N])
      for (const APInt &End : {Range->getLower(), Range->getUpper()})
        Words.insert(Words.end(), End.getRawData(),
                     End.getRawData() + End.getNumWords());
    Words.push_back(T.Zeros[N]);
    return;
  }
  if (!isOperation(T.Kinds[N])) {
    Words.insert(Words.end(), T.operands(N).begin(), T.operands(N).end());
    return;
  }
  auto *I = cast<Instruction>(V);
  Words.push_back(I->getOpcode());
  if (T.Kinds[N] == Flagged)
    Words.push_back(flagsOf(*I));
  if (auto *Compare = dyn_cast<CmpInst>(I))
    Words.push_back(Compare->getPredicate());
  if (auto *GEP = dyn_cast<GetElementPtrInst>(I))
    Words.push_back(reinterpret_cast<uintptr_t>(GEP->getSourceElementType()));
  if (auto *Call = dyn_cast<IntrinsicInst>(I))
    Words.push_back(Call->getIntrinsicID());
  for (uint32_t Operand : T.operands(N))
    Words.push_back(Operand);
  Words.push_back(~0ull);
}

// Builds a function of the leaves that gives whether two terms are equal, or
// whether they are not; or whether both are poison together, or the second one
// only if the first one is, where that must be well defined.
struct Builder {
  const Terms &T;
  Module &M;
  bool AsksPoison;
  Function *F = nullptr;
  // Where terms are made, each when it is first needed.
  BasicBlock *BB = nullptr;
  SmallVector<Value *, 16> Made;

  Builder(const Terms &T, Module &M, bool AsksPoison)
      : T(T), M(M), AsksPoison(AsksPoison), Made(T.Count) {}

  Value *operation(size_t N) {
    Instruction *I = cast<Instruction>(T.value(N))->clone();
    I->dropUnknownNonDebugMetadata();
    I->setDebugLoc({});
    // The last operand of a call is what is called: no value of this function.
    auto *Call = dyn_cast<IntrinsicInst>(I);
    for (auto [Place, Operand] : enumerate(T.operands(N)))
      if (!Call || Place < Call->arg_size())
        I->setOperand(Place, Made[Operand]);
    if (Call)
#if LLVM_VERSION_MAJOR >= 20
      Call->setCalledFunction(Intrinsic::getOrInsertDeclaration(
          &M, Call->getIntrinsicID(), {Call->getType()}));
#else
      Call->setCalledFunction(Intrinsic::getDeclaration(
          &M, Call->getIntrinsicID(), {Call->getType()}));
#endif
    if (T.Kinds[N] != Flagged || isa<CallBase>(I))
      I->dropPoisonGeneratingAnnotations();
    if (T.Kinds[N] == Exact && !AsksPoison)
      I->setIsExact();
    if (isPartialShift(*cast<Instruction>(T.value(N)))) {
      Value *Most = ConstantInt::get(I->getType(),
                                     I->getType()->getIntegerBitWidth() - 1);
      I->setOperand(1,
                    BinaryOperator::CreateAnd(I->getOperand(1), Most, "", BB));
    }
    I->insertInto(BB, BB->end());
    return I;
  }

  Value *made(size_t N) {
    if (Made[N])
      return Made[N];
    for (uint32_t Operand : T.operands(N))
      made(Operand);
    if (T.Kinds[N] == Constant_)
      return Made[N] = T.value(N);
    if (isOperation(T.Kinds[N]))
      return Made[N] = operation(N);
    Value *Of = Made[T.operands(N)[0]];
    if (T.Kinds[N] == Chosen)
      return Made[N] = SelectInst::Create(Of, Made[T.operands(N)[1]],
                                          Made[T.operands(N)[2]], "", BB);
    Type *To = T.value(N)->getType();
    if (T.Kinds[N] == SignExtended)
      return Made[N] = new SExtInst(Of, To, "", BB);
    return Made[N] = new ZExtInst(Of, To, "", BB);
  }

  // Whether exact operations leave no remainder and shifts are not by too much,
  // of those that make a term poison: not of those in the arm of a select that
  // is not chosen.
  Value *isWithin(IRBuilder<> &Builder, uint32_t Root) {
    DenseMap<uint32_t, Value *> Found;
    return isWithin(Builder, Root, Found);
  }

  Value *isWithin(IRBuilder<> &Builder, uint32_t N,
                  DenseMap<uint32_t, Value *> &Found) {
    if (Value *Known = Found.lookup(N))
      return Known;
    SmallVector<Value *, 3> Of;
    for (uint32_t Operand : T.operands(N))
      Of.push_back(isWithin(Builder, Operand, Found));
    Value *Is = Builder.getTrue();
    if (T.Kinds[N] == Chosen ||
        (isOperation(T.Kinds[N]) && isa<SelectInst>(T.value(N)))) {
      Value *Chosen =
          Builder.CreateSelect(Made[T.operands(N)[0]], Of[1], Of[2]);
      Is = Builder.CreateAnd(Of[0], Chosen);
    } else {
      for (Value *OfOperand : Of)
        Is = Builder.CreateAnd(Is, OfOperand);
    }
    if (T.Kinds[N] == Exact) {
      Value *Operand = Made[T.operands(N)[0]], *By = Made[T.operands(N)[1]];
      Value *Left;
      switch (cast<Instruction>(T.value(N))->getOpcode()) {
      case Instruction::SDiv:
        Left = Builder.CreateSRem(Operand, By);
        break;
      case Instruction::UDiv:
        Left = Builder.CreateURem(Operand, By);
        break;
      default: {
        Value *One = ConstantInt::get(Operand->getType(), 1);
        Value *Unit = Builder.CreateShl(One, By);
        Left = Builder.CreateAnd(Operand, Builder.CreateSub(Unit, One));
      }
      }
      Is = Builder.CreateAnd(Is, Builder.CreateIsNull(Left));
    }
    if (isOperation(T.Kinds[N]) &&
        isPartialShift(*cast<Instruction>(T.value(N)))) {
      Value *Amount = Made[T.operands(N)[1]];
      Value *Bits = ConstantInt::get(Amount->getType(),
                                     Amount->getType()->getIntegerBitWidth());
      Is = Builder.CreateAnd(Is, Builder.CreateICmpULT(Amount, Bits));
    }
    return Found[N] = Is;
  }

  Value *bits(IRBuilder<> &Builder, Value *Of) {
    Type *T = Of->getType();
    return isFloat(T) ? Builder.CreateBitCast(
                            Of, Builder.getIntNTy(T->getScalarSizeInBits()))
                      : Of;
  }

  Function *build(uint32_t A, uint32_t B, bool Negated) {
    LLVMContext &Context = M.getContext();
    SmallVector<Type *, 8> Types;
    for (size_t N = 0; N != T.Count; ++N)
      if (isLeaf(T.Kinds[N]))
        Types.push_back(T.value(N)->getType());
    F = Function::Create(
        FunctionType::get(Type::getInt1Ty(Context), Types, false),
        GlobalValue::ExternalLinkage, "equal", M);
    auto Next = F->arg_begin();
    for (size_t N = 0; N != T.Count; ++N) {
      if (!isLeaf(T.Kinds[N]))
        continue;
      Next->addAttr(Attribute::NoUndef);
      if (const auto &Range = T.Ranges[N])
        Next->addAttr(Attribute::get(Context, Attribute::Range, *Range));
      Made[N] = &*Next++;
    }
    BB = BasicBlock::Create(Context, "", F);
    for (size_t N = 0; N != T.Count; ++N)
      if (isLeaf(T.Kinds[N]) && T.Zeros[N]) {
        unsigned Width = T.value(N)->getType()->getIntegerBitWidth();
        APInt Others = APInt::getHighBitsSet(Width, Width - T.Zeros[N]);
        Made[N] = BinaryOperator::CreateAnd(
            Made[N], ConstantInt::get(Context, Others), "", BB);
      }
    if (!T.Conditions.empty()) {
      auto *Elsewhere = BasicBlock::Create(Context, "", F);
      new UnreachableInst(Context, Elsewhere);
      for (auto [Condition, Holds] : T.Conditions) {
        auto *Goes = BasicBlock::Create(Context, "", F);
        Value *Is = made(Condition);
        BranchInst::Create(Holds ? Goes : Elsewhere, Holds ? Elsewhere : Goes,
                           Is, BB);
        BB = Goes;
      }
    }
    made(A);
    made(B);
    IRBuilder<> Builder(BB);
    if (AsksPoison) {
      Value *OfA = isWithin(Builder, A), *OfB = isWithin(Builder, B);
      auto IsOfDefined = [](uint32_t K) {
        return K == Flagged || K == Bounded;
      };
      bool IsDefined = any_of(ArrayRef(T.Kinds, T.Count), IsOfDefined);
      Builder.CreateRet(IsDefined
                            ? Builder.CreateOr(Builder.CreateNot(OfA), OfB)
                            : Builder.CreateICmpEQ(OfA, OfB));
      return F;
    }
    Value *OfA = bits(Builder, Made[A]), *OfB = bits(Builder, Made[B]);
    Builder.CreateRet(Negated ? Builder.CreateICmpNE(OfA, OfB)
                              : Builder.CreateICmpEQ(OfA, OfB));
    return F;
  }
};

// Analysis of a function: the branches that say something of a value.
struct ConditionsAnalysis : AnalysisInfoMixin<ConditionsAnalysis> {
  using Result = DomConditionCache;
  static AnalysisKey Key;
  Result run(Function &F, FunctionAnalysisManager &) {
    DomConditionCache Conditions;
    for (BasicBlock &BB : F)
      if (auto *Br = dyn_cast<BranchInst>(BB.getTerminator());
          Br && Br->isConditional())
        Conditions.registerBranch(Br);
    return Conditions;
  }
};

AnalysisKey ConditionsAnalysis::Key;

// True if a value can be poison, but not undef: so far only phis can be looked
// through in cycles.
bool isNeverUndef(const Value *V) {
  SmallPtrSet<const Value *, 16> Seen;
  SmallVector<const Value *, 16> Work{V};
  while (!Work.empty()) {
    const Value *Of = Work.pop_back_val();
    if (!Seen.insert(Of).second)
      continue;
    if (Seen.size() > MostValues)
      return false;
    auto *I = dyn_cast<Instruction>(Of);
    if (I && isa<PHINode, BinaryOperator, CastInst, ICmpInst, SelectInst>(I))
      Work.append(I->value_op_begin(), I->value_op_end());
    else if (!isGuaranteedNotToBeUndef(Of))
      return false;
  }
  return true;
}

// Where to ask what a value can be: at an instruction that may be none, or
// where it is defined if that is not before the instruction on all ways.
Instruction *whereKnown(Sandbox &S, Value *V, Instruction *At) {
  auto *Definition = dyn_cast<Instruction>(V);
  if (!At || !Definition)
    return At ? At : Definition;
  auto &DT = S.FAM.getResult<DominatorTreeAnalysis>(*At->getFunction());
  return DT.dominates(Definition, At) ? At : Definition;
}

// What an integer can be where an instruction runs, if it is not poison; none
// if nothing is known of it.
std::optional<ConstantRange> rangeAt(Sandbox &S, Value *V, Instruction *At) {
  if (!V->getType()->isIntegerTy() || isa<Constant>(V) || !isNeverUndef(V))
    return std::nullopt;
  Function &F = *At->getFunction();
  auto &DT = S.FAM.getResult<DominatorTreeAnalysis>(F);
  auto &AC = S.FAM.getResult<AssumptionAnalysis>(F);
  auto &LVI = S.FAM.getResult<LazyValueAnalysis>(F);
  auto &Conditions = S.FAM.getResult<ConditionsAnalysis>(F);
  SimplifyQuery Q(F.getDataLayout(), /*TLI=*/nullptr, &DT, &AC, At,
                  /*UseInstrInfo=*/true, /*CanUseUndef=*/false, &Conditions);
  ConstantRange Range =
      ConstantRange::getFull(V->getType()->getIntegerBitWidth());
  for (bool Signed : {true, false})
    Range = Range.intersectWith(
        computeConstantRangeIncludingKnownBits(V, Signed, Q),
        Signed ? ConstantRange::Signed : ConstantRange::Unsigned);
  Range =
      Range.intersectWith(LVI.getConstantRange(V, At, /*UndefAllowed=*/false));
  if (Range.isFullSet() || Range.isEmptySet())
    return std::nullopt;
  return Range;
}

// The bits that are zero at the end of an integer where an instruction runs, if
// it is not poison.
unsigned zerosAt(Sandbox &S, Value *V, Instruction *At) {
  if (!V->getType()->isIntegerTy() || isa<Constant>(V) || !isNeverUndef(V))
    return 0;
  Function &F = *At->getFunction();
  SimplifyQuery Q(F.getParent()->getDataLayout(), /*TLI=*/nullptr,
                  &S.FAM.getResult<DominatorTreeAnalysis>(F),
                  &S.FAM.getResult<AssumptionAnalysis>(F), At,
                  /*UseInstrInfo=*/true, /*CanUseUndef=*/false);
#if LLVM_VERSION_MAJOR >= 20
  KnownBits Known = computeKnownBits(V, Q);
#else
  KnownBits Known = computeKnownBits(V, /*Depth=*/0, Q);
#endif
  // If it is always zero, it has a number of its own.
  return std::min(Known.countMinTrailingZeros(), Known.getBitWidth() - 1);
}

bool provedByPasses(Sandbox &S, Function &F, bool IsBounded) {
  FunctionPassManager &Prover = IsBounded ? S.BoundedProver : S.Prover;
  if (Prover.isEmpty()) {
    if (IsBounded)
      cantFail(S.PB.parsePassPipeline(
          Prover, "correlated-propagation,instcombine<no-verify-fixpoint>,"
                  "early-cse,constraint-elimination"));
    cantFail(S.PB.parsePassPipeline(Prover,
                                    "instcombine<no-verify-fixpoint>,early-cse,"
                                    "instcombine<no-verify-fixpoint>"));
  }
  Prover.run(F, S.FAM);
  S.FAM.clear(F, F.getName());
  // If it cannot be that the conditions hold, nothing is said.
  auto *Ret = dyn_cast<ReturnInst>(F.back().getTerminator());
  return Ret &&
         PatternMatch::match(Ret->getReturnValue(), PatternMatch::m_One());
}

// True if subnormal numbers of a type are not taken for zero.
bool isIEEE(const Instruction &I, const Type *T) {
  return I.getFunction()->getDenormalMode(
             T->getScalarType()->getFltSemantics()) == DenormalMode::getIEEE();
}

// The same for one that gives a float: what it gives is the same bits for the
// same operands, but for the payload of a NaN, which passes take for the same
// as well. Flags that let passes give something else are none of those that
// make a result poison.
bool isTotalOnFloats(const Instruction &I) {
  if (!isa<FPExtInst, FPTruncInst, SIToFPInst, UIToFPInst>(I) &&
      I.getOpcode() != Instruction::FNeg &&
      I.getOpcode() != Instruction::FAdd &&
      I.getOpcode() != Instruction::FSub &&
      I.getOpcode() != Instruction::FMul && I.getOpcode() != Instruction::FDiv)
    return false;
  if (auto *Math = dyn_cast<FPMathOperator>(&I)) {
    FastMathFlags Flags = Math->getFastMathFlags();
    Flags.setNoNaNs(false);
    Flags.setNoInfs(false);
    if (Flags.any())
      return false;
  }
  return isIEEE(I, I.getType()) && all_of(I.operands(), [&](const Use &U) {
           Type *T = U->getType();
           return isFloat(T) ? isIEEE(I, T) : isSimple(T);
         });
}

// True for an operation that gives a value whatever its operands are, once it
// has no flags and, if it shifts, not by too much: what is looked into when
// expressions are compared.
bool isTotal(const Instruction &I) {
  if (isFloat(I.getType()))
    return isTotalOnFloats(I);
  if (!isSimple(I.getType()))
    return false;
  if (auto *Call = dyn_cast<IntrinsicInst>(&I)) {
    if (!isTotalIntrinsic(Call->getIntrinsicID()))
      return false;
  } else if (!isa<BinaryOperator, CmpInst, SelectInst, GetElementPtrInst,
                  TruncInst, ZExtInst, SExtInst, PtrToIntInst, IntToPtrInst>(
                 &I)) {
    return false;
  }
  // Where subnormal numbers count as zero, comparisons are others.
  if (isa<FCmpInst>(I) && !isIEEE(I, I.getOperand(0)->getType()))
    return false;
  // What floats are compared to does not depend on the payload of a NaN.
  if (!all_of(I.operands(), [&](const Use &U) {
        return isa<Function>(U) || isSimple(U->getType()) ||
               (isa<FCmpInst>(&I) && U->getType()->isFloatingPointTy());
      }))
    return false;
  if (isPartialShift(I))
    return isPowerOf2_32(I.getType()->getIntegerBitWidth());
  return !canCreateUndefOrPoison(cast<Operator>(&I),
                                 /*ConsiderFlagsAndMetadata=*/false) &&
         (!I.isIntDivRem() || isTotalDivisor(I.getOperand(1)));
}

} // namespace

bool midflight::isExactByConstant(const Instruction &I) {
  return isa<PossiblyExactOperator>(I) && I.isExact() &&
         isa<ConstantInt>(I.getOperand(1)) && isTotal(I) && !isPartialShift(I);
}

void midflight::registerConditionsAnalysis(FunctionAnalysisManager &FAM) {
  FAM.registerPass([] { return ConditionsAnalysis(); });
}

extern "C" {

/// See isTotal.
bool mfb_is_total(LLVMValueRef Inst) {
  return isTotal(*unwrap<Instruction>(Inst));
}

/// See isPartialShift.
bool mfb_is_partial_shift(LLVMValueRef Inst) {
  return isPartialShift(*unwrap<Instruction>(Inst));
}

/// See isExactByConstant.
bool mfb_is_exact(LLVMValueRef Inst) {
  return isExactByConstant(*unwrap<Instruction>(Inst));
}

/// True for a constant that can be used in a module of its own.
bool mfb_is_plain_operand(LLVMValueRef V) {
  return isa<ConstantInt, ConstantFP, ConstantPointerNull>(unwrap(V));
}

/// True if two of these terms, of one type, are proved to be equal whatever the
/// leaves are, or, if they are booleans, never to be. Bounded leaves are what
/// they can be where an instruction runs, or where they are defined.
bool mfb_prove_equal(void *SandboxPtr, const LLVMValueRef *Values,
                     const uint32_t *Kinds, const uint32_t *Begin,
                     const uint32_t *Operands, size_t Count,
                     const uint32_t *Conditions, size_t ConditionCount,
                     uint32_t A, uint32_t B, bool Negated, LLVMValueRef At) {
  auto &S = *static_cast<Sandbox *>(SandboxPtr);
  Terms T{Values, Kinds, Begin, Operands, Count, {}, {}, {}};
  for (size_t N = 0; N != ConditionCount; ++N)
    T.Conditions.emplace_back(Conditions[2 * N], Conditions[2 * N + 1]);
  if (!Count || T.value(A)->getType() != T.value(B)->getType() ||
      !(isSimple(T.value(A)->getType()) || isFloat(T.value(A)->getType())) ||
      (Negated && !T.value(A)->getType()->isIntegerTy(1)))
    return false;
  T.Ranges.resize(Count);
  T.Zeros.resize(Count);
  auto *Use = cast_or_null<Instruction>(unwrap(At));
  for (size_t N = 0; N != Count; ++N) {
    if (Kinds[N] != Bounded)
      continue;
    if (Instruction *Of = whereKnown(S, T.value(N), Use)) {
      T.Ranges[N] = rangeAt(S, T.value(N), Of);
      T.Zeros[N] = zerosAt(S, T.value(N), Of);
    }
  }
  std::vector<uint64_t> Words{A, B, Negated};
  for (size_t N = 0; N != Count; ++N)
    addWords(T, N, Words);
  for (auto [Condition, Holds] : T.Conditions)
    Words.insert(Words.end(), {Condition, Holds});
  auto [Known, IsNew] = S.Proved.try_emplace(std::move(Words), false);
  if (!IsNew)
    return Known->second;
  if (!S.Scratch) {
    const Module *Of = nullptr;
    for (size_t N = 0; N != Count && !Of; ++N)
      if (auto *I = dyn_cast<Instruction>(T.value(N)))
        Of = I->getModule();
    if (!Of)
      return false;
    S.Scratch =
        std::make_unique<Module>("midflight.prover", T.value(A)->getContext());
    S.Scratch->setDataLayout(Of->getDataLayout());
  }
  bool IsBounded = !T.Conditions.empty() || any_of(T.Ranges, [](auto &Range) {
    return Range.has_value();
  });
  auto Holds = [&](bool AsksPoison) {
    auto Is = [&](function_ref<bool(Function &)> What) {
      Function *F = Builder(T, *S.Scratch, AsksPoison).build(A, B, Negated);
      bool Answer = What(*F);
      F->eraseFromParent();
      return Answer;
    };
    bool IsRefuted = false;
    // Passes change what they prove: Z3 has a function of its own.
    return Is([&](Function &F) {
             IsRefuted = isRefutedBySamples(F);
             return !IsRefuted && provedByPasses(S, F, IsBounded);
           }) ||
           (!IsRefuted && Is(isProvedByZ3));
  };
  bool MayBePoison = false;
  for (size_t N = 0; N != Count; ++N)
    MayBePoison |=
        Kinds[N] == Exact || (isOperation(Kinds[N]) &&
                              isPartialShift(*cast<Instruction>(T.value(N))));
  bool IsProved = Holds(false) && (!MayBePoison || Holds(true));
  Known->second = IsProved;
  return IsProved;
}

} // extern "C"
