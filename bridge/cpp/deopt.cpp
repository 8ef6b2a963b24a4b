//===- deopt.cpp - Deoptimization state of calls --------------------------===//
//
// What llvm-c does not have for calls with a "deopt" operand bundle.
//
//===----------------------------------------------------------------------===//

#include "llvm-c/Core.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"

using namespace llvm;

namespace {

// Has all uses of a value that are behind one of the places where it is pinned
// use what it is from there on. Each place begins a block.
void usePinned(Value &V, ArrayRef<std::pair<Instruction *, Value *>> Pins) {
  SmallVector<Use *, 16> Uses;
  for (Use &U : V.uses())
    Uses.push_back(&U);
  BasicBlock *Home = isa<Instruction>(V)
                         ? cast<Instruction>(V).getParent()
                         : &cast<Argument>(V).getParent()->getEntryBlock();
  SSAUpdater Updater;
  Updater.Initialize(V.getType(), V.getName());
  Updater.AddAvailableValue(Home, &V);
  SmallDenseMap<BasicBlock *, std::pair<Instruction *, Value *>> In;
  for (auto [At, Pinned] : Pins) {
    Updater.AddAvailableValue(At->getParent(), Pinned);
    In[At->getParent()] = {At, Pinned};
  }
  for (Use *U : Uses) {
    auto *User = cast<Instruction>(U->getUser());
    auto Pin = In.find(User->getParent());
    if (isa<PHINode>(User))
      Updater.RewriteUse(*U);
    else if (Pin == In.end() && User->getParent() == Home)
      continue;
    else if (Pin != In.end() && Pin->second.first != User)
      U->set(Pin->second.second);
    else
      Updater.RewriteUse(*U);
  }
}

} // namespace

