//===- map.cpp - Versions that differ: tracking, memory, operations -------===//
//
// What OSR mappings between a function and an optimized clone of it need and
// llvm-c does not have: stock passes run on one function, handles that follow
// what they do, and the questions about operations and memory that only LLVM
// can answer. As in shim.cpp, every function is `extern "C"` and throws
// nothing.
//
//===----------------------------------------------------------------------===//

#include "llvm-c/Core.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/InstructionSimplify.h"
#include "llvm/Analysis/MemorySSA.h"
#include "llvm/Analysis/MemorySSAUpdater.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueLattice.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/AssemblyAnnotationWriter.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ModuleSlotTracker.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/IR/ValueHandle.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FormattedStream.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/SCCPSolver.h"

using namespace llvm;

// Inline functions of the headers refer to these, and each is in one LLVM only.
// A plugin must load in another LLVM too, to say there that it is the wrong
// one.
asm(".weak _ZTVN4llvm17SimpleCaptureInfoE\n"
    ".weak _ZTVN4llvm21SimpleCaptureAnalysisE");

namespace {

//===----------------------------------------------------------------------===//
// Stock passes on one function
//===----------------------------------------------------------------------===//

// Analysis managers of its own: the host's instrumentation skips functions that
// are not to be optimized, and its caches must not see the clone.
struct Sandbox {
  PassBuilder PB;
  LoopAnalysisManager LAM;
  FunctionAnalysisManager FAM;
  CGSCCAnalysisManager CGAM;
  ModuleAnalysisManager MAM;

