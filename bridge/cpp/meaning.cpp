//===- meaning.cpp - What a function of a few operations gives ------------===//
//
// Operations as functions on bits, after LLVM's language reference, over two
// domains: numbers, with which a function is tried, and formulas of bit
// vectors, of which Z3 (L. de Moura, N. Bjorner, TACAS 2008) proves what holds
// of all numbers.
//
// What is poison is followed for the flags of additions, subtractions,
// multiplications and shifts. Other flags are taken for absent: then less is
// poison than really is, so that no more is proved.
//
//===----------------------------------------------------------------------===//

#include "meaning.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/IR/ConstantRange.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/SMTAPI.h"
#include <optional>

using namespace llvm;

#if LLVM_WITH_Z3
namespace llvm {
// A host that is linked statically may have none.
extern SMTSolverRef CreateZ3Solver() __attribute__((weak));
} // namespace llvm
#endif

namespace {

// Steps of Z3 in one proof. A host's time and load do not change what is
// proved within them.
constexpr unsigned MostSteps = 200000;

// Wider products are not looked into.
constexpr unsigned WidestProduct = 64;

// How often a function is tried.
constexpr unsigned Samples = 128;

// Numbers
struct Numbers {
  using Bits = APInt;
  using Truth = bool;

  unsigned width(const APInt &A) { return A.getBitWidth(); }
  APInt constant(const APInt &C) { return C; }
  bool truth(bool B) { return B; }
  bool isNot(bool A) { return !A; }
  bool both(bool A, bool B) { return A && B; }
  bool either(bool A, bool B) { return A || B; }
  bool isEqual(const APInt &A, const APInt &B) { return A == B; }
  bool isBelow(const APInt &A, const APInt &B, bool Signed) {
    return Signed ? A.slt(B) : A.ult(B);
  }
  APInt choice(bool If, const APInt &A, const APInt &B) { return If ? A : B; }
  bool choice(bool If, bool A, bool B) { return If ? A : B; }
  APInt extended(const APInt &A, unsigned Width, bool Signed) {
    return Signed ? A.sext(Width) : A.zext(Width);
  }
  APInt part(const APInt &A, unsigned Low, unsigned Width) {
    return A.extractBits(Width, Low);
  }
  APInt joined(const APInt &High, const APInt &Low) { return High.concat(Low); }
  APInt binary(unsigned Opcode, const APInt &A, const APInt &B) {
    switch (Opcode) {
    case Instruction::Add:
      return A + B;
    case Instruction::Sub:
      return A - B;
    case Instruction::Mul:
      return A * B;
    case Instruction::And:
      return A & B;
    case Instruction::Or:
      return A | B;
    case Instruction::Xor:
      return A ^ B;
    case Instruction::Shl:
      return A.shl(B);
    case Instruction::LShr:
      return A.lshr(B);
    case Instruction::AShr:
      return A.ashr(B);
    case Instruction::UDiv:
      return A.udiv(B);
    case Instruction::SDiv:
      return A.sdiv(B);
    case Instruction::URem:
      return A.urem(B);
    default:
      return A.srem(B);
    }
  }
};

#if LLVM_WITH_Z3
// Formulas
struct Formulas {
  using Bits = std::pair<SMTExprRef, unsigned>; // with their width
  using Truth = SMTExprRef;

  SMTSolver &S;

