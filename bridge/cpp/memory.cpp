//===- memory.cpp - The states of memory ----------------------------------===//
//
// What loads and stores depend on: questions to MemorySSA and to alias
// analysis, and memory of the frame that is as good as a constant.
//
//===----------------------------------------------------------------------===//

#include "sandbox.h"
#include "llvm-c/Core.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/IteratedDominanceFrontier.h"
#include "llvm/Analysis/MemorySSA.h"
#include "llvm/Analysis/MemorySSAUpdater.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include <map>
#include <tuple>

using namespace llvm;
using namespace midflight;

// Inline functions of the headers refer to these, and each is in one LLVM only.
// A plugin must load in another LLVM too, to say there that it is the wrong
// one.
asm(".weak _ZTVN4llvm17SimpleCaptureInfoE\n"
    ".weak _ZTVN4llvm21SimpleCaptureAnalysisE\n"
    ".weak _ZTVN4llvm18EarliestEscapeInfoE\n"
    ".weak _ZTVN4llvm22EarliestEscapeAnalysisE");

#if LLVM_VERSION_MAJOR < 22
using EarliestEscapeAnalysis = EarliestEscapeInfo;
#endif

namespace {

// What writes to a place that is the same all the time.
struct Writes {
  // The last write of each block that has one
  DenseMap<const BasicBlock *, MemoryAccess *> Last;
  // Blocks at whose heads several meet
  SmallPtrSet<const BasicBlock *, 8> Met;
};

// Writes that are looked at for places, of a function
const unsigned MostWrites = 1 << 20;

struct Memory {
  MemorySSA &MSSA;
  MemorySSAUpdater Updater;
  MemorySSAWalker *Walker;
  // A pointer does not lead to what is captured only later, as GVN and DSE know
  // as well.
  EarliestEscapeAnalysis Escapes;
  BatchAAResults AA;
  // For each place: what it is in, the first byte, and how many; or all of it.
  std::map<std::tuple<const Value *, int64_t, uint64_t, MDNode *, MDNode *>,
           Writes>
      Places;
  unsigned Looked = 0;

  Memory(MemorySSA &MSSA, AAResults &Results)
      : MSSA(MSSA), Updater(&MSSA), Walker(MSSA.getWalker()),
        Escapes(MSSA.getDomTree()), AA(Results, &Escapes) {}

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

  // What may have written to a place last, from an access on; nothing does to
  // constant memory.
  MemoryAccess *clobber(MemoryAccess *Now, const MemoryLocation &Place) {
    if (!isModSet(AA.getModRefInfoMask(Place)))
      return MSSA.getLiveOnEntryDef();
    return lastWrite(Walker->getClobberingMemoryAccess(Now, Place, AA), Place);
  }

  bool writes(MemoryAccess *Def, const MemoryLocation &Place) {
    return isModSet(
        AA.getModRefInfo(cast<MemoryDef>(Def)->getMemoryInst(), Place));
  }

  Writes writesTo(const MemoryLocation &Place) {
    Writes Found;
    DominatorTree &DT = MSSA.getDomTree();
    SmallPtrSet<BasicBlock *, 32> Blocks;
    for (BasicBlock &BB : *DT.getRoot()->getParent()) {
      auto *Defs =
          DT.isReachableFromEntry(&BB) ? MSSA.getBlockDefs(&BB) : nullptr;
      if (!Defs)
        continue;
      for (const MemoryAccess &A : reverse(*Defs)) {
        ++Looked;
        if (!isa<MemoryDef>(A) ||
            !writes(const_cast<MemoryAccess *>(&A), Place))
          continue;
        Found.Last[&BB] = const_cast<MemoryAccess *>(&A);
        Blocks.insert(&BB);
        break;
      }
    }
    ForwardIDFCalculator Frontier(DT);
    Frontier.setDefiningBlocks(Blocks);
    SmallVector<BasicBlock *, 32> Met;
    Frontier.calculate(Met);
    Found.Met.insert(Met.begin(), Met.end());
    return Found;
  }

