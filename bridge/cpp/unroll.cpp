//===- unroll.cpp - Unrolling the loops that a profile names --------------===//
//
// Where a profile is put into a module, a loop is not yet what the optimizer
// will unroll: calls in it may be inlined, its trip count may turn out to be a
// constant, it may be vectorized. So the profile only leaves a mark in the
// loop's metadata. In front of the vectorizer all but the last is known, and
// the mark becomes `llvm.loop.unroll.count`, or is dropped.
//
//===----------------------------------------------------------------------===//

#include "unroll.h"

#include "llvm-c/Core.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace {

constexpr char Mark[] = "midflight.unroll";
/// Of a round with more instructions jumping back is a small part, and copies
/// of its branches cost more than that (7 % in expat, with 40 and more).
constexpr unsigned LargestRound = 16;
/// By more nothing is unrolled, whatever the mark says.
constexpr int LargestCount = 16;
/// A constant bound below which the loop is left to LLVM.
constexpr unsigned SmallTripCount = 32;

/// True if LLVM does nothing by itself for what it knows of a loop, and a copy
/// of a round is cheap.
bool mayPay(Loop &L, ScalarEvolution &SE) {
  if (!L.isInnermost())
    return false;
  // LLVM unrolls a single block by itself, and what has a known length.
  if (L.getNumBlocks() < 2 || SE.getSmallConstantTripCount(&L))
    return false;
  unsigned Most = SE.getSmallConstantMaxTripCount(&L);
  if (Most && Most < SmallTripCount)
    return false;
  unsigned Size = 0;
  for (BasicBlock *Block : L.blocks())
    for (Instruction &I : *Block) {
      auto *Call = dyn_cast<CallBase>(&I);
      if (Call && (Call->cannotDuplicate() || Call->isConvergent() ||
                   !isa<IntrinsicInst>(Call)))
        return false;
      if (!isa<PHINode>(I) && !I.isDebugOrPseudoInst())
        ++Size;
    }
  return Size <= LargestRound;
}

/// True if the source, or a pass before, has said how to unroll.
bool isDecided(Loop &L) {
  return hasUnrollTransformation(&L) != TM_Unspecified ||
         getBooleanLoopAttribute(&L, "llvm.loop.unroll.runtime.disable") ||
         getBooleanLoopAttribute(&L, "llvm.loop.isvectorized");
}

MDNode *attribute(LLVMContext &Context, StringRef Name,
                  ArrayRef<Metadata *> Values = {}) {
  SmallVector<Metadata *, 3> Operands{MDString::get(Context, Name)};
  Operands.append(Values.begin(), Values.end());
  return MDNode::get(Context, Operands);
}

Metadata *number(LLVMContext &Context, unsigned Value) {
  return ConstantAsMetadata::get(
      ConstantInt::get(Type::getInt32Ty(Context), Value));
}

/// Puts a count of unrolling, or nothing, in the place of the mark.
void replaceMark(Loop &L, unsigned Count) {
  LLVMContext &Context = L.getHeader()->getContext();
  SmallVector<MDNode *, 2> Added;
  if (Count > 1) {
    Added.push_back(
        attribute(Context, "llvm.loop.unroll.count", number(Context, Count)));
    // If it is vectorized after all, what comes of it is not unrolled for this,
    // and is marked as LLVM marks it by itself.
    Added.push_back(attribute(
        Context, "llvm.loop.vectorize.followup_all",
        {attribute(Context, "llvm.loop.isvectorized", number(Context, 1)),
         attribute(Context, "llvm.loop.unroll.runtime.disable")}));
  }
  L.setLoopID(
      makePostTransformationMetadata(Context, L.getLoopID(), {Mark}, Added));
}

} // namespace

PreservedAnalyses
midflight::UnrollMarkedPass::run(Function &F, FunctionAnalysisManager &FAM) {
  auto &LI = FAM.getResult<LoopAnalysis>(F);
  for (Loop *L : LI.getLoopsInPreorder()) {
    std::optional<int> Wanted = getOptionalIntLoopAttribute(L, Mark);
    if (!Wanted)
      continue;
    bool Unroll = *Wanted > 1 && *Wanted <= LargestCount && !F.hasOptSize() &&
                  !isDecided(*L) &&
                  mayPay(*L, FAM.getResult<ScalarEvolutionAnalysis>(F));
    replaceMark(*L, Unroll ? *Wanted : 1);
  }
  // Metadata is no concern of any analysis.
  return PreservedAnalyses::all();
}

/// Marks the innermost loop with that header as one to be unrolled. False if
/// there is none.
extern "C" bool mfb_mark_loop(LLVMBasicBlockRef HeaderRef, void *FAMPtr,
                              uint32_t Count) {
  BasicBlock *Header = unwrap(HeaderRef);
  auto &FAM = *static_cast<FunctionAnalysisManager *>(FAMPtr);
  Loop *L =
      FAM.getResult<LoopAnalysis>(*Header->getParent()).getLoopFor(Header);
  if (!L || L->getHeader() != Header || !L->isInnermost())
    return false;
  addStringMetadataToLoop(L, Mark, Count);
  return true;
}