  unsigned width(const Bits &A) { return A.second; }
  Bits constant(const APInt &C) {
    return {S.mkBitvector(APSInt(C), C.getBitWidth()), C.getBitWidth()};
  }
  Truth truth(bool B) { return S.mkBoolean(B); }
  Truth isNot(Truth A) { return S.mkNot(A); }
  Truth both(Truth A, Truth B) { return S.mkAnd(A, B); }
  Truth either(Truth A, Truth B) { return S.mkOr(A, B); }
  Truth isEqual(const Bits &A, const Bits &B) {
    return S.mkEqual(A.first, B.first);
  }
  Truth isBelow(const Bits &A, const Bits &B, bool Signed) {
    return Signed ? S.mkBVSlt(A.first, B.first) : S.mkBVUlt(A.first, B.first);
  }
  Bits choice(Truth If, const Bits &A, const Bits &B) {
    return {S.mkIte(If, A.first, B.first), A.second};
  }
  Truth choice(Truth If, Truth A, Truth B) { return S.mkIte(If, A, B); }
  Bits extended(const Bits &A, unsigned Width, bool Signed) {
    unsigned More = Width - A.second;
    return {Signed ? S.mkBVSignExt(More, A.first)
                   : S.mkBVZeroExt(More, A.first),
            Width};
  }
  Bits part(const Bits &A, unsigned Low, unsigned Width) {
    return {S.mkBVExtract(Low + Width - 1, Low, A.first), Width};
  }
  Bits joined(const Bits &High, const Bits &Low) {
    return {S.mkBVConcat(High.first, Low.first), High.second + Low.second};
  }
  Bits binary(unsigned Opcode, const Bits &A, const Bits &B) {
    return {expression(Opcode, A.first, B.first), A.second};
  }
  SMTExprRef expression(unsigned Opcode, SMTExprRef A, SMTExprRef B) {
    switch (Opcode) {
    case Instruction::Add:
      return S.mkBVAdd(A, B);
    case Instruction::Sub:
      return S.mkBVSub(A, B);
    case Instruction::Mul:
      return S.mkBVMul(A, B);
    case Instruction::And:
      return S.mkBVAnd(A, B);
    case Instruction::Or:
      return S.mkBVOr(A, B);
    case Instruction::Xor:
      return S.mkBVXor(A, B);
    case Instruction::Shl:
      return S.mkBVShl(A, B);
    case Instruction::LShr:
      return S.mkBVLshr(A, B);
    case Instruction::AShr:
      return S.mkBVAshr(A, B);
    case Instruction::UDiv:
      return S.mkBVUDiv(A, B);
    case Instruction::SDiv:
      return S.mkBVSDiv(A, B);
    case Instruction::URem:
      return S.mkBVURem(A, B);
    default:
      return S.mkBVSRem(A, B);
    }
  }
};
#endif

// What the values of a function are in a domain.
template <typename D> class Meaning {
  using Bits = typename D::Bits;
  using Truth = typename D::Truth;

  struct Of {
    Bits Is;
    Truth IsPoison;
  };

  D &In;
  const DataLayout &DL;
  DenseMap<const Value *, Of> Known;

public:
  Meaning(D &In, const Function &F)
      : In(In), DL(F.getParent()->getDataLayout()) {}

  void set(const Argument &A, Bits Is) {
    Known.insert({&A, {Is, In.truth(false)}});
  }

  // For each branch whether it goes on, and whether the function gives false
  // then; none if an operation is none of those that are known. Neither holds
  // where poison is decided by, or given.
  std::optional<std::pair<SmallVector<Truth, 4>, Truth>> of(Function &F) {
    SmallVector<Truth, 4> GoesOn;
    BasicBlock *BB = &F.getEntryBlock();
    while (true) {
      for (Instruction &I : *BB) {
        if (I.isTerminator())
          break;
        std::optional<Of> Is = operation(I);
        if (!Is)
          return std::nullopt;
        Known.insert({&I, *Is});
      }
      Instruction *End = BB->getTerminator();
      if (auto *Ret = dyn_cast<ReturnInst>(End)) {
        std::optional<Of> Is = value(Ret->getReturnValue());
        if (!Is)
          return std::nullopt;
        Truth IsFalse =
            In.both(In.isNot(holds(Is->Is)), In.isNot(Is->IsPoison));
        return std::pair(GoesOn, IsFalse);
      }
      auto *Branch = dyn_cast<BranchInst>(End);
      if (!Branch || !Branch->isConditional())
        return std::nullopt;
      bool Holds = isa<UnreachableInst>(Branch->getSuccessor(1)->front());
      std::optional<Of> Is = value(Branch->getCondition());
      if (!Is)
        return std::nullopt;
      Truth Goes = Holds ? holds(Is->Is) : In.isNot(holds(Is->Is));
      GoesOn.push_back(In.both(Goes, In.isNot(Is->IsPoison)));
      BB = Branch->getSuccessor(Holds ? 0 : 1);
    }
  }

private:
  Truth holds(const Bits &A) { return In.isEqual(A, number(1, 1)); }
  Bits bit(Truth A) { return In.choice(A, number(1, 1), number(0, 1)); }
  Bits number(uint64_t N, unsigned Width) {
    return In.constant(APInt(Width, N));
  }

  std::optional<unsigned> width(Type *T) {
    if (T->isPointerTy() &&
        DL.getPointerTypeSizeInBits(T) == DL.getIndexTypeSizeInBits(T))
      return DL.getPointerTypeSizeInBits(T);
    if (T->isIntegerTy())
      return T->getIntegerBitWidth();
    return std::nullopt;
  }

  std::optional<Of> value(Value *V) {
    if (auto At = Known.find(V); At != Known.end())
      return At->second;
    if (auto *C = dyn_cast<ConstantInt>(V))
      return Of{In.constant(C->getValue()), In.truth(false)};
    if (auto Width = width(V->getType()); Width && isa<ConstantPointerNull>(V))
      return Of{number(0, *Width), In.truth(false)};
    return std::nullopt;
  }

  Bits resized(const Bits &A, unsigned Width, bool Signed) {
    if (In.width(A) == Width)
      return A;
    return In.width(A) < Width ? In.extended(A, Width, Signed)
                               : In.part(A, 0, Width);
  }

  // True if an operation gives something else than it does on wider numbers.
  Truth overflows(unsigned Opcode, const Bits &A, const Bits &B, bool Signed) {
    unsigned Width = In.width(A);
    unsigned Wider = Opcode == Instruction::Mul ? 2 * Width : Width + 1;
    Bits Narrow = In.binary(Opcode, A, B);
    Bits Wide = In.binary(Opcode, In.extended(A, Wider, Signed),
                          In.extended(B, Wider, Signed));
    return In.isNot(In.isEqual(In.extended(Narrow, Wider, Signed), Wide));
  }

  std::optional<Of> binary(BinaryOperator &I, const Of &A, const Of &B) {
    unsigned Opcode = I.getOpcode();
    auto *Constant = dyn_cast<ConstantInt>(I.getOperand(1));
    if (I.isIntDivRem() && (!Constant || Constant->isZero()))
      return std::nullopt;
    if (Opcode == Instruction::Mul && In.width(A.Is) > WidestProduct)
      return std::nullopt;
    Of Result{In.binary(Opcode, A.Is, B.Is), In.either(A.IsPoison, B.IsPoison)};
    auto add = [&](Truth IsPoison) {
      Result.IsPoison = In.either(Result.IsPoison, IsPoison);
    };
    if (isa<OverflowingBinaryOperator>(I)) {
      for (bool Signed : {true, false}) {
        if (!(Signed ? I.hasNoSignedWrap() : I.hasNoUnsignedWrap()))
          continue;
        if (Opcode != Instruction::Shl) {
          add(overflows(Opcode, A.Is, B.Is, Signed));
          continue;
        }
        unsigned Back = Signed ? Instruction::AShr : Instruction::LShr;
        add(In.isNot(In.isEqual(In.binary(Back, Result.Is, B.Is), A.Is)));
      }
    } else if (isa<PossiblyExactOperator>(I) && I.isExact()) {
      unsigned Back = Instruction::Shl;
      if (I.isIntDivRem())
        Back = Instruction::Mul;
      add(In.isNot(In.isEqual(In.binary(Back, Result.Is, B.Is), A.Is)));
    }
    return Result;
  }

  Truth compared(CmpInst::Predicate P, const Bits &A, const Bits &B) {
    bool Signed = CmpInst::isSigned(P);
    switch (P) {
    case CmpInst::ICMP_EQ:
      return In.isEqual(A, B);
    case CmpInst::ICMP_NE:
      return In.isNot(In.isEqual(A, B));
    case CmpInst::ICMP_ULT:
    case CmpInst::ICMP_SLT:
      return In.isBelow(A, B, Signed);
    case CmpInst::ICMP_UGT:
    case CmpInst::ICMP_SGT:
      return In.isBelow(B, A, Signed);
    case CmpInst::ICMP_UGE:
    case CmpInst::ICMP_SGE:
      return In.isNot(In.isBelow(A, B, Signed));
    default:
      return In.isNot(In.isBelow(B, A, Signed));
    }
  }

  std::optional<Of> address(GetElementPtrInst &I, ArrayRef<Of> Operands) {
    unsigned Width = In.width(Operands[0].Is);
#if LLVM_VERSION_MAJOR >= 20
    SmallMapVector<Value *, APInt, 4> Variable;
#else
    MapVector<Value *, APInt> Variable;
#endif
    APInt Constant(Width, 0);
    if (!cast<GEPOperator>(I).collectOffset(DL, Width, Variable, Constant))
      return std::nullopt;
    Bits Is =
        In.binary(Instruction::Add, Operands[0].Is, In.constant(Constant));
    for (auto &[Index, Scale] : Variable) {
      std::optional<Of> By = value(Index);
      if (!By)
        return std::nullopt;
      Bits Moves = In.binary(Instruction::Mul, resized(By->Is, Width, true),
                             In.constant(Scale));
      Is = In.binary(Instruction::Add, Is, Moves);
    }
    return Of{Is, poisonOf(Operands)};
  }

  std::optional<Of> intrinsic(IntrinsicInst &I, ArrayRef<Of> Operands) {
    auto Choice = [&](CmpInst::Predicate P) {
      Truth First = compared(P, Operands[0].Is, Operands[1].Is);
      return Of{In.choice(First, Operands[0].Is, Operands[1].Is),
                poisonOf(Operands)};
    };
    switch (I.getIntrinsicID()) {
    case Intrinsic::smax:
      return Choice(CmpInst::ICMP_SGT);
    case Intrinsic::smin:
      return Choice(CmpInst::ICMP_SLT);
    case Intrinsic::umax:
      return Choice(CmpInst::ICMP_UGT);
    case Intrinsic::umin:
      return Choice(CmpInst::ICMP_ULT);
    case Intrinsic::bswap: {
      unsigned Width = In.width(Operands[0].Is);
      Bits Is = In.part(Operands[0].Is, 0, 8);
      for (unsigned Low = 8; Low != Width; Low += 8)
        Is = In.joined(Is, In.part(Operands[0].Is, Low, 8));
      return Of{Is, poisonOf(Operands)};
    }
    default:
      return std::nullopt;
    }
  }

  Truth poisonOf(ArrayRef<Of> Operands) {
    Truth IsPoison = In.truth(false);
    for (const Of &Operand : Operands)
      IsPoison = In.either(IsPoison, Operand.IsPoison);
    return IsPoison;
  }

  std::optional<Of> operation(Instruction &I) {
    SmallVector<Of, 4> Operands;
    for (Value *Operand : I.operands()) {
      if (isa<Function>(Operand))
        continue;
      std::optional<Of> Is = value(Operand);
      if (!Is)
        return std::nullopt;
      Operands.push_back(*Is);
    }
    auto Width = width(I.getType());
    if (!Width)
      return std::nullopt;
    if (auto *Binary = dyn_cast<BinaryOperator>(&I))
      return binary(*Binary, Operands[0], Operands[1]);
    if (auto *Compare = dyn_cast<ICmpInst>(&I))
      return Of{bit(compared(Compare->getPredicate(), Operands[0].Is,
                             Operands[1].Is)),
                poisonOf(Operands)};
    if (isa<SelectInst>(I)) {
      Truth First = holds(Operands[0].Is);
      Truth OfChosen =
          In.choice(First, Operands[1].IsPoison, Operands[2].IsPoison);
      return Of{In.choice(First, Operands[1].Is, Operands[2].Is),
                In.either(Operands[0].IsPoison, OfChosen)};
    }
    if (isa<TruncInst, ZExtInst, SExtInst, PtrToIntInst, IntToPtrInst>(I))
      return Of{resized(Operands[0].Is, *Width, isa<SExtInst>(I)),
                Operands[0].IsPoison};
    if (auto *GEP = dyn_cast<GetElementPtrInst>(&I))
      return address(*GEP, Operands);
    if (auto *Call = dyn_cast<IntrinsicInst>(&I))
      return intrinsic(*Call, Operands);
    return std::nullopt;
  }
};

// The bits of an argument; none if it is no number.
std::optional<unsigned> widthOf(const Argument &A) {
  Type *T = A.getType();
  if (T->isPointerTy())
    return A.getParent()->getParent()->getDataLayout().getPointerTypeSizeInBits(
        T);
  if (T->isIntegerTy())
    return T->getIntegerBitWidth();
  return std::nullopt;
}

// The numbers that a function is tried with: the same in each run.
class Source {
  uint64_t State = 0x9e3779b97f4a7c15;

public:
  uint64_t next() {
    State ^= State << 13;
    State ^= State >> 7;
    State ^= State << 17;
    return State;
  }

