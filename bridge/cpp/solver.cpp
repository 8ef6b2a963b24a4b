//===- solver.cpp - What values may be and where control may go -----------===//
//
// LLVM's solver for conditional constants and ranges, as questions about one
// function.
//
//===----------------------------------------------------------------------===//

#include "operations.h"
#include "sandbox.h"
#include "llvm-c/Core.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueLattice.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/PredicateInfo.h"
#include "llvm/Transforms/Utils/SCCPSolver.h"

using namespace llvm;
using namespace midflight;

namespace {

// A value that is a constant where control goes over an edge.
struct Implied {
  BasicBlock *From, *To;
  Value *V;
  Constant *C;
};

// What conditional constant and range propagation finds out.
struct Solution {
  std::vector<Implied> Edges;
  DenseMap<const Instruction *, Constant *> Constants;
  DenseMap<const Instruction *, Value *> Copies;
  DenseSet<const Instruction *> Unsigned;
  DenseSet<std::pair<const BasicBlock *, const BasicBlock *>> Feasible;
};

// A function whose values are solved, by its own instructions.
class Solved {
  SCCPSolver &Solver;
  ValueToValueMapTy &VMap;
  // Uses of operations on signed numbers, by their own instructions, whose
  // value is never negative
  const DenseSet<std::pair<const Instruction *, unsigned>> &NonNegative;
  function_ref<const TargetLibraryInfo &(Function &)> GetTLI;

  // Instructions that give a constant, which they cannot miss by being poison:
  // they are well defined, or all that they are made of is such a constant
  DenseMap<const Value *, Constant *> Known;

  template <typename T> T *its(T *V) const {
    return cast<T>(static_cast<Value *>(VMap[V]));
  }

  // True if an instruction gives just this constant of the constants that its
  // operands are. They must have been looked at before.
  bool folds(Instruction &I, Constant *C) {
    if (isa<PHINode>(I) || (!isa<CallBase>(I) && I.mayHaveSideEffects()) ||
        I.hasPoisonGeneratingAnnotations())
      return false;
    SmallVector<Constant *, 4> Operands;
    for (Value *Operand : I.operands()) {
      auto *Is = dyn_cast<Constant>(Operand);
      if (!Is)
        Is = Known.lookup(Operand);
      // What is constant at an address is so however that is written.
      if (!Is || !(isa<LoadInst>(I) || isa<Function>(Is) || isWellDefined(Is)))
        return false;
      Operands.push_back(Is);
    }
    const DataLayout &DL = I.getModule()->getDataLayout();
    Constant *Gives =
        isa<LoadInst>(I)
            ? ConstantFoldLoadFromConstPtr(Operands[0], I.getType(), DL)
            : ConstantFoldInstOperands(&I, Operands, DL,
                                       &GetTLI(*I.getFunction()));
    return Gives == C;
  }

public:
  Solved(SCCPSolver &Solver, ValueToValueMapTy &VMap,
         const DenseSet<std::pair<const Instruction *, unsigned>> &NonNegative,
         function_ref<const TargetLibraryInfo &(Function &)> GetTLI)
      : Solver(Solver), VMap(VMap), NonNegative(NonNegative), GetTLI(GetTLI) {}

  bool isExecutable(BasicBlock *BB) {
    return Solver.isBlockExecutable(its(BB));
  }

  bool isFeasible(BasicBlock *From, BasicBlock *To) {
    return Solver.isEdgeFeasible(its(From), its(To));
  }

  // The constant that an instruction always gives, if that is no poison: an
  // address in a global may be such, since it is inbounds.
  Constant *constant(Instruction &I) {
    Type *T = I.getType();
    if (I.isTerminator() ||
        !(T->isIntegerTy() || T->isPointerTy() || T->isFloatingPointTy()))
      return nullptr;
    Constant *C = Solver.getConstantOrNull(its(&I));
    if (!C || !(isWellDefined(&I) || folds(I, C)))
      return nullptr;
    Known[&I] = C;
    return isWellDefined(C) ? C : nullptr;
  }

