//===- calls.cpp - Calls in tail position ---------------------------------===//
//
// Which calls may give up their caller's frame, so that nothing may come to
// stand behind them.
//
//===----------------------------------------------------------------------===//

#include "llvm-c/Core.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace {

bool isMarker(const Instruction &I) {
  auto *II = dyn_cast<IntrinsicInst>(&I);
  return II && II->isAssumeLikeIntrinsic();
}

// True if a call may be emitted as a jump where its caller returns a value, or
// none. Where that is not certain it may.
bool mayReturn(const CallInst &Call, const Value *Returned) {
  while (Returned) {
    if (Returned == &Call || isa<UndefValue>(Returned) ||
        Returned == Call.getReturnedArgOperand())
      return true;
    // Parts of the result, and the result put together again.
    if (isa<CastInst, ExtractValueInst, FreezeInst>(Returned))
      Returned = cast<Instruction>(Returned)->getOperand(0);
    else if (auto *Insert = dyn_cast<InsertValueInst>(Returned))
      Returned = Insert->getInsertedValueOperand();
    else
      return false;
  }
  return true;
}

bool mayGiveUpFrame(const CallInst &Call, bool IsMarked) {
  if (isa<IntrinsicInst>(Call) || isa<InlineAsm>(Call.getCalledOperand()))
    return false;
  return IsMarked ? Call.isTailCall() : !Call.isNoTailCall();
}

// The call that is behind all others, but for what does nothing when it runs.
const CallInst *lastCall(const BasicBlock &BB) {
  for (const Instruction *I = BB.getTerminator()->getPrevNode(); I;
       I = I->getPrevNode())
    if (!isMarker(*I) && !isa<CastInst, ExtractValueInst, InsertValueInst>(I))
      return dyn_cast<CallInst>(I);
  return nullptr;
}

// A block that returns what its phis say, and does nothing else.
ReturnInst *returnOf(BasicBlock &BB) {
  auto *Return = dyn_cast<ReturnInst>(BB.getTerminator());
  if (!Return || BB.isEntryBlock())
    return nullptr;
  for (Instruction &I : BB)
    if (!isa<PHINode>(I) && !isMarker(I) && &I != Return)
      return nullptr;
  return Return;
}

bool endsInTailCall(const BasicBlock &Pred, const BasicBlock &BB,
                    const ReturnInst &Return, bool IsMarked) {
  if (!Pred.getTerminator()->getNumSuccessors() ||
      Pred.getSingleSuccessor() != &BB || succ_size(&Pred) != 1 ||
      isa<InvokeInst, CallBrInst>(Pred.getTerminator()))
    return false;
  const CallInst *Call = lastCall(Pred);
  if (!Call || !mayGiveUpFrame(*Call, IsMarked))
    return false;
  const Value *Returned = Return.getReturnValue();
  if (auto *Phi = dyn_cast_or_null<PHINode>(Returned);
      Phi && Phi->getParent() == &BB)
    Returned = Phi->getIncomingValueForBlock(&Pred);
  return mayReturn(*Call, Returned);
}

} // namespace

extern "C" {

/// The call of a block that may be emitted as a jump, or null. Calls are marked
/// that may, if IsMarked.
LLVMValueRef mfb_tail_call(LLVMBasicBlockRef Ref, bool IsMarked) {
  BasicBlock &BB = *unwrap(Ref);
  auto *Return = dyn_cast<ReturnInst>(BB.getTerminator());
  const CallInst *Call = Return ? lastCall(BB) : nullptr;
  if (!Call || !mayGiveUpFrame(*Call, IsMarked) ||
      !mayReturn(*Call, Return->getReturnValue()))
    return nullptr;
  return wrap(const_cast<CallInst *>(Call));
}

/// Lets blocks that end in a call and go to a return do that themselves, as
/// LLVM does it for code: then the call is in tail position. True if any did.
bool mfb_fold_returns(LLVMValueRef Fn, bool IsMarked) {
  bool Changed = false;
  for (BasicBlock &BB : make_early_inc_range(*unwrap<Function>(Fn))) {
    ReturnInst *Return = returnOf(BB);
    if (!Return)
      continue;
    SmallVector<BasicBlock *, 8> Callers;
    for (BasicBlock *Pred : predecessors(&BB))
      if (endsInTailCall(*Pred, BB, *Return, IsMarked))
        Callers.push_back(Pred);
    for (BasicBlock *Pred : Callers)
      FoldReturnIntoUncondBranch(Return, &BB, Pred);
    Changed |= !Callers.empty();
    if (!Callers.empty() && pred_empty(&BB) && !BB.hasAddressTaken())
      DeleteDeadBlock(&BB);
  }
  return Changed;
}

/// Takes from a call, and from the declaration that it calls, what would let it
/// be moved over a store of the caller, or made once for several.
void mfb_drop_call_purity(LLVMValueRef Ref) {
  auto &Call = *unwrap<CallBase>(Ref);
  AttributeMask Pure;
  Pure.addAttribute(Attribute::Memory);
  Pure.addAttribute(Attribute::Speculatable);
  Call.removeFnAttrs(Pure);
  Function *Callee = Call.getCalledFunction();
  if (Callee && Callee->isDeclaration() && !Callee->isIntrinsic())
    Callee->removeFnAttrs(Pure);
}
}