  // Often one of those at which operations do something else, or near one that
  // the function has
  APInt number(unsigned Width, ArrayRef<APInt> Constants) {
    if (!Constants.empty() && next() % 4 == 0) {
      const APInt &Constant = Constants[next() % Constants.size()];
      return Constant.sextOrTrunc(Width) + next() % 3 - 1;
    }
    uint64_t Kind = next() % 8;
    if (Kind == 0)
      return APInt(64, next() % 5).zextOrTrunc(Width) - 2;
    if (Kind == 1)
      return APInt::getSignedMinValue(Width) - next() % 2;
    if (Kind == 2)
      return APInt::getOneBitSet(Width, next() % Width);
    if (Kind == 3)
      return APInt::getLowBitsSet(Width, next() % (Width + 1));
    SmallVector<uint64_t, 2> Words;
    for (unsigned Bits = 0; Bits < Width; Bits += 64)
      Words.push_back(next());
    APInt All(Width, Words);
    return Kind < 6 ? All : All.ashr(next() % Width);
  }
};

// Whether some numbers refute what a function says, as Z3 would see it.
bool hasCounterexample(Function &F) {
  for (const Argument &A : F.args())
    if (!widthOf(A))
      return false;
  SmallVector<APInt, 8> Constants;
  for (const Instruction &I : instructions(F))
    for (const Value *Operand : I.operands())
      if (auto *Constant = dyn_cast<ConstantInt>(Operand))
        Constants.push_back(Constant->getValue());
  Source From;
  for (unsigned N = 0; N != Samples; ++N) {
    Numbers In;
    Meaning<Numbers> Is(In, F);
    std::optional<APInt> Last;
    for (const Argument &A : F.args()) {
      unsigned Width = *widthOf(A);
      APInt Bits = From.number(Width, Constants);
      // Values that are compared are more often equal than by chance.
      if (Last && Last->getBitWidth() == Width && From.next() % 4 == 0)
        Bits = *Last;
      if (auto Range = A.getRange(); Range && !Range->contains(Bits)) {
        APInt Size = Range->getUpper() - Range->getLower();
        Bits = Range->getLower() + (Size.isZero() ? Bits : Bits.urem(Size));
      }
      Last = Bits;
      Is.set(A, Bits);
    }
    auto Gives = Is.of(F);
    if (!Gives)
      return false;
    if (all_of(Gives->first, [](bool Goes) { return Goes; }) && Gives->second)
      return true;
  }
  return false;
}

// Whether what is false may be poison instead.
bool mayBePoison(Function &F) {
  return any_of(instructions(F), [](const Instruction &I) {
    return I.hasPoisonGeneratingFlags() &&
           (!isa<BinaryOperator>(I) || isa<PossiblyDisjointInst>(I));
  });
}

} // namespace