  // What branches say of values on their edges that are no constants anyway.
  // Neither poison nor undef is a constant there, or the branch is undefined:
  // it is on a comparison of the value.
  std::vector<Implied> implied(Function &F) {
    DenseMap<const Value *, Value *> Mine;
    for (auto [Of, Its] : VMap)
      Mine[Its] = const_cast<Value *>(Of);
    std::vector<Implied> All;
    for (Instruction &Copy : instructions(*its(&F.front())->getParent())) {
      auto *Edge = dyn_cast_or_null<PredicateWithEdge>(
          Solver.getPredicateInfoFor(&Copy));
      // The solver has nothing of values that it has not come to: the edge may
      // lead from dead code to a block that is alive.
      if (!Edge || !Copy.getType()->isIntegerTy() ||
          !Solver.isBlockExecutable(Copy.getParent()) ||
          !Solver.isEdgeFeasible(Edge->From, Edge->To))
        continue;
      const ValueLatticeElement &L = Solver.getLatticeValueFor(&Copy);
      Value *V = Mine.lookup(Edge->OriginalOp);
      if (V && L.isConstantRange(/*UndefAllowed=*/false) &&
          L.getConstantRange(/*UndefAllowed=*/false).isSingleElement() &&
          !Solver.getConstantOrNull(Edge->OriginalOp))
        All.push_back({cast<BasicBlock>(Mine.lookup(Edge->From)),
                       cast<BasicBlock>(Mine.lookup(Edge->To)), V,
                       Solver.getConstantOrNull(&Copy)});
    }
    return All;
  }

  // The integers that an operand may be where it is used: conditions say more
  // of it there.
  ConstantRange range(Instruction &User, Value *Operand) {
    for (auto [Mine, Its] : zip(User.operands(), its(&User)->operands()))
      if (Mine.get() == Operand) {
        Value *V = Its.get();
        if (auto *C = dyn_cast<ConstantInt>(V))
          return ConstantRange(C->getValue());
        if (isa<Constant>(V))
          break;
        const ValueLatticeElement &L = Solver.getLatticeValueFor(V);
        if (L.isConstantRange(/*UndefAllowed=*/false))
          return L.getConstantRange(/*UndefAllowed=*/false);
      }
    return ConstantRange::getFull(Operand->getType()->getIntegerBitWidth());
  }

