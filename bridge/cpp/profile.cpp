//===- profile.cpp - Putting a profile into a module ----------------------===//
//
// What an optimizer that is led by a profile looks for: branch weights, entry
// counts and the summary by which it tells hot from cold; and what LLVM
// estimates where there is none.
//
//===----------------------------------------------------------------------===//

#include "sandbox.h"
#include "llvm-c/Core.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/BranchProbabilityInfo.h"
#include "llvm/Analysis/ProfileSummaryInfo.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/IR/ProfDataUtils.h"
#include "llvm/IR/ProfileSummary.h"
#include "llvm/ProfileData/InstrProf.h"
#include "llvm/ProfileData/ProfileCommon.h"
#include "llvm/Transforms/Scalar/LowerExpectIntrinsic.h"
#include "llvm/Transforms/Utils/MisExpect.h"

using namespace llvm;

extern "C" {

/// Writes the probability of each successor of a block, as a numerator over
/// 2^31, and returns the block's frequency relative to the entry's, in 1/1024.
uint64_t mfb_block_weights(void *FAMPtr, LLVMBasicBlockRef Block,
                           uint32_t *Probabilities) {
  BasicBlock *BB = unwrap(Block);
  Function &F = *BB->getParent();
  auto &FAM = *static_cast<FunctionAnalysisManager *>(FAMPtr);
  auto &BPI = FAM.getResult<BranchProbabilityAnalysis>(F);
  auto &BFI = FAM.getResult<BlockFrequencyAnalysis>(F);
  for (unsigned I = 0, E = BB->getTerminator()->getNumSuccessors(); I != E; ++I)
    Probabilities[I] = BPI.getEdgeProbability(BB, I).getNumerator();
  uint64_t Entry = BFI.getEntryFreq().getFrequency();
  double Relative =
      double(BFI.getBlockFreq(BB).getFrequency()) / double(Entry ? Entry : 1);
  return Relative * 1024 > 1e18 ? uint64_t(1e18) : uint64_t(Relative * 1024);
}

/// Weights for the successors of a terminator, in their order. Where it has
/// others by what the source says is likely, LLVM warns if these are not alike
/// (misexpect).
void mfb_set_branch_weights(LLVMValueRef Terminator, const uint32_t *Weights,
                            size_t Count) {
  Instruction &I = *unwrap<Instruction>(Terminator);
  ArrayRef<uint32_t> Counted(Weights, Count);
  misexpect::checkExpectAnnotations(I, Counted, /*IsFrontend=*/false);
  setBranchWeights(I, Counted, /*IsExpected=*/false);
}

/// Writes how often each block of a function ran, in order, as its profile
/// says; false if it has none.
bool mfb_block_counts(void *SandboxPtr, LLVMValueRef Fn, uint64_t *Counts) {
  auto &F = *unwrap<Function>(Fn);
  if (!F.getEntryCount())
    return false;
  auto &S = *static_cast<midflight::Sandbox *>(SandboxPtr);
  auto &BFI = S.FAM.getResult<BlockFrequencyAnalysis>(F);
  for (BasicBlock &Block : F)
    *Counts++ = BFI.getBlockProfileCount(&Block).value_or(0);
  return true;
}

void mfb_set_entry_count(LLVMValueRef Fn, uint64_t Count) {
  unwrap<Function>(Fn)->setEntryCount(
      Function::ProfileCount(Count, Function::PCT_Real));
}

/// Lets LLVM read what the source says of likely branches: of those that were
/// counted it warns where that is another thing (misexpect), and they keep what
/// was counted; the others get weights by it. Else a later pass would put it
/// over the counts.
void mfb_lower_expectations(LLVMValueRef Fn, void *FAMPtr) {
  auto &F = *unwrap<Function>(Fn);
  SmallVector<std::pair<Instruction *, MDNode *>, 32> Counted;
  for (BasicBlock &Block : F)
    if (Instruction *I = Block.getTerminator())
      if (MDNode *Weights = I->getMetadata(LLVMContext::MD_prof))
        Counted.push_back({I, Weights});
  LowerExpectIntrinsicPass().run(
      F, *static_cast<FunctionAnalysisManager *>(FAMPtr));
  for (auto [I, Weights] : Counted)
    I->setMetadata(LLVMContext::MD_prof, Weights);
}

/// Gives the module the summary of a whole program: for each of its functions,
/// the count of entries and then those of the other blocks. `Lengths` has how
/// many counts there are of each function, at least one.
void mfb_set_profile_summary(LLVMModuleRef M, void *MAMPtr,
                             const uint64_t *Counts, const size_t *Lengths,
                             size_t NumFunctions) {
  InstrProfSummaryBuilder Builder(ProfileSummaryBuilder::DefaultCutoffs);
  for (size_t Length : ArrayRef<size_t>(Lengths, NumFunctions)) {
    Builder.addRecord(
        InstrProfRecord(std::vector<uint64_t>(Counts, Counts + Length)));
    Counts += Length;
  }
  Module &Mod = *unwrap(M);
  Mod.setProfileSummary(Builder.getSummary()->getMD(Mod.getContext()),
                        ProfileSummary::PSK_Instr);
  auto &MAM = *static_cast<ModuleAnalysisManager *>(MAMPtr);
  MAM.getResult<ProfileSummaryAnalysis>(Mod).refresh();
}

/// Marks a function as one to inline, or as one of which size matters, by its
/// counts and the module's summary.
void mfb_mark_heat(LLVMValueRef Fn, void *MAMPtr, uint64_t Entries,
                   uint64_t Largest) {
  auto *F = unwrap<Function>(Fn);
  auto &MAM = *static_cast<ModuleAnalysisManager *>(MAMPtr);
  auto &Summary = MAM.getResult<ProfileSummaryAnalysis>(*F->getParent());
  if (Summary.isHotCount(Entries))
    F->addFnAttr(Attribute::InlineHint);
  else if (Summary.isColdCount(Largest) && !F->hasFnAttribute(Attribute::Hot))
    F->addFnAttr(Attribute::Cold);
}

} // extern "C"