bool midflight::isRefutedBySamples(Function &F) {
  return !mayBePoison(F) && hasCounterexample(F);
}

bool midflight::isProvedByZ3(Function &F) {
#if LLVM_WITH_Z3
  if (!CreateZ3Solver)
    return false;
  for (const Argument &A : F.args())
    if (!widthOf(A))
      return false;
  // If samples have not been tried yet: they take a thousandth of the time that
  // Z3 takes to begin.
  if (mayBePoison(F) && hasCounterexample(F))
    return false;
  SMTSolverRef Solver = CreateZ3Solver();
  Solver->setUnsignedParam("rlimit", MostSteps);
  Formulas In{*Solver};
  Meaning<Formulas> Is(In, F);
  for (const Argument &A : F.args()) {
    unsigned Width = *widthOf(A);
    std::string Name = "a" + std::to_string(A.getArgNo());
    SMTExprRef Symbol =
        Solver->mkSymbol(Name.c_str(), Solver->getBitvectorSort(Width));
    Is.set(A, {Symbol, Width});
    if (auto Range = A.getRange(); Range && !Range->isFullSet()) {
      Formulas::Bits Lower = In.constant(Range->getLower());
      Formulas::Bits Above =
          In.binary(Instruction::Sub, {Symbol, Width}, Lower);
      Solver->addConstraint(In.isBelow(
          Above, In.constant(Range->getUpper() - Range->getLower()), false));
    }
  }
  auto Gives = Is.of(F);
  if (!Gives)
    return false;
  for (SMTExprRef GoesOn : Gives->first)
    Solver->addConstraint(GoesOn);
  // If it cannot be that the conditions hold, nothing is said.
  if (!Gives->first.empty() && Solver->check() != true)
    return false;
  Solver->addConstraint(Gives->second);
  return Solver->check() == false;
#else
  return false;
#endif
}