  bool isNonNegative(Instruction &User, unsigned Operand) {
    Value *V = User.getOperand(Operand);
    return V->getType()->isIntegerTy() &&
           (!isa<Constant>(V) || isa<ConstantInt>(V)) &&
           (NonNegative.contains({&User, Operand}) ||
            range(User, V).isAllNonNegative());
  }
};

// Runs LLVM's solver on a copy of a function, since it puts copies of values
// into the code where conditions say something of them.
//
// The solver may choose what is poison or undef. Where all that comes of it
// may be chosen too, this says nothing wrong: a branch on it is undefined. But
// a freeze has chosen already, once for all, so that nothing is known of it.
// What follows from flags holds unless something is poison.
void solve(Sandbox &S, Function &F, ArrayRef<Instruction *> WithoutFlags,
           function_ref<void(Solved &)> Then) {
  ValueToValueMapTy VMap;
  Function *Copy = CloneFunction(&F, VMap);
  Copy->setLinkage(GlobalValue::InternalLinkage);
  SmallVector<Instruction *, 4> Frozen;
  for (Instruction &I : instructions(F))
    if (isa<FreezeInst>(I) && !isWellDefined(I.getOperand(0), &I))
      Frozen.push_back(cast<Instruction>(VMap[&I]));
  for (Instruction *I : WithoutFlags)
    cast<Instruction>(VMap[I])->dropPoisonGeneratingAnnotations();
  auto GetTLI = [&S](Function &F) -> const TargetLibraryInfo & {
    return S.FAM.getResult<TargetLibraryAnalysis>(F);
  };
  SCCPSolver Solver(F.getParent()->getDataLayout(), GetTLI, F.getContext());
  DominatorTree DT(*Copy);
  AssumptionCache AC(*Copy);
  // What follows from bits, as of recurrences that start at zero or more and
  // step without signed overflow, if their flags stay.
  DenseSet<std::pair<const Instruction *, unsigned>> NonNegative;
  for (Instruction &I : instructions(F))
    if (unsignedOpcode(I)) {
      auto *Its = cast<Instruction>(VMap[&I]);
      SimplifyQuery Q(F.getParent()->getDataLayout(), &GetTLI(F), &DT, &AC,
                      Its);
      for (unsigned N = 0; N != Its->getNumOperands(); ++N)
        if (Its->getOperand(N)->getType()->isIntegerTy() &&
            isKnownNonNegative(Its->getOperand(N), Q))
          NonNegative.insert({&I, N});
    }
  Solver.addPredicateInfo(*Copy, DT, AC);
  Solver.markBlockExecutable(&Copy->front());
  for (Argument &A : Copy->args())
    Solver.markOverdefined(&A);
  for (Instruction *I : Frozen)
    Solver.markOverdefined(I);
  Solver.solve();
  while (Solver.resolvedUndefsIn(*Copy))
    Solver.solve();
  Solved Result(Solver, VMap, NonNegative, GetTLI);
  Then(Result);
  // Before the solver goes, which wants its copies of values to be gone.
  S.FAM.clear(*Copy, Copy->getName());
  VMap.clear();
  Copy->eraseFromParent();
}

// (Low | High << Shift) >> Shift
struct Field {
  Instruction *I, *Or, *Shl;
  Value *Low, *High;
  unsigned Shift;
};

// X & Mask, which may take nothing away.
Value *findMasked(Instruction &I, const APInt *&Mask) {
  using namespace PatternMatch;
  Value *X;
  return I.getType()->isIntegerTy() &&
                 match(&I, m_And(m_Value(X), m_APInt(Mask))) && Mask->isMask()
             ? X
             : nullptr;
}

std::optional<Field> findField(Instruction &I) {
  using namespace PatternMatch;
  const APInt *Shift, *Same;
  if (!I.getType()->isIntegerTy() ||
      !(match(&I, m_LShr(m_Value(), m_APInt(Shift))) ||
        match(&I, m_AShr(m_Value(), m_APInt(Shift)))))
    return std::nullopt;
  auto *Or = dyn_cast<BinaryOperator>(I.getOperand(0));
  if (!Or || Or->getOpcode() != Instruction::Or)
    return std::nullopt;
  for (unsigned N : {0u, 1u}) {
    Value *High;
    auto *Shl = dyn_cast<Instruction>(Or->getOperand(N));
    if (Shl && match(Shl, m_Shl(m_Value(High), m_APInt(Same))) &&
        *Same == *Shift && Shift->ugt(0) &&
        Shift->ult(I.getType()->getIntegerBitWidth()))
      return Field{&I,   Or,
                   Shl,  Or->getOperand(1 - N),
                   High, unsigned(Shift->getZExtValue())};
  }
  return std::nullopt;
}

} // namespace