extern "C" {

/// Pins the values of markers, calls of a function with variable arguments
/// behind the first: each gives them back as its result, which is what they are
/// from there on. So no pass knows what is live behind a marker by what came
/// before it.
void mfb_pin(LLVMValueRef *Markers, size_t Count) {
  MapVector<Value *, SmallVector<std::pair<Instruction *, Value *>, 4>> Pins;
  for (LLVMValueRef Ref : ArrayRef(Markers, Count)) {
    auto *Marker = unwrap<CallInst>(Ref);
    if (Marker != &Marker->getParent()->front() ||
        Marker->getParent()->isEntryBlock())
      SplitBlock(Marker->getParent(), Marker->getIterator());
    SmallVector<Type *, 8> Types;
    for (Value *V : drop_begin(Marker->args()))
      Types.push_back(V->getType());
    Function *Named = Marker->getCalledFunction();
    FunctionType *Type = FunctionType::get(
        StructType::get(Marker->getContext(), Types),
        {Marker->getArgOperand(0)->getType()}, /*isVarArg=*/true);
    Function *Pin = Function::Create(Type, GlobalValue::ExternalLinkage,
                                     Named->getName(), Marker->getModule());
    SmallVector<Value *, 8> Arguments(Marker->args());
    CallInst *Call =
        CallInst::Create(Pin, Arguments, "", Marker->getIterator());
    IRBuilder<> Builder(Marker);
    for (auto [Number, V] : enumerate(drop_begin(Marker->args())))
      if (isa<Instruction, Argument>(V))
        Pins[V].push_back({Call, Builder.CreateExtractValue(Call, Number)});
    Marker->eraseFromParent();
  }
  for (auto &[V, Its] : Pins)
    usePinned(*V, Its);
}

/// Has what a marker pinned be what it was before, and removes the marker.
void mfb_unpin(LLVMValueRef Ref) {
  auto *Marker = unwrap<CallInst>(Ref);
  for (User *U : make_early_inc_range(Marker->users())) {
    auto *Extract = cast<ExtractValueInst>(U);
    Value *V = Marker->getArgOperand(1 + Extract->getIndices().front());
    // In a block that cannot be reached it may be pinned by itself.
    Extract->replaceAllUsesWith(V == Extract ? PoisonValue::get(V->getType())
                                             : V);
    Extract->eraseFromParent();
  }
  Marker->eraseFromParent();
}

/// The number of operands in the "deopt" bundle of a call, and the number of
/// the first one among the operands of the call; false if it has no such
/// bundle.
bool mfb_deopt_operands(LLVMValueRef Inst, uint32_t *First, uint32_t *Count) {
  auto *Call = dyn_cast<CallBase>(unwrap(Inst));
  if (!Call)
    return false;
  for (unsigned I = 0; I != Call->getNumOperandBundles(); ++I) {
    const CallBase::BundleOpInfo &Bundle = *(Call->bundle_op_info_begin() + I);
    if (Call->getOperandBundleAt(I).getTagID() != LLVMContext::OB_deopt)
      continue;
    *First = Bundle.Begin;
    *Count = Bundle.End - Bundle.Begin;
    return true;
  }
  return false;
}

/// Takes the "deopt" bundle from a call, which becomes another one.
LLVMValueRef mfb_without_deopt(LLVMValueRef Inst) {
  auto *Call = unwrap<CallBase>(Inst);
  CallBase *Plain = CallBase::removeOperandBundle(Call, LLVMContext::OB_deopt,
                                                  Call->getIterator());
  Plain->copyMetadata(*Call);
  Plain->takeName(Call);
  Call->replaceAllUsesWith(Plain);
  Call->eraseFromParent();
  return wrap(Plain);
}

/// Inserts a call of another function, with poison for its arguments, beside a
/// call or an invoke: in a block of its own, which control seems to come to,
/// and which goes on where the call does, with its own result. That is of the
/// same type as the call's, or the call has no uses. The normal destination of
/// an invoke has no other predecessor.
LLVMValueRef mfb_call_beside(LLVMValueRef Inst, LLVMValueRef Fn) {
  auto *Call = unwrap<CallBase>(Inst);
  auto *Callee = unwrap<Function>(Fn);
  SmallVector<Value *, 8> Arguments;
  for (Argument &A : Callee->args())
    Arguments.push_back(PoisonValue::get(A.getType()));
  BasicBlock *Before = Call->getParent();
  BasicBlock *At = SplitBlock(Before, Call->getIterator());
  BasicBlock *Beside =
      BasicBlock::Create(Call->getContext(), "osr.inner", At->getParent(), At);
  CallBase *Other;
  BasicBlock *Rest;
  if (auto *Invoke = dyn_cast<InvokeInst>(Call)) {
    Rest = Invoke->getNormalDest();
    BasicBlock *Unwind = Invoke->getUnwindDest();
    Other = InvokeInst::Create(Callee, Rest, Unwind, Arguments, "", Beside);
    for (PHINode &Phi : Unwind->phis())
      Phi.addIncoming(Phi.getIncomingValueForBlock(At), Beside);
    for (PHINode &Phi : Rest->phis()) {
      Value *V = Phi.getIncomingValueForBlock(At);
      Phi.addIncoming(V == Call && Other->getType() == V->getType() ? Other : V,
                      Beside);
    }
  } else {
    Rest = SplitBlock(At, std::next(Call->getIterator()));
    Other = CallInst::Create(Callee, Arguments, "", Beside);
    BranchInst::Create(Rest, Beside);
  }
  if (!Call->use_empty()) {
    PHINode *Result = PHINode::Create(Call->getType(), 2, "", Rest->begin());
    Call->replaceUsesWithIf(Result, [&](Use &U) {
      auto *Phi = dyn_cast<PHINode>(U.getUser());
      return !Phi || Phi->getParent() != Rest;
    });
    Result->addIncoming(Call, At);
    Result->addIncoming(Other, Beside);
  }
  Other->setCallingConv(Callee->getCallingConv());
  Other->setDebugLoc(Call->getDebugLoc());
  Instruction *End = Before->getTerminator();
  BranchInst::Create(Beside, At, ConstantInt::getFalse(Call->getContext()),
                     End->getIterator());
  End->eraseFromParent();
  return wrap(Other);
}

/// Ends the program where an instruction is, to which control never comes.
void mfb_end_program(LLVMValueRef Inst) {
  auto *At = unwrap<Instruction>(Inst);
#if LLVM_VERSION_MAJOR >= 20
  Function *Trap =
      Intrinsic::getOrInsertDeclaration(At->getModule(), Intrinsic::trap);
#else
  Function *Trap = Intrinsic::getDeclaration(At->getModule(), Intrinsic::trap);
#endif
  CallInst::Create(Trap, {}, "", At->getIterator());
  changeToUnreachable(At);
}

/// Forbids to inline what a call calls.
void mfb_forbid_inlining(LLVMValueRef Inst) {
  unwrap<CallBase>(Inst)->setIsNoInline();
}

/// True for a function that must be inlined.
bool mfb_must_be_inlined(LLVMValueRef Fn) {
  return unwrap<Function>(Fn)->hasFnAttribute(Attribute::AlwaysInline);
}

/// Takes from a function that it must be inlined.
void mfb_allow_calls(LLVMValueRef Fn) {
  unwrap<Function>(Fn)->removeFnAttr(Attribute::AlwaysInline);
}

/// Forbids to optimize a function, to inline it, and to profile it.
void mfb_forbid_optimization(LLVMValueRef Fn) {
  auto *F = unwrap<Function>(Fn);
  F->removeFnAttr(Attribute::AlwaysInline);
  F->removeFnAttr(Attribute::MinSize);
  F->removeFnAttr(Attribute::OptimizeForSize);
  F->addFnAttr(Attribute::NoInline);
  F->addFnAttr(Attribute::OptimizeNone);
  F->addFnAttr(Attribute::NoProfile);
}

/// Gives a call a "deopt" bundle; it becomes another instruction.
LLVMValueRef mfb_with_deopt(LLVMValueRef Inst, LLVMValueRef *Operands,
                            size_t Count) {
  auto *Call = unwrap<CallBase>(Inst);
  ArrayRef<Value *> Values(unwrap(Operands), Count);
  OperandBundleDef Bundle("deopt", std::vector<Value *>(Values));
  CallBase *With = CallBase::addOperandBundle(Call, LLVMContext::OB_deopt,
                                              Bundle, Call->getIterator());
  With->copyMetadata(*Call);
  With->takeName(Call);
  Call->replaceAllUsesWith(With);
  Call->eraseFromParent();
  return wrap(With);
}

/// Inserts a call of a function that does nothing known, with a "deopt" bundle.
void mfb_call_with_deopt(LLVMValueRef Before, const char *Name,
                         LLVMValueRef *Operands, size_t Count) {
  auto *At = unwrap<Instruction>(Before);
  FunctionCallee Callee = At->getModule()->getOrInsertFunction(
      Name, FunctionType::get(Type::getVoidTy(At->getContext()), false));
  auto *F = cast<Function>(Callee.getCallee());
  F->setMemoryEffects(MemoryEffects::inaccessibleMemOnly());
  for (auto Kind : {Attribute::NoUnwind, Attribute::WillReturn,
                    Attribute::NoCallback, Attribute::NoFree})
    F->addFnAttr(Kind);
  ArrayRef<Value *> Values(unwrap(Operands), Count);
  OperandBundleDef Bundle("deopt", std::vector<Value *>(Values));
  CallInst *Call =
      CallInst::Create(Callee, {}, {Bundle}, "", At->getIterator());
  Call->setDebugLoc(At->getDebugLoc());
}

/// Inserts a call of a function with variable arguments, which is declared.
LLVMValueRef mfb_call_variadic(LLVMValueRef Before, const char *Name,
                               LLVMValueRef *Arguments, size_t Count) {
  auto *At = unwrap<Instruction>(Before);
  Module &M = *At->getModule();
  Value *First = unwrap(Arguments[0]);
  FunctionType *Type = FunctionType::get(Type::getVoidTy(M.getContext()),
                                         {First->getType()}, true);
  return wrap(CallInst::Create(M.getOrInsertFunction(Name, Type),
                               ArrayRef(unwrap(Arguments), Count), "",
                               At->getIterator()));
}

} // extern "C"
