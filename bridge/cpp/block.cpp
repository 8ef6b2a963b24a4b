//===- block.cpp - Blocks, and the edges between them ---------------------===//
//
// Splitting, emptying, and the checks of points.
//
//===----------------------------------------------------------------------===//

#include "llvm-c/Core.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace {

// Marks what belongs to a point's check.
constexpr StringLiteral CheckKind = "midflight.check";

void branch(BasicBlock *From, BasicBlock *To) {
#if LLVM_VERSION_MAJOR >= 23
  UncondBrInst::Create(To, From);
#else
  BranchInst::Create(To, From);
#endif
}

} // namespace

extern "C" {

/// Splits a block before an instruction; returns the block with the rest.
LLVMBasicBlockRef mfb_split_before(LLVMValueRef Ref, const char *Name) {
  auto *I = unwrap<Instruction>(Ref);
  return wrap(I->getParent()->splitBasicBlock(I->getIterator(), Name));
}

/// Puts a new block on the edge From→To, parallel edges included, and returns
/// it. Null where the edge cannot be split.
LLVMBasicBlockRef mfb_split_edge(LLVMBasicBlockRef FromRef,
                                 LLVMBasicBlockRef ToRef) {
  BasicBlock *From = unwrap(FromRef), *To = unwrap(ToRef);
  Instruction *TI = From->getTerminator();
  if (isa<IndirectBrInst>(TI) || To->isEHPad())
    return nullptr;
  BasicBlock *Mid = BasicBlock::Create(From->getContext(), "emit",
                                       From->getParent(), From->getNextNode());
  unsigned Edges = 0;
  for (unsigned I = 0, E = TI->getNumSuccessors(); I != E; ++I)
    if (TI->getSuccessor(I) == To) {
      TI->setSuccessor(I, Mid);
      ++Edges;
    }
  branch(Mid, To);
  for (PHINode &Phi : To->phis()) {
    // Of parallel edges one is left, with the value that all of them carry.
    for (unsigned I = 1; I < Edges; ++I)
      Phi.removeIncomingValue(From, /*DeletePHIIfEmpty=*/false);
    Phi.setIncomingBlock(Phi.getBasicBlockIndex(From), Mid);
  }
  return wrap(Mid);
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

/// Makes what comes into a block's phis from one of its predecessors poison,
/// where control never takes that edge.
void mfb_poison_incoming(LLVMBasicBlockRef Block, LLVMBasicBlockRef From) {
  for (PHINode &Phi : unwrap(Block)->phis())
    Phi.setIncomingValueForBlock(unwrap(From), PoisonValue::get(Phi.getType()));
}

void mfb_mark_check(LLVMValueRef Inst) {
  auto *I = unwrap<Instruction>(Inst);
  I->setMetadata(CheckKind, MDNode::get(I->getContext(), {}));
}

/// Takes out the point before an instruction, which begins the block that the
/// check leads to where it does not fire.
void mfb_remove_check(LLVMValueRef At) {
  BasicBlock *Rest = unwrap<Instruction>(At)->getParent();
  BasicBlock *Check = nullptr;
  for (BasicBlock *Pred : predecessors(Rest))
    if (!Check || Check->getSinglePredecessor() == Pred)
      Check = Pred; // not the block that asks the runtime, but the one before
  if (!Check)
    return;
  Function &F = *Check->getParent();
  Module &M = *F.getParent();
  // What was inserted is marked; it is erased from the end.
  Check->getTerminator()->eraseFromParent();
  branch(Check, Rest);
  for (Instruction &I : make_early_inc_range(reverse(*Check)))
    if (I.hasMetadata(CheckKind)) {
      if (!I.use_empty())
        I.replaceAllUsesWith(PoisonValue::get(I.getType()));
      I.eraseFromParent();
    }
  EliminateUnreachableBlocks(F, nullptr, /*KeepOneInputPHIs=*/true);
  MergeBlockIntoPredecessor(Rest);
  // The counter's phis now feed each other only.
  SmallVector<WeakTrackingVH, 8> Phis;
  for (BasicBlock &BB : F)
    for (PHINode &Phi : BB.phis())
      if (Phi.getName().starts_with("p.osr"))
        Phis.push_back(&Phi);
  for (WeakTrackingVH &VH : Phis)
    if (auto *Phi = dyn_cast_or_null<PHINode>(VH))
      RecursivelyDeleteDeadPHINode(Phi);
  // A record that no code refers to any more.
  removeFromUsedLists(M, [](Constant *C) {
    auto *GV = dyn_cast<GlobalVariable>(C);
    if (!GV || GV->getSection() != "midflight_osr")
      return false;
    GV->removeDeadConstantUsers();
    return GV->hasOneUse(); // the list itself
  });
  for (GlobalVariable &GV : make_early_inc_range(M.globals())) {
    GV.removeDeadConstantUsers();
    if (GV.use_empty() && GV.getSection() == "midflight_osr" &&
        GV.hasLocalLinkage())
      GV.eraseFromParent();
  }
}

} // extern "C"