extern "C" {

/// True if a solution may find it to be a copy of another value.
bool mfb_may_be_copy(LLVMValueRef Inst) {
  auto &I = *unwrap<Instruction>(Inst);
  const APInt *Mask;
  return findMasked(I, Mask) || findField(I);
}

/// Solves what values of a function may be and where control may go, as if some
/// of its instructions had no flags that make a result poison.
void *mfb_solve(void *SandboxPtr, LLVMValueRef Fn,
                const LLVMValueRef *WithoutFlags, size_t Count) {
  auto &S = *static_cast<Sandbox *>(SandboxPtr);
  Function &F = *unwrap<Function>(Fn);
  auto *Result = new Solution;
  SmallVector<Instruction *, 32> Unflagged;
  for (size_t N = 0; N != Count; ++N)
    Unflagged.push_back(unwrap<Instruction>(WithoutFlags[N]));
  solve(S, F, Unflagged, [&](Solved &Solver) {
    auto Fits = [&](Instruction *User, Value *V, unsigned Bits) {
      return Solver.range(*User, V).getUnsignedMax().getActiveBits() <= Bits;
    };
    Result->Edges = Solver.implied(F);
    // Operands before what is made of them
    for (BasicBlock *Block : ReversePostOrderTraversal<Function *>(&F)) {
      BasicBlock &BB = *Block;
      if (!Solver.isExecutable(&BB))
        continue;
      for (BasicBlock *To : successors(&BB))
        if (Solver.isFeasible(&BB, To))
          Result->Feasible.insert({&BB, To});
      for (Instruction &I : BB) {
        if (Constant *C = Solver.constant(I))
          Result->Constants[&I] = C;
        bool Both = I.getOpcode() == Instruction::SDiv ||
                    I.getOpcode() == Instruction::SRem ||
                    I.getOpcode() == Instruction::ICmp;
        if (unsignedOpcode(I) && Solver.isNonNegative(I, 0) &&
            (!Both || Solver.isNonNegative(I, 1)))
          Result->Unsigned.insert(&I);
        const APInt *Mask;
        if (Value *X = findMasked(I, Mask))
          if (Solver.range(I, X).getUnsignedMax().ule(*Mask))
            Result->Copies[&I] = X;
        if (auto Field = findField(I)) {
          unsigned Bits = I.getType()->getIntegerBitWidth();
          bool Unsigned =
              I.getOpcode() == Instruction::LShr || Solver.isNonNegative(I, 0);
          if (Unsigned && Fits(Field->Or, Field->Low, Field->Shift) &&
              Fits(Field->Shl, Field->High, Bits - Field->Shift) &&
              isNotPoison(Field->Or, &I))
            Result->Copies[&I] = Field->High;
        }
      }
    }
  });
  return Result;
}

/// The value that an instruction is a copy of; null if it is none.
LLVMValueRef mfb_solved_copy(void *S, LLVMValueRef Inst) {
  return wrap(
      static_cast<Solution *>(S)->Copies.lookup(unwrap<Instruction>(Inst)));
}

void mfb_solution_free(void *S) { delete static_cast<Solution *>(S); }

/// The constant that an instruction always gives; null if there is none.
LLVMValueRef mfb_solved_constant(void *S, LLVMValueRef Inst) {
  auto &Constants = static_cast<Solution *>(S)->Constants;
  return wrap(
      static_cast<Value *>(Constants.lookup(unwrap<Instruction>(Inst))));
}

/// True for an operation on signed numbers that are never negative there, so
/// that its unsigned counterpart gives the same.
bool mfb_solved_unsigned(void *S, LLVMValueRef Inst) {
  return static_cast<Solution *>(S)->Unsigned.contains(
      unwrap<Instruction>(Inst));
}

/// The Nth value that is a constant where control goes over an edge; false if
/// there are not so many.
bool mfb_solved_implied(void *S, size_t N, LLVMBasicBlockRef *From,
                        LLVMBasicBlockRef *To, LLVMValueRef *V,
                        LLVMValueRef *C) {
  auto &All = static_cast<Solution *>(S)->Edges;
  if (N >= All.size())
    return false;
  *From = wrap(All[N].From);
  *To = wrap(All[N].To);
  *V = wrap(All[N].V);
  *C = wrap(static_cast<Value *>(All[N].C));
  return true;
}

bool mfb_solved_feasible(void *S, LLVMBasicBlockRef From,
                         LLVMBasicBlockRef To) {
  return static_cast<Solution *>(S)->Feasible.contains(
      {unwrap(From), unwrap(To)});
}

} // extern "C"
