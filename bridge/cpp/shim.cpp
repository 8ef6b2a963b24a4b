//===- shim.cpp - What the passes need of LLVM and llvm-c does not have ---===//
//
// The only C++ of the project, and the only place that knows LLVM's version.
// Every function is `extern "C"`, throws nothing, and takes and returns llvm-c
// handles or plain data.
//
//===----------------------------------------------------------------------===//

#include "operations.h"
#include "llvm-c/Core.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/BranchProbabilityInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/EHPersonalities.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalIFunc.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#if LLVM_VERSION_MAJOR >= 20
#include "llvm/Transforms/Utils/Instrumentation.h"
#else
#include "llvm/Transforms/Instrumentation.h"
#endif

using namespace llvm;

extern "C" {

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

void mfb_error(LLVMModuleRef M, const char *Text, size_t Length) {
  unwrap(M)->getContext().emitError(Twine(StringRef(Text, Length)));
}

/// A remark of `Pass` at an instruction, or at a function with a body.
void mfb_remark_missed(LLVMValueRef Where, const char *Pass, const char *Name,
                       const char *Text, size_t Length) {
  auto *I = dyn_cast<Instruction>(unwrap(Where));
  Function *F = I ? I->getFunction() : unwrap<Function>(Where);
  OptimizationRemarkEmitter ORE(F);
  ORE.emit([&] {
    DiagnosticLocation Loc;
    if (I)
      Loc = I->getDebugLoc();
    if (!Loc.isValid())
      if (DISubprogram *SP = F->getSubprogram())
        Loc = DiagnosticLocation(SP);
    const BasicBlock *Block = I ? I->getParent() : &F->getEntryBlock();
    return OptimizationRemarkMissed(Pass, Name, Loc, Block)
           << StringRef(Text, Length);
  });
}

void mfb_warning(LLVMModuleRef M, const char *Text, size_t Length) {
  std::string Message(Text, Length);
  // A kind that says nothing but the message, and that all versions have: a
  // missing one would be noticed before the host is refused.
  unwrap(M)->getContext().diagnose(
      DiagnosticInfoSampleProfile(Message, DS_Warning));
}

/// Prints to stdout through LLVM's own buffer, in order with what opt prints.
void mfb_print(const char *Text, size_t Length) {
  outs() << StringRef(Text, Length);
}

/// Null if the function is valid, else a message to be freed with
/// LLVMDisposeMessage.
char *mfb_verify_function(LLVMValueRef Fn) {
  std::string Text;
  raw_string_ostream OS(Text);
  if (!verifyFunction(*unwrap<Function>(Fn), &OS))
    return nullptr;
  return LLVMCreateMessage(OS.str().c_str());
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

enum FunctionFact : uint32_t {
  FactAvailableExternally = 1 << 0,
  FactNaked = 1 << 1,
  FactNoProfile = 1 << 2,
  FactPresplitCoroutine = 1 << 3,
  FactFuncletPersonality = 1 << 4,
  FactLocal = 1 << 5,
  FactComdat = 1 << 6,
};

uint32_t mfb_function_facts(LLVMValueRef Fn) {
  Function *F = unwrap<Function>(Fn);
  uint32_t Facts = 0;
  if (F->hasAvailableExternallyLinkage())
    Facts |= FactAvailableExternally;
  if (F->hasFnAttribute(Attribute::Naked))
    Facts |= FactNaked;
  if (F->hasFnAttribute(Attribute::NoProfile) ||
      F->hasFnAttribute(Attribute::SkipProfile))
    Facts |= FactNoProfile;
  if (F->isPresplitCoroutine())
    Facts |= FactPresplitCoroutine;
  if (F->hasPersonalityFn() &&
      isScopedEHPersonality(classifyEHPersonality(F->getPersonalityFn())))
    Facts |= FactFuncletPersonality;
  if (F->hasLocalLinkage())
    Facts |= FactLocal;
  if (F->hasComdat())
    Facts |= FactComdat;
  return Facts;
}

/// True if the function resolves an ifunc: it runs before relocation is done.
bool mfb_is_ifunc_resolver(LLVMValueRef Fn) {
  Function *F = unwrap<Function>(Fn);
  for (const GlobalIFunc &I : F->getParent()->ifuncs())
    if (I.getResolverFunction() == F)
      return true;
  return false;
}

enum CallFact : uint32_t {
  CallNoReturn = 1 << 0,
  CallReturnsTwice = 1 << 1,
  CallMustTail = 1 << 2,
  CallDeoptimize = 1 << 3,
  // A debug or lifetime marker, an assumption: nothing that runs.
  CallMarker = 1 << 4,
  // It makes a token that says which threads run calls together.
  CallControlsConvergence = 1 << 5,
};

uint32_t mfb_call_facts(LLVMValueRef Call) {
  auto *CB = dyn_cast<CallBase>(unwrap(Call));
  if (!CB)
    return 0;
  uint32_t Facts = 0;
  if (CB->doesNotReturn())
    Facts |= CallNoReturn;
  if (midflight::returnsTwice(*CB))
    Facts |= CallReturnsTwice;
  if (CB->isMustTailCall())
    Facts |= CallMustTail;
  if (auto *II = dyn_cast<IntrinsicInst>(CB)) {
    if (II->getIntrinsicID() == Intrinsic::experimental_deoptimize)
      Facts |= CallDeoptimize;
    if (II->isAssumeLikeIntrinsic())
      Facts |= CallMarker;
    if (isa<ConvergenceControlInst>(II))
      Facts |= CallControlsConvergence;
  }
  return Facts;
}

/// True if finding a thread-local variable takes a call: the code is for a
/// shared library.
bool mfb_is_for_library(LLVMModuleRef Module) {
  const llvm::Module &M = *unwrap(Module);
  return M.getPICLevel() != PICLevel::NotPIC &&
         M.getPIELevel() == PIELevel::Default;
}

/// The name of the format of the target's object files, a literal.
const char *mfb_object_format(LLVMModuleRef Module) {
  Triple Target(unwrap(Module)->getTargetTriple());
  return Triple::getObjectFormatTypeName(Target.getObjectFormat()).data();
}

/// Removes the locations of a module that has no debug information to emit, as
/// if the front end had never tracked them. Does nothing, and returns false, if
/// something in this compilation may still read them.
bool mfb_strip_unread_locations(LLVMModuleRef Module) {
  llvm::Module &M = *unwrap(Module);
  // The range leaves out units that emit nothing.
  if (!M.getNamedMetadata("llvm.dbg.cu") || !M.debug_compile_units().empty())
    return false;
  LLVMContext &C = M.getContext();
  bool HasRemarks = C.getMainRemarkStreamer() || C.getLLVMRemarkStreamer() ||
                    C.getDiagHandlerPtr()->isAnyRemarkEnabled() ||
                    C.getMisExpectWarningRequested();
  bool MatchesProfile = M.getNamedMetadata("llvm.gcov") ||
                        M.getNamedMetadata("llvm.pseudo_probe_desc") ||
                        any_of(M, [](const Function &F) {
                          return F.hasFnAttribute("use-sample-profile");
                        });
  return !HasRemarks && !MatchesProfile && StripDebugInfo(M);
}

/// True if the linker optimizes the module once more, with others.
bool mfb_is_for_lto(LLVMModuleRef Module) {
  const llvm::Module &M = *unwrap(Module);
  return M.getModuleFlag("ThinLTO") || M.getModuleFlag("EnableSplitLTOUnit") ||
         M.getModuleFlag("UnifiedLTO");
}

/// True if a function's code is for x86-64 and ELF, reaches the module's
/// variables by displacements of 32 bits, and has no vector registers of AVX.
bool mfb_has_plain_x86_64_code(LLVMValueRef Fn) {
  Function *F = unwrap<Function>(Fn);
  const llvm::Module &M = *F->getParent();
  Triple Target(M.getTargetTriple());
  StringRef Features = F->getFnAttribute("target-features").getValueAsString();
  StringRef CPU = F->getFnAttribute("target-cpu").getValueAsString();
  bool MayHaveAVX = Features.contains("+avx") ||
                    (Features.empty() && !CPU.empty() && CPU != "x86-64");
  return Target.getArch() == Triple::x86_64 && Target.isOSBinFormatELF() &&
         M.getCodeModel().value_or(CodeModel::Small) == CodeModel::Small &&
         !MayHaveAVX;
}

/// True if control goes on behind an instruction in any case, and it is no
/// access by which threads or hardware speak to each other.
bool mfb_stays(LLVMValueRef Inst) {
  auto *I = unwrap<Instruction>(Inst);
  return !I->mayThrow() && I->willReturn() && !I->isAtomic() &&
         !I->isVolatile();
}

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

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

/// Splits a block after an instruction; returns the block with the rest.
LLVMBasicBlockRef mfb_split_after(LLVMValueRef Inst) {
  auto *I = unwrap<Instruction>(Inst);
  return wrap(
      I->getParent()->splitBasicBlock(std::next(I->getIterator()), "restart"));
}

/// Splits the entry block behind its static allocas and returns the block with
/// the rest. Static allocas further down are moved up, so they stay static.
LLVMBasicBlockRef mfb_split_entry(LLVMValueRef Fn) {
  BasicBlock &Entry = unwrap<Function>(Fn)->getEntryBlock();
  auto IP = PrepareToSplitEntryBlock(Entry, Entry.getFirstInsertionPt());
  return wrap(Entry.splitBasicBlock(IP, "body"));
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
#if LLVM_VERSION_MAJOR >= 23
  UncondBrInst::Create(To, Mid);
#else
  BranchInst::Create(To, Mid);
#endif
  for (PHINode &Phi : To->phis()) {
    // Of parallel edges one is left, with the value that all of them carry.
    for (unsigned I = 1; I < Edges; ++I)
      Phi.removeIncomingValue(From, /*DeletePHIIfEmpty=*/false);
    Phi.setIncomingBlock(Phi.getBasicBlockIndex(From), Mid);
  }
  return wrap(Mid);
}

/// Drops what an instrumented function no longer is: one without effects.
void mfb_drop_purity(LLVMValueRef Fn) {
  Function *F = unwrap<Function>(Fn);
  for (auto Kind : {Attribute::Memory, Attribute::Speculatable})
    F->removeFnAttr(Kind);
  for (User *U : F->users())
    if (auto *CB = dyn_cast<CallBase>(U))
      if (CB->getCalledOperand() == F)
        for (auto Kind : {Attribute::Memory, Attribute::Speculatable})
          CB->removeFnAttr(Kind);
}

/// Keeps a global that nobody refers to, in the linker also.
void mfb_retain(LLVMValueRef GlobalRef) {
  auto *Global = unwrap<GlobalVariable>(GlobalRef);
  appendToUsed(*Global->getParent(), {Global});
}

/// Lets the linker keep one of equal globals: hidden linkonce_odr in a comdat
/// of its own name. It must not be in a function's comdat: code inlined from
/// that function refers to it from outside, also when the linker drops the
/// function.
void mfb_share(LLVMValueRef GlobalRef) {
  auto *Global = unwrap<GlobalVariable>(GlobalRef);
  Global->setLinkage(GlobalValue::LinkOnceODRLinkage);
  Global->setVisibility(GlobalValue::HiddenVisibility);
  Global->setComdat(Global->getParent()->getOrInsertComdat(Global->getName()));
}

} // extern "C"