  Sandbox() {
    PB.registerModuleAnalyses(MAM);
    PB.registerCGSCCAnalyses(CGAM);
    PB.registerFunctionAnalyses(FAM);
    PB.registerLoopAnalyses(LAM);
    PB.crossRegisterProxies(LAM, FAM, CGAM, MAM);
  }
};

char *message(Error E) {
  std::string Text = toString(std::move(E));
  return LLVMCreateMessage(Text.c_str());
}

// A pipeline of function passes. `default<O2>` stands for what LLVM's pipeline
// of that level does to a single function.
Error parsePipeline(PassBuilder &PB, FunctionPassManager &FPM, StringRef Text) {
  StringRef Level = Text.trim();
  if (Level.consume_front("default<") && Level.consume_back(">")) {
    OptimizationLevel L = StringSwitch<OptimizationLevel>(Level)
                              .Case("O1", OptimizationLevel::O1)
                              .Case("O2", OptimizationLevel::O2)
                              .Case("O3", OptimizationLevel::O3)
                              .Case("Os", OptimizationLevel::Os)
                              .Case("Oz", OptimizationLevel::Oz)
                              .Default(OptimizationLevel::O0);
    if (L != OptimizationLevel::O0) {
      FPM = PB.buildFunctionSimplificationPipeline(L, ThinOrFullLTOPhase::None);
      return Error::success();
    }
  }
  // As in opt, a pass over loops may be named without `loop(...)`.
  unsigned Depth = 0;
  size_t Begin = 0;
  for (size_t N = 0; N <= Text.size(); ++N) {
    char C = N == Text.size() ? ',' : Text[N];
    Depth += C == '(' || C == '<';
    Depth -= (C == ')' || C == '>') && Depth;
    if (C != ',' || (Depth && N != Text.size()))
      continue;
    std::string Pass = Text.slice(Begin, N).trim().str();
    Begin = N + 1;
    Error E = PB.parsePassPipeline(FPM, Pass);
    if (!E)
      continue;
    FunctionPassManager Wrapped;
    if (Error Other =
            PB.parsePassPipeline(Wrapped, "loop-mssa(" + Pass + ")")) {
      consumeError(std::move(Other));
      return E;
    }
    consumeError(std::move(E));
    FPM.addPass(std::move(Wrapped));
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// What becomes of blocks and instructions
//===----------------------------------------------------------------------===//

struct Tracker {
  // The instruction itself, null when it is deleted.
  std::vector<WeakVH> Self;
  // What stands for it: it follows every replacement of all uses.
  std::vector<WeakTrackingVH> Now;
  std::vector<WeakVH> Blocks;
};

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

struct Memory {
  MemorySSA &MSSA;
  AAResults &AA;
  MemorySSAUpdater Updater;
  MemorySSAWalker *Walker;

  Memory(MemorySSA &MSSA, AAResults &AA)
      : MSSA(MSSA), AA(AA), Updater(&MSSA), Walker(MSSA.getWalker()) {}

  // The access that gives memory the state that it has at the head of a block.
  MemoryAccess *atHead(BasicBlock *BB) {
    if (MemoryAccess *Phi = MSSA.getMemoryAccess(BB))
      return Phi;
    auto *Node = MSSA.getDomTree().getNode(BB);
    for (Node = Node ? Node->getIDom() : nullptr; Node; Node = Node->getIDom())
      if (auto *Defs = MSSA.getBlockDefs(Node->getBlock()))
        return const_cast<MemoryAccess *>(&*Defs->rbegin());
    return MSSA.getLiveOnEntryDef();
  }

  MemoryAccess *before(Instruction *I) {
    BasicBlock *BB = I->getParent();
    for (auto It = I->getReverseIterator(), E = BB->rend(); ++It != E;)
      if (MemoryUseOrDef *A = MSSA.getMemoryAccess(&*It))
        if (isa<MemoryDef>(A))
          return A;
    return atHead(BB);
  }
};

enum AccessKind : uint32_t { NoAccess, LiveOnEntry, AtDef, AtPhi };

uint32_t describe(Memory &M, const MemoryAccess *A, LLVMValueRef *Where) {
  *Where = nullptr;
  if (!A)
    return NoAccess;
  if (M.MSSA.isLiveOnEntryDef(A))
    return LiveOnEntry;
  if (auto *Def = dyn_cast<MemoryUseOrDef>(A)) {
    *Where = wrap(static_cast<Value *>(Def->getMemoryInst()));
    return AtDef;
  }
  *Where = wrap(static_cast<Value *>(A->getBlock()));
  return AtPhi;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

// What conditional constant and range propagation finds out.
struct Solution {
  DenseMap<const Instruction *, Constant *> Constants;
  DenseMap<const Instruction *, Value *> Copies;
  DenseSet<const Instruction *> Unsigned;
  DenseSet<const BasicBlock *> Executable;
  DenseSet<std::pair<const BasicBlock *, const BasicBlock *>> Feasible;
};

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

// The operation on unsigned numbers that gives the same where no operand is
// negative; 0 if there is none.
unsigned unsignedOpcode(const Instruction &I) {
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

Instruction *makeUnsigned(const Instruction &I) {
  unsigned Opcode = unsignedOpcode(I);
  if (I.isCast())
    return CastInst::Create(Instruction::CastOps(Opcode), I.getOperand(0),
                            I.getType());
  return BinaryOperator::Create(Instruction::BinaryOps(Opcode), I.getOperand(0),
                                I.getOperand(1));
}

// A call without effects that can be made again, at the worst for nothing.
bool isPureIntrinsic(const Instruction &I) {
  auto *II = dyn_cast<IntrinsicInst>(&I);
  return II && II->doesNotAccessMemory() && II->doesNotThrow() &&
         II->willReturn() && !II->isConvergent() && !II->hasOperandBundles() &&
         II->getIntrinsicID() != Intrinsic::eh_typeid_for &&
         II->hasFnAttr(Attribute::Speculatable);
}

enum MapFact : uint32_t {
  // It must run exactly once and in order.
  MapAnchor = 1 << 0,
  // Nothing that runs: an assumption, a scope.
  MapMarker = 1 << 1,
  // It can be made again from the same operands.
  MapRepeatable = 1 << 2,
  // A load that can be made again while memory is the same.
  MapLoad = 1 << 3,
  // It reads memory.
  MapReads = 1 << 4,
  // A simple store: value, pointer.
  MapStore = 1 << 5,
  MapCommutative = 1 << 6,
  // Its result depends on the function that it is in.
  MapOwn = 1 << 7,
  MapTerminator = 1 << 8,
  MapPhi = 1 << 9,
  MapUnconditional = 1 << 10,
  // Its result belongs to the one time that it ran.
  MapPinned = 1 << 11,
  // The exception of a landing pad, without its selector.
  MapPadPointer = 1 << 12,
  MapLandingPad = 1 << 13,
  // icmp eq, icmp ne
  MapEqual = 1 << 15,
  MapDiffer = 1 << 16,
  MapConditional = 1 << 17,
  // a && b, a || b
  MapAllHold = 1 << 18,
  MapAnyHolds = 1 << 19,
  MapSelect = 1 << 20,
  // It can be made again even where it did not run.
  MapSpeculatable = 1 << 21,
};

// An operation that can be made again, and never traps. Divisors must be known.
bool isSpeculatable(const Instruction &I) {
  using namespace PatternMatch;
  const APInt *Divisor;
  if (I.isIntDivRem())
    return match(I.getOperand(1), m_APInt(Divisor)) && !Divisor->isZero() &&
           !Divisor->isAllOnes();
  return isSafeToSpeculativelyExecute(&I);
}

// Metadata that makes a result poison.
constexpr unsigned PoisonKinds[] = {
    LLVMContext::MD_range, LLVMContext::MD_nonnull, LLVMContext::MD_align};

bool samePoisonMetadata(const Instruction *A, const Instruction *B) {
  return all_of(PoisonKinds, [&](unsigned Kind) {
    return A->getMetadata(Kind) == B->getMetadata(Kind);
  });
}

// A function whose values are solved, by its own instructions.
class Solved {
  SCCPSolver &Solver;
  ValueToValueMapTy &VMap;

  template <typename T> T *its(T *V) const {
    return cast<T>(static_cast<Value *>(VMap[V]));
  }

public:
  Solved(SCCPSolver &Solver, ValueToValueMapTy &VMap)
      : Solver(Solver), VMap(VMap) {}

  bool isExecutable(BasicBlock *BB) {
    return Solver.isBlockExecutable(its(BB));
  }

  bool isFeasible(BasicBlock *From, BasicBlock *To) {
    return Solver.isEdgeFeasible(its(From), its(To));
  }

  // The constant that an instruction always gives.
  Constant *constant(Instruction &I) {
    Type *T = I.getType();
    if (I.isTerminator() ||
        !(T->isIntegerTy() || T->isPointerTy() || T->isFloatingPointTy()))
      return nullptr;
    Constant *C = Solver.getConstantOrNull(its(&I));
    return C && !C->containsUndefOrPoisonElement() ? C : nullptr;
  }

  // The integers that an operand may be where it is used: conditions say more
  // of it there.
  ConstantRange range(Instruction &User, Value *Operand) {
    for (auto [Mine, Its] : zip(User.operands(), its(&User)->operands()))
      if (Mine.get() == Operand) {
        Value *V = Its.get();
        if (auto *C = dyn_cast<ConstantInt>(V))
          return ConstantRange(C->getValue());
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
           range(User, V).isAllNonNegative();
  }
};

// Runs LLVM's solver on a copy of a function, since it puts copies of values
// into the code where conditions say something of them.
void solve(Sandbox &S, Function &F, bool Flags,
           function_ref<void(Solved &)> Then) {
  ValueToValueMapTy VMap;
  Function *Copy = CloneFunction(&F, VMap);
  Copy->setLinkage(GlobalValue::InternalLinkage);
  if (!Flags)
    for (Instruction &I : instructions(*Copy))
      I.dropPoisonGeneratingFlags();
  auto GetTLI = [&S](Function &F) -> const TargetLibraryInfo & {
    return S.FAM.getResult<TargetLibraryAnalysis>(F);
  };
  SCCPSolver Solver(F.getParent()->getDataLayout(), GetTLI, F.getContext());
  DominatorTree DT(*Copy);
  AssumptionCache AC(*Copy);
  Solver.addPredicateInfo(*Copy, DT, AC);
  Solver.markBlockExecutable(&Copy->front());
  for (Argument &A : Copy->args())
    Solver.markOverdefined(&A);
  Solver.solve();
  while (Solver.resolvedUndefsIn(*Copy))
    Solver.solve();
  Solved Result(Solver, VMap);
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

void *mfb_sandbox_new() { return new Sandbox; }

void mfb_sandbox_free(void *S) { delete static_cast<Sandbox *>(S); }

/// Null if the pipeline can be parsed, else a message.
char *mfb_check_pipeline(void *S, const char *Text, size_t Length) {
  FunctionPassManager FPM;
  if (Error E = parsePipeline(static_cast<Sandbox *>(S)->PB, FPM,
                              StringRef(Text, Length)))
    return message(std::move(E));
  return nullptr;
}

/// Runs a pipeline of function passes on one function.
char *mfb_run_pipeline(void *SandboxPtr, LLVMValueRef Fn, const char *Text,
                       size_t Length) {
  auto &S = *static_cast<Sandbox *>(SandboxPtr);
  Function &F = *unwrap<Function>(Fn);
  FunctionPassManager FPM;
  if (Error E = parsePipeline(S.PB, FPM, StringRef(Text, Length)))
    return message(std::move(E));
  FPM.run(F, S.FAM);
  S.FAM.clear(F, F.getName());
  S.LAM.clear();
  return nullptr;
}

/// Forgets what is known of a function that is changed or erased.
void mfb_sandbox_forget(void *SandboxPtr, LLVMValueRef Fn) {
  auto &S = *static_cast<Sandbox *>(SandboxPtr);
  Function &F = *unwrap<Function>(Fn);
  S.FAM.clear(F, F.getName());
  S.LAM.clear();
}

/// Follows the blocks and instructions of a function from now on.
void *mfb_track(LLVMValueRef Fn) {
  auto *T = new Tracker;
  for (BasicBlock &BB : *unwrap<Function>(Fn)) {
    T->Blocks.emplace_back(&BB);
    for (Instruction &I : BB) {
      T->Self.emplace_back(&I);
      T->Now.emplace_back(&I);
    }
  }
  return T;
}

void mfb_track_free(void *T) { delete static_cast<Tracker *>(T); }

/// The block that once was the n-th; null if it is gone.
LLVMBasicBlockRef mfb_tracked_block(void *T, size_t Index) {
  return wrap(cast_or_null<BasicBlock>(
      static_cast<Value *>(static_cast<Tracker *>(T)->Blocks[Index])));
}

/// The instruction that once was the n-th; null if it was deleted.
LLVMValueRef mfb_tracked(void *T, size_t Index) {
  return wrap(static_cast<Value *>(static_cast<Tracker *>(T)->Self[Index]));
}

/// What stands for the n-th instruction: itself, or what its uses were given;
/// null if it was deleted unused.
LLVMValueRef mfb_tracked_value(void *T, size_t Index) {
  return wrap(static_cast<Value *>(static_cast<Tracker *>(T)->Now[Index]));
}

uint32_t mfb_map_facts(LLVMValueRef Ref) {
  auto *I = unwrap<Instruction>(Ref);
  uint32_t Facts = 0;
  if (I->isTerminator())
    Facts |= MapTerminator;
  if (auto *BI = dyn_cast<BranchInst>(I))
    Facts |= BI->isUnconditional() ? MapUnconditional : MapConditional;
  if (isa<PHINode>(I))
    return Facts | MapPhi;
  if (auto *II = dyn_cast<IntrinsicInst>(I)) {
    if (II->isAssumeLikeIntrinsic())
      return Facts | MapMarker;
    switch (II->getIntrinsicID()) {
    case Intrinsic::eh_typeid_for:
    case Intrinsic::frameaddress:
    case Intrinsic::returnaddress:
    case Intrinsic::addressofreturnaddress:
      return Facts | MapOwn;
    default:
      break;
    }
  }
  if (isa<AllocaInst>(I) || isa<FreezeInst>(I))
    Facts |= MapPinned;
  if (auto *Call = dyn_cast<CallBase>(I))
    if (Call->isConvergent())
      Facts |= MapPinned;
  if (auto *Extract = dyn_cast<ExtractValueInst>(I))
    if (isa<LandingPadInst>(Extract->getAggregateOperand()) &&
        Extract->getIndices().equals({0u}))
      Facts |= MapPadPointer;
  if (isa<LandingPadInst>(I))
    Facts |= MapLandingPad;
  bool Ends = isa<ReturnInst>(I) || isa<UnreachableInst>(I);
  auto *Load = dyn_cast<LoadInst>(I);
  if ((I->mayHaveSideEffects() && !Ends) || isa<LandingPadInst>(I) ||
      isa<VAArgInst>(I) || (I->mayReadFromMemory() && I->isAtomic()) ||
      I->isVolatile())
    Facts |= MapAnchor;
  if (I->mayReadFromMemory())
    Facts |= MapReads;
  if (Facts & MapAnchor) {
    if (auto *Store = dyn_cast<StoreInst>(I))
      if (Store->isSimple())
        Facts |= MapStore;
    return Facts;
  }
  if (Load && Load->isSimple())
    Facts |= MapLoad;
  bool Repeatable = !I->isTerminator() && !isa<AllocaInst>(I) &&
                    !isa<FreezeInst>(I) && !I->isEHPad() && !Load &&
                    !I->mayReadOrWriteMemory() && !I->getType()->isTokenTy();
  if (isa<CallBase>(I))
    Repeatable &= isPureIntrinsic(*I);
  if (Repeatable) {
    Facts |= MapRepeatable;
    if (isSpeculatable(*I))
      Facts |= MapSpeculatable;
  }
  if (isa<SelectInst>(I))
    Facts |= MapSelect;
  if (auto *Cmp = dyn_cast<ICmpInst>(I))
    if (Cmp->isEquality())
      Facts |= Cmp->getPredicate() == ICmpInst::ICMP_EQ ? MapEqual : MapDiffer;
  using namespace PatternMatch;
  if (match(I, m_LogicalAnd(m_Value(), m_Value())))
    Facts |= MapAllHold;
  if (match(I, m_LogicalOr(m_Value(), m_Value())))
    Facts |= MapAnyHolds;
  if (I->isCommutative())
    Facts |= MapCommutative;
  return Facts;
}

/// True for an operation on signed numbers that has an unsigned counterpart.
bool mfb_has_unsigned(LLVMValueRef Inst) {
  return unsignedOpcode(*unwrap<Instruction>(Inst)) != 0;
}

/// True if a solution may find it to be a copy of another value.
bool mfb_may_be_copy(LLVMValueRef Inst) {
  auto &I = *unwrap<Instruction>(Inst);
  const APInt *Mask;
  return findMasked(I, Mask) || findField(I);
}

/// Solves what values of a function may be and where control may go.
void *mfb_solve(void *SandboxPtr, LLVMValueRef Fn) {
  auto &S = *static_cast<Sandbox *>(SandboxPtr);
  Function &F = *unwrap<Function>(Fn);
  auto *Result = new Solution;
  solve(S, F, /*Flags=*/true, [&](Solved &Solver) {
    for (BasicBlock &BB : F) {
      if (!Solver.isExecutable(&BB))
        continue;
      Result->Executable.insert(&BB);
      for (BasicBlock *To : successors(&BB))
        if (Solver.isFeasible(&BB, To))
          Result->Feasible.insert({&BB, To});
      for (Instruction &I : BB) {
        if (Constant *C = Solver.constant(I))
          Result->Constants[&I] = C;
        bool Both = I.getOpcode() == Instruction::SDiv ||
                    I.getOpcode() == Instruction::SRem;
        if (unsignedOpcode(I) && Solver.isNonNegative(I, 0) &&
            (!Both || Solver.isNonNegative(I, 1)))
          Result->Unsigned.insert(&I);
        const APInt *Mask;
        if (Value *X = findMasked(I, Mask))
          if (Solver.range(I, X).getUnsignedMax().ule(*Mask))
            Result->Copies[&I] = X;
      }
    }
  });
  SmallVector<Field, 8> Fields;
  for (Instruction &I : instructions(F))
    if (auto Field = findField(I))
      Fields.push_back(*Field);
  if (Fields.empty())
    return Result;
  // What follows from flags holds unless something is poison: not enough here.
  solve(S, F, /*Flags=*/false, [&](Solved &Solver) {
    for (const Field &Field : Fields) {
      unsigned Bits = Field.I->getType()->getIntegerBitWidth();
      auto Fits = [&](Instruction *User, Value *V, unsigned Most) {
        return Solver.range(*User, V).getUnsignedMax().ult(
            APInt::getOneBitSet(Bits, Most));
      };
      bool Unsigned = Field.I->getOpcode() == Instruction::LShr ||
                      Solver.isNonNegative(*Field.I, 0);
      if (Unsigned && Fits(Field.Or, Field.Low, Field.Shift) &&
          Fits(Field.Shl, Field.High, Bits - Field.Shift))
        Result->Copies[Field.I] = Field.High;
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

bool mfb_solved_executable(void *S, LLVMBasicBlockRef Block) {
  return static_cast<Solution *>(S)->Executable.contains(unwrap(Block));
}

bool mfb_solved_feasible(void *S, LLVMBasicBlockRef From,
                         LLVMBasicBlockRef To) {
  return static_cast<Solution *>(S)->Feasible.contains(
      {unwrap(From), unwrap(To)});
}

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

/// What an operation on other operands is equal to: a constant, or a value that
/// is there already; null if LLVM knows none. Nothing is concluded from flags,
/// from undefined values or from the place.
LLVMValueRef mfb_simplify(LLVMValueRef Inst, const LLVMValueRef *Operands,
                          size_t Count) {
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

/// Takes from instructions the flags and the metadata that can make a result
/// poison.
void mfb_drop_flags(const LLVMValueRef *Insts, size_t Count) {
  for (size_t N = 0; N < Count; ++N) {
    auto *I = unwrap<Instruction>(Insts[N]);
    I->dropPoisonGeneratingFlags();
    for (unsigned Kind : PoisonKinds)
      I->setMetadata(Kind, nullptr);
  }
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

/// Empties a block that is never reached.
void mfb_make_unreachable(LLVMBasicBlockRef Ref) {
  BasicBlock *BB = unwrap(Ref);
  for (BasicBlock *To : successors(BB))
    To->removePredecessor(BB, /*KeepOneInputPHIs=*/true);
  for (Instruction &I : *BB)
    if (!I.use_empty())
      I.replaceAllUsesWith(PoisonValue::get(I.getType()));
  while (!BB->empty())
    BB->back().eraseFromParent();
  new UnreachableInst(BB->getContext(), BB);
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

namespace {
/// Marks where the text of an instruction begins and ends. The writer escapes
/// such characters in all that it prints.
struct Marks final : AssemblyAnnotationWriter {
  static constexpr char Begin = '\1', End = '\2';
  void emitInstructionAnnot(const Instruction *,
                            formatted_raw_ostream &OS) override {
    OS << Begin;
  }
  void printInfoComment(const Value &V, formatted_raw_ostream &OS) override {
    if (isa<Instruction>(V))
      OS << End;
  }
};
} // namespace

/// Loads what a simple store would have stored, from an address.
LLVMValueRef mfb_load_as_stored(LLVMBuilderRef Builder, LLVMValueRef StoreRef,
                                LLVMValueRef Address) {
  auto *Store = unwrap<StoreInst>(StoreRef);
  return wrap(static_cast<Value *>(
      unwrap(Builder)->CreateAlignedLoad(Store->getValueOperand()->getType(),
                                         unwrap(Address), Store->getAlign())));
}

/// Calls back with the text of each block's name and of each instruction, as
/// the IR writer prints them: a block's name is followed by its instructions.
void mfb_texts(LLVMValueRef Fn, void *To,
               void (*Add)(void *, bool, const char *, size_t)) {
  Function &F = *unwrap<Function>(Fn);
  ModuleSlotTracker Slots(F.getParent(), /*ShouldInitializeAllMetadata=*/false);
  Slots.incorporateFunction(F);
  // All at once: for each value that is printed by itself the writer looks at
  // all globals of the module.
  std::string All;
  raw_string_ostream AllOS(All);
  Marks Writer;
  F.print(AllOS, &Writer);
  StringRef Rest = AllOS.str();
  for (BasicBlock &BB : F) {
    std::string Name;
    raw_string_ostream OS(Name);
    BB.printAsOperand(OS, /*PrintType=*/false, Slots);
    StringRef Trimmed = StringRef(OS.str()).trim();
    Add(To, true, Trimmed.data(), Trimmed.size());
    for (size_t N = 0, Count = BB.size(); N != Count; ++N) {
      auto [Text, Behind] = Rest.split(Marks::Begin).second.split(Marks::End);
      Rest = Behind;
      Text = Text.trim();
      Add(To, false, Text.data(), Text.size());
    }
  }
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void *mfb_memory_new(void *SandboxPtr, LLVMValueRef Fn) {
  auto &S = *static_cast<Sandbox *>(SandboxPtr);
  Function &F = *unwrap<Function>(Fn);
  auto &MSSA = S.FAM.getResult<MemorySSAAnalysis>(F).getMSSA();
  MSSA.ensureOptimizedUses();
  return new Memory(MSSA, S.FAM.getResult<AAManager>(F));
}

void mfb_memory_free(void *M) { delete static_cast<Memory *>(M); }

/// What an instruction that reads depends on: kind, and the instruction or
/// block.
uint32_t mfb_memory_clobber(void *MemoryPtr, LLVMValueRef Inst,
                            LLVMValueRef *Where) {
  auto &M = *static_cast<Memory *>(MemoryPtr);
  auto *A = M.MSSA.getMemoryAccess(unwrap<Instruction>(Inst));
  if (!A) {
    *Where = nullptr;
    return NoAccess;
  }
  return describe(M, M.Walker->getClobberingMemoryAccess(A), Where);
}

/// The access that memory's state before an instruction comes from.
uint32_t mfb_memory_before(void *MemoryPtr, LLVMValueRef Inst,
                           LLVMValueRef *Where) {
  auto &M = *static_cast<Memory *>(MemoryPtr);
  return describe(M, M.before(unwrap<Instruction>(Inst)), Where);
}

/// The access behind which a block ends.
uint32_t mfb_memory_at_end(void *MemoryPtr, LLVMBasicBlockRef Block,
                           LLVMValueRef *Where) {
  auto &M = *static_cast<Memory *>(MemoryPtr);
  BasicBlock *BB = unwrap(Block);
  if (auto *Defs = M.MSSA.getBlockDefs(BB))
    return describe(M, &*Defs->rbegin(), Where);
  return describe(M, M.atHead(BB), Where);
}

/// True if memory has a phi at the head of a block.
bool mfb_memory_has_phi(void *MemoryPtr, LLVMBasicBlockRef Block) {
  return static_cast<Memory *>(MemoryPtr)->MSSA.getMemoryAccess(
             unwrap(Block)) != nullptr;
}

/// What may have written last, before an instruction, to the place that a load
/// or store accesses.
uint32_t mfb_memory_place_before(void *MemoryPtr, LLVMValueRef PlaceRef,
                                 LLVMValueRef Inst, LLVMValueRef *Where) {
  auto &M = *static_cast<Memory *>(MemoryPtr);
  auto Place = MemoryLocation::get(unwrap<Instruction>(PlaceRef));
  MemoryAccess *Now = M.before(unwrap<Instruction>(Inst));
  return describe(M, M.Walker->getClobberingMemoryAccess(Now, Place), Where);
}

/// The same at the end of a block.
uint32_t mfb_memory_place_at_end(void *MemoryPtr, LLVMValueRef PlaceRef,
                                 LLVMBasicBlockRef Block, LLVMValueRef *Where) {
  auto &M = *static_cast<Memory *>(MemoryPtr);
  auto Place = MemoryLocation::get(unwrap<Instruction>(PlaceRef));
  BasicBlock *BB = unwrap(Block);
  auto *Defs = M.MSSA.getBlockDefs(BB);
  MemoryAccess *Now =
      Defs ? const_cast<MemoryAccess *>(&*Defs->rbegin()) : M.atHead(BB);
  return describe(M, M.Walker->getClobberingMemoryAccess(Now, Place), Where);
}

/// True if an instruction may read or write the place that a load or store
/// accesses, or leave the function while others can see the place.
bool mfb_memory_touches(void *MemoryPtr, LLVMValueRef PlaceRef,
                        LLVMValueRef Inst) {
  auto &M = *static_cast<Memory *>(MemoryPtr);
  auto Place = MemoryLocation::get(unwrap<Instruction>(PlaceRef));
  auto *I = unwrap<Instruction>(Inst);
  if (I->mayThrow() && !isa<AllocaInst>(getUnderlyingObject(Place.Ptr)))
    return true;
  return isModOrRefSet(M.AA.getModRefInfo(I, Place));
}

/// True if a load that runs before another instruction would read what it read
/// when it last ran, on every path.
bool mfb_memory_unchanged(void *MemoryPtr, LLVMValueRef LoadRef,
                          LLVMValueRef BeforeRef) {
  auto &M = *static_cast<Memory *>(MemoryPtr);
  auto *Load = unwrap<LoadInst>(LoadRef);
  auto *Before = unwrap<Instruction>(BeforeRef);
  auto *A = M.MSSA.getMemoryAccess(Load);
  if (!A)
    return false;
  MemoryAccess *Then = M.Walker->getClobberingMemoryAccess(A);
  MemoryAccess *Now = M.before(Before);
  if (Then == Now)
    return true;
  // A load at that place, for as long as it takes to ask about it.
  Instruction *Probe = Load->clone();
  Probe->insertBefore(Before->getIterator());
  MemoryAccess *Use = M.Updater.createMemoryAccessInBB(
      Probe, Now, Before->getParent(), MemorySSA::BeforeTerminator);
  bool Same = M.Walker->getClobberingMemoryAccess(cast<MemoryUse>(Use)) == Then;
  M.Updater.removeMemoryAccess(Use);
  Probe->eraseFromParent();
  return Same;
}

} // extern "C"
