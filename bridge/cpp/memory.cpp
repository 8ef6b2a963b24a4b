//===- memory.cpp - The states of memory ----------------------------------===//
//
// What loads and stores depend on: questions to MemorySSA and to alias
// analysis.
//
//===----------------------------------------------------------------------===//

#include "sandbox.h"
#include "llvm-c/Core.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/MemorySSA.h"
#include "llvm/Analysis/MemorySSAUpdater.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;
using namespace midflight;

// Inline functions of the headers refer to these, and each is in one LLVM only.
// A plugin must load in another LLVM too, to say there that it is the wrong
// one.
asm(".weak _ZTVN4llvm17SimpleCaptureInfoE\n"
    ".weak _ZTVN4llvm21SimpleCaptureAnalysisE");

namespace {

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

  MemoryAccess *atEnd(BasicBlock *BB) {
    auto *Defs = MSSA.getBlockDefs(BB);
    return Defs ? const_cast<MemoryAccess *>(&*Defs->rbegin()) : atHead(BB);
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

} // namespace

extern "C" {

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
  return describe(M, M.atEnd(unwrap(Block)), Where);
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
  MemoryAccess *Now = M.atEnd(unwrap(Block));
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
