//===- prover.cpp - Whether two expressions are always equal --------------===//
//
// Two expressions over the same leaves are put into a function of their own,
// as total functions: without flags and metadata, and with leaves that are
// neither poison nor undef. They are equal if LLVM's own passes see that.
//
//===----------------------------------------------------------------------===//

#include "sandbox.h"
#include "llvm-c/Core.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace midflight;

namespace {

// What a term is.
enum Kind : uint32_t { Leaf, Constant_, Operation, SignExtended, ZeroExtended };

// Both expressions, as the caller passes them: each term's operands come before
// it. One that is extended has its only operand, and a value of the type that
// it is extended to.
struct Terms {
  const LLVMValueRef *Values;
  const uint32_t *Kinds;
  const uint32_t *Begin; // one more than there are terms
  const uint32_t *Operands;
  size_t Count;

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

bool isSimple(const Type *T) {
  return (T->isIntegerTy() && T->getIntegerBitWidth() <= 128) ||
         T->isPointerTy();
}

// What a type, operation or constant is, so that equal terms have equal words.
void addWords(const Terms &T, size_t N, std::vector<uint64_t> &Words) {
  const Value *V = T.value(N);
  Words.push_back(T.Kinds[N]);
  if (T.Kinds[N] == Constant_) {
    Words.push_back(reinterpret_cast<uintptr_t>(V));
    return;
  }
  Words.push_back(reinterpret_cast<uintptr_t>(V->getType()));
  if (T.Kinds[N] == Leaf)
    return;
  if (T.Kinds[N] != Operation) {
    Words.push_back(T.operands(N)[0]);
    return;
  }
  auto *I = cast<Instruction>(V);
  Words.push_back(I->getOpcode());
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

// A function of the leaves that gives whether both are equal, or whether they
// are not.
Function *build(const Terms &T, uint32_t A, uint32_t B, bool Negated,
                Module &M) {
  LLVMContext &Context = M.getContext();
  SmallVector<Type *, 8> Types;
  for (size_t N = 0; N != T.Count; ++N)
    if (T.Kinds[N] == Leaf)
      Types.push_back(T.value(N)->getType());
  auto *F = Function::Create(
      FunctionType::get(Type::getInt1Ty(Context), Types, false),
      GlobalValue::ExternalLinkage, "equal", M);
  for (Argument &Arg : F->args())
    Arg.addAttr(Attribute::NoUndef);
  auto *BB = BasicBlock::Create(Context, "", F);
  SmallVector<Value *, 16> Made;
  auto Next = F->arg_begin();
  for (size_t N = 0; N != T.Count; ++N) {
    if (T.Kinds[N] == Leaf) {
      Made.push_back(&*Next++);
      continue;
    }
    if (T.Kinds[N] == Constant_) {
      Made.push_back(T.value(N));
      continue;
    }
    if (T.Kinds[N] != Operation) {
      Value *Of = Made[T.operands(N)[0]];
      Type *To = T.value(N)->getType();
      Made.push_back(T.Kinds[N] == SignExtended
                         ? new SExtInst(Of, To, "", BB)
                         : static_cast<Value *>(new ZExtInst(Of, To, "", BB)));
      continue;
    }
    Instruction *I = cast<Instruction>(T.value(N))->clone();
    I->dropUnknownNonDebugMetadata();
    I->setDebugLoc({});
    for (auto [Place, Operand] : enumerate(T.operands(N)))
      I->setOperand(Place, Made[Operand]);
    if (auto *Call = dyn_cast<IntrinsicInst>(I))
#if LLVM_VERSION_MAJOR >= 20
      Call->setCalledFunction(Intrinsic::getOrInsertDeclaration(
          &M, Call->getIntrinsicID(), {Call->getType()}));
#else
      Call->setCalledFunction(Intrinsic::getDeclaration(
          &M, Call->getIntrinsicID(), {Call->getType()}));
#endif
    I->dropPoisonGeneratingAnnotations();
    I->insertInto(BB, BB->end());
    Made.push_back(I);
  }
  IRBuilder<> Builder(BB);
  Builder.CreateRet(Negated ? Builder.CreateICmpNE(Made[A], Made[B])
                            : Builder.CreateICmpEQ(Made[A], Made[B]));
  return F;
}

bool provedByPasses(Sandbox &S, Function &F) {
  if (S.Prover.isEmpty())
    cantFail(S.PB.parsePassPipeline(S.Prover,
                                    "instcombine<no-verify-fixpoint>,early-cse,"
                                    "instcombine<no-verify-fixpoint>"));
  S.Prover.run(F, S.FAM);
  S.FAM.clear(F, F.getName());
  auto *Ret = cast<ReturnInst>(F.getEntryBlock().getTerminator());
  return PatternMatch::match(Ret->getReturnValue(), PatternMatch::m_One());
}

} // namespace

extern "C" {

/// True for an operation that gives a value whatever its operands are, once it
/// has no flags: what is looked into when expressions are compared.
bool mfb_is_total(LLVMValueRef Inst) {
  auto *I = unwrap<Instruction>(Inst);
  if (!isSimple(I->getType()))
    return false;
  if (auto *Call = dyn_cast<IntrinsicInst>(I)) {
    if (!isTotalIntrinsic(Call->getIntrinsicID()))
      return false;
  } else if (!isa<BinaryOperator, ICmpInst, SelectInst, GetElementPtrInst,
                  TruncInst, ZExtInst, SExtInst, PtrToIntInst, IntToPtrInst>(
                 I)) {
    return false;
  }
  if (!all_of(I->operands(), [&](const Use &U) {
        return isa<Function>(U) || isSimple(U->getType());
      }))
    return false;
  return !canCreateUndefOrPoison(cast<Operator>(I),
                                 /*ConsiderFlagsAndMetadata=*/false) &&
         !I->isIntDivRem();
}

/// True for a constant that can be used in a module of its own.
bool mfb_is_plain_operand(LLVMValueRef V) {
  return isa<ConstantInt, ConstantPointerNull>(unwrap(V));
}

/// True if two of these terms, of one type, are proved to be equal whatever the
/// leaves are, or, if they are booleans, never to be.
bool mfb_prove_equal(void *SandboxPtr, const LLVMValueRef *Values,
                     const uint32_t *Kinds, const uint32_t *Begin,
                     const uint32_t *Operands, size_t Count, uint32_t A,
                     uint32_t B, bool Negated) {
  auto &S = *static_cast<Sandbox *>(SandboxPtr);
  Terms T{Values, Kinds, Begin, Operands, Count};
  if (!Count || T.value(A)->getType() != T.value(B)->getType() ||
      !isSimple(T.value(A)->getType()) ||
      (Negated && !T.value(A)->getType()->isIntegerTy(1)))
    return false;
  std::vector<uint64_t> Words{A, B, Negated};
  for (size_t N = 0; N != Count; ++N)
    addWords(T, N, Words);
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
  Function *F = build(T, A, B, Negated, *S.Scratch);
  bool IsProved = provedByPasses(S, *F);
  F->eraseFromParent();
  Known->second = IsProved;
  return IsProved;
}

} // extern "C"