  // MemorySSA gives up where many states meet. What may have written to a place
  // last, of what had written by then, if what the place is in is the same all
  // the time.
  MemoryAccess *lastWrite(MemoryAccess *Now, const MemoryLocation &Place) {
    auto IsSame = [](const Value *V) {
      if (auto *Alloca = dyn_cast<AllocaInst>(V))
        return Alloca->isStaticAlloca();
      return isa<Argument>(V) || isa<GlobalValue>(V);
    };
    const DataLayout &DL = MSSA.getDomTree().getRoot()->getDataLayout();
    APInt Offset(DL.getIndexTypeSizeInBits(Place.Ptr->getType()), 0);
    const Value *In =
        Place.Ptr->stripAndAccumulateConstantOffsets(DL, Offset, true);
    MemoryLocation Known = Place;
    if (!IsSame(In) || !Place.Size.hasValue() || Place.Size.isScalable()) {
      In = getUnderlyingObject(Place.Ptr);
      Known = MemoryLocation::getBeforeOrAfter(In, Place.AATags);
      Offset = 0;
    }
    // What does not alias in one round of a loop may in another one.
    Known.AATags.Scope = Known.AATags.NoAlias = nullptr;
    if (!IsSame(In))
      return Now;
    while (isa<MemoryDef>(Now) && !MSSA.isLiveOnEntryDef(Now)) {
      if (writes(Now, Known))
        return Now;
      Now = cast<MemoryDef>(Now)->getDefiningAccess();
    }
    if (MSSA.isLiveOnEntryDef(Now))
      return Now;
    uint64_t Bytes = Known.Size.hasValue()
                         ? Known.Size.getValue().getFixedValue()
                         : ~uint64_t(0);
    auto Key = std::tuple(In, Offset.getSExtValue(), Bytes, Known.AATags.TBAA,
                          Known.AATags.TBAAStruct);
    auto It = Places.find(Key);
    if (It == Places.end()) {
      if (Looked > MostWrites)
        return Now;
      It = Places.emplace(Key, writesTo(Known)).first;
    }
    Writes &To = It->second;
    BasicBlock *BB = Now->getBlock();
    if (To.Met.contains(BB))
      return Now;
    auto *Node = MSSA.getDomTree().getNode(BB);
    if (!Node)
      return Now;
    while ((Node = Node->getIDom())) {
      BB = Node->getBlock();
      if (MemoryAccess *Last = To.Last.lookup(BB))
        return Last;
      // Where some of all states meet, all do.
      if (To.Met.contains(BB))
        return cast<MemoryPhi>(MSSA.getMemoryAccess(BB));
    }
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

/// Whether a place in memory is only read, but for one copy to its begin, which
/// is noted.
static bool isOnlyRead(Value *Address, bool Begins, MemCpyInst *&Copy) {
  for (Use &U : Address->uses()) {
    auto *I = cast<Instruction>(U.getUser());
    if (I->isLifetimeStartOrEnd())
      continue;
    if (auto *Load = dyn_cast<LoadInst>(I)) {
      if (!Load->isSimple())
        return false;
    } else if (auto *GEP = dyn_cast<GetElementPtrInst>(I)) {
      if (GEP->getType()->isVectorTy() || !isOnlyRead(GEP, false, Copy))
        return false;
    } else if (auto *Transfer = dyn_cast<MemTransferInst>(I)) {
      if (Transfer->isVolatile())
        return false;
      if (&U == &Transfer->getRawDestUse()) {
        if (!Begins || Copy || !isa<MemCpyInst>(Transfer))
          return false;
        Copy = cast<MemCpyInst>(Transfer);
      }
    } else if (auto *Call = dyn_cast<CallBase>(I)) {
      if (!Call->isArgOperand(&U))
        return false;
      unsigned N = Call->getArgOperandNo(&U);
      if (Call->isPassPointeeByValueArgument(N) || !Call->doesNotCapture(N) ||
          !Call->onlyReadsMemory(N))
        return false;
    } else {
      return false;
    }
  }
  return true;
}

extern "C" {

void *mfb_memory_new(void *SandboxPtr, LLVMValueRef Fn) {
  auto &S = *static_cast<Sandbox *>(SandboxPtr);
  Function &F = *unwrap<Function>(Fn);
  auto &MSSA = S.FAM.getResult<MemorySSAAnalysis>(F).getMSSA();
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
  MemoryAccess *Now = M.Walker->getClobberingMemoryAccess(A, M.AA);
  auto *Load = dyn_cast<LoadInst>(unwrap<Instruction>(Inst));
  if (Load && Load->isSimple())
    Now = M.lastWrite(Now, MemoryLocation::get(Load));
  return describe(M, Now, Where);
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
  return describe(M, M.clobber(Now, Place), Where);
}

/// The same at the end of a block.
uint32_t mfb_memory_place_at_end(void *MemoryPtr, LLVMValueRef PlaceRef,
                                 LLVMBasicBlockRef Block, LLVMValueRef *Where) {
  auto &M = *static_cast<Memory *>(MemoryPtr);
  auto Place = MemoryLocation::get(unwrap<Instruction>(PlaceRef));
  MemoryAccess *Now = M.atEnd(unwrap(Block));
  return describe(M, M.clobber(Now, Place), Where);
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

/// True if an instruction may write to memory that an address leads to, at any
/// distance. The address is the same whenever the instruction runs.
bool mfb_memory_writes_around(void *MemoryPtr, LLVMValueRef Address,
                              LLVMValueRef Inst) {
  auto &M = *static_cast<Memory *>(MemoryPtr);
  auto Around = MemoryLocation::getBeforeOrAfter(unwrap(Address));
  return isModSet(M.AA.getModRefInfo(unwrap<Instruction>(Inst), Around));
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
  MemoryAccess *Then = M.Walker->getClobberingMemoryAccess(A, M.AA);
  MemoryAccess *Now = M.before(Before);
  if (Then == Now)
    return true;
  // A load at that place, for as long as it takes to ask about it.
  Instruction *Probe = Load->clone();
  Probe->insertBefore(Before->getIterator());
  MemoryAccess *Use = M.Updater.createMemoryAccessInBB(
      Probe, Now, Before->getParent(), MemorySSA::BeforeTerminator);
  bool Same =
      M.Walker->getClobberingMemoryAccess(cast<MemoryUse>(Use), M.AA) == Then;
  M.Updater.removeMemoryAccess(Use);
  Probe->eraseFromParent();
  return Same;
}

/// For a static alloca that is only read, but for one copy of a constant all
/// over it: that copy, and the constant, which is aligned as it is. Once that
/// has run, it is as good as the constant.
bool mfb_local_constant(LLVMValueRef Ref, LLVMValueRef *Copy,
                        LLVMValueRef *Constant) {
  auto *Alloca = dyn_cast<AllocaInst>(unwrap<Instruction>(Ref));
  MemCpyInst *Of = nullptr;
  if (!Alloca || !Alloca->isStaticAlloca() || !isOnlyRead(Alloca, true, Of) ||
      !Of)
    return false;
  const DataLayout &DL = Alloca->getModule()->getDataLayout();
  auto Size = Alloca->getAllocationSize(DL);
  auto *Length = dyn_cast<ConstantInt>(Of->getLength());
  auto *GV = dyn_cast<GlobalVariable>(Of->getRawSource());
  if (!Size || Size->isScalable() || !Length || !GV || !GV->isConstant() ||
      !GV->hasDefinitiveInitializer() || GV->isThreadLocal() ||
      GV->getType() != Alloca->getType() ||
      Length->getValue() != Size->getFixedValue() ||
      DL.getTypeStoreSize(GV->getValueType()).getFixedValue() <
          Size->getFixedValue() ||
      GV->getPointerAlignment(DL) < Alloca->getAlign())
    return false;
  *Copy = wrap(static_cast<Value *>(Of));
  *Constant = wrap(static_cast<Value *>(GV));
  return true;
}

} // extern "C"
