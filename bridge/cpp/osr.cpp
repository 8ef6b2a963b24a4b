//===- osr.cpp - Cloning, continuations and SSA repair --------------------===//
//
// The coarse operations of on-stack replacement that llvm-c does not have.
//
//===----------------------------------------------------------------------===//

#include "osr.h"
#include "llvm-c/Core.h"
#include "llvm/ADT/DepthFirstIterator.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"

using namespace llvm;
using namespace midflight;

namespace {

// Marks what belongs to a point's check.
constexpr StringLiteral CheckKind = "midflight.check";

// True if passes know a function of this name, and so what is in its body.
bool isLibraryFunction(const Function &F) {
  TargetLibraryInfoImpl Library(Triple(F.getParent()->getTargetTriple()));
  LibFunc Known;
  return Library.getLibFunc(F.getName(), Known);
}

// A loop of `memset` must not become a call of memset in a version of it
// either: passes know it by the name of the function that they look at.
void keepFromCallingItself(Function &Version, const Function &F) {
  if (isLibraryFunction(F))
    Version.addFnAttr("no-builtins");
}

// What a continuation no longer is, or what speaks of the parameters that it no
// longer has.
void dropForeignAttributes(Function &F) {
  for (auto Kind :
       {Attribute::Memory, Attribute::Speculatable, Attribute::NoRecurse,
        Attribute::AllocSize, Attribute::AllocKind, Attribute::AlwaysInline,
        Attribute::InlineHint})
    F.removeFnAttr(Kind);
  F.removeFnAttr("alloc-family");
  F.removeFnAttr("alloc-variant-zeroed");
  F.addFnAttr(Attribute::NoInline);
  F.setMetadata(LLVMContext::MD_prof, nullptr);
  F.setPrefixData(nullptr);
  F.setPrologueData(nullptr);
}

// True if the exception that is resumed surely comes from a landing pad of the
// function itself.
bool isCaughtHere(const ResumeInst &Resume) {
  SetVector<Value *> Work;
  Work.insert(Resume.getValue());
  for (size_t N = 0; N != Work.size(); ++N) {
    Value *V = Work[N];
    if (isa<LandingPadInst, UndefValue>(V))
      continue;
    if (auto *Phi = dyn_cast<PHINode>(V)) {
      Work.insert(Phi->op_begin(), Phi->op_end());
    } else if (auto *Select = dyn_cast<SelectInst>(V)) {
      Work.insert(Select->getTrueValue());
      Work.insert(Select->getFalseValue());
    } else if (auto *Insert = dyn_cast<InsertValueInst>(V)) {
      // The second member is the selector.
      Work.insert(Insert->getIndices().front() == 0
                      ? Insert->getInsertedValueOperand()
                      : Insert->getAggregateOperand());
    } else if (isa<ExtractValueInst, FreezeInst>(V)) {
      Work.insert(cast<Instruction>(V)->getOperand(0));
    } else {
      auto *Load = dyn_cast<LoadInst>(V);
      auto *Slot =
          Load ? dyn_cast<AllocaInst>(Load->getPointerOperand()) : nullptr;
      if (!Slot)
        return false;
      for (User *U : Slot->users()) {
        auto *Store = dyn_cast<StoreInst>(U);
        if (Store && Store->getValueOperand() != Slot)
          Work.insert(Store->getValueOperand());
        else if (!isa<LoadInst>(U))
          return false;
      }
    }
  }
  return true;
}

// Rewrites the uses of a definition to what is available where they are.
class Repair {
  SSAUpdater Updater;
  Instruction &Def;
  bool Placeholder;

public:
  Repair(Instruction &Def, bool Placeholder)
      : Def(Def), Placeholder(Placeholder) {
    Updater.Initialize(Def.getType(), Def.getName());
    if (!Placeholder)
      Updater.AddAvailableValue(Def.getParent(), &Def);
  }

  void add(BasicBlock *BB, Value *V) { Updater.AddAvailableValue(BB, V); }

  void run() {
    SmallVector<Use *, 16> Uses;
    for (Use &U : Def.uses()) {
      auto *User = cast<Instruction>(U.getUser());
      // A use behind the definition in its own block still sees it.
      if (Placeholder || isa<PHINode>(User) ||
          User->getParent() != Def.getParent())
        Uses.push_back(&U);
    }
    for (Use *U : Uses)
      Updater.RewriteUse(*U);
    Updater.UpdateDebugValues(&Def);
  }
};

} // namespace

extern "C" {

/// Makes a function ready for points: without lifetime markers, which would say
/// of memory in use elsewhere that it is dead, with its static allocas in one
/// group at its head, so that its entry block can be split anywhere, and with
/// selectors of exceptions that mean the same in every version.
void mfb_prepare_for_points(LLVMValueRef Fn) {
  Function &F = *unwrap<Function>(Fn);
  makeSelectorsPortable(F);
  for (BasicBlock &BB : F)
    for (Instruction &I : make_early_inc_range(BB))
      if (I.isLifetimeStartOrEnd())
        I.eraseFromParent();
  BasicBlock &Entry = F.getEntryBlock();
  auto IP = Entry.begin();
  while (isa<AllocaInst>(*IP) && cast<AllocaInst>(*IP).isStaticAlloca())
    ++IP;
  for (Instruction &I : make_early_inc_range(make_range(IP, Entry.end())))
    if (auto *AI = dyn_cast<AllocaInst>(&I))
      if (AI->isStaticAlloca())
        AI->moveBefore(Entry, IP);
}

/// Promotes allocas to registers where that can be done: what mem2reg does.
bool mfb_promote_allocas(LLVMValueRef Fn) {
  Function &F = *unwrap<Function>(Fn);
  bool Changed = false;
  while (true) {
    SmallVector<AllocaInst *, 16> Allocas;
    for (Instruction &I : F.getEntryBlock())
      if (auto *AI = dyn_cast<AllocaInst>(&I))
        if (isAllocaPromotable(AI))
          Allocas.push_back(AI);
    if (Allocas.empty())
      return Changed;
    DominatorTree DT(F);
    PromoteMemToReg(Allocas, DT);
    Changed = true;
  }
}

/// Promotes allocas of a function to registers.
void mfb_promote(LLVMValueRef Fn, const LLVMValueRef *Refs, size_t Count) {
  SmallVector<AllocaInst *, 16> Allocas;
  for (size_t N = 0; N != Count; ++N)
    Allocas.push_back(unwrap<AllocaInst>(Refs[N]));
  DominatorTree DT(*unwrap<Function>(Fn));
  PromoteMemToReg(Allocas, DT);
}

/// Splits a block before an instruction; returns the block with the rest.
LLVMBasicBlockRef mfb_split_before(LLVMValueRef Ref, const char *Name) {
  auto *I = unwrap<Instruction>(Ref);
  return wrap(I->getParent()->splitBasicBlock(I->getIterator(), Name));
}

/// A copy of a function with internal linkage. Blocks and instructions are in
/// the same order as in the function.
LLVMValueRef mfb_clone(LLVMValueRef Fn, const char *Name) {
  ValueToValueMapTy VMap;
  Function &F = *unwrap<Function>(Fn);
  Function *Copy = CloneFunction(&F, VMap);
  Copy->setName(Name);
  Copy->setLinkage(GlobalValue::InternalLinkage);
  Copy->setVisibility(GlobalValue::DefaultVisibility);
  Copy->setDLLStorageClass(GlobalValue::DefaultStorageClass);
  Copy->setDSOLocal(true);
  Copy->setComdat(nullptr);
  keepFromCallingItself(*Copy, F);
  return wrap(Copy);
}

/// Declares a continuation, or a function on the way to one: internal, of a
/// given type, with the attributes that code of the function may count on, as
/// the target's features. A body comes with mfb_adopt, or is built.
LLVMValueRef mfb_declare_continuation(LLVMValueRef Fn, LLVMTypeRef Type,
                                      const char *Name) {
  Function &F = *unwrap<Function>(Fn);
  Function *G = Function::Create(cast<FunctionType>(unwrap(Type)),
                                 GlobalValue::InternalLinkage,
                                 F.getAddressSpace(), Name, F.getParent());
  AttributeList Old = F.getAttributes();
  G->setAttributes(AttributeList::get(F.getContext(), Old.getFnAttrs(),
                                      Old.getRetAttrs(), {}));
  dropForeignAttributes(*G);
  keepFromCallingItself(*G, F);
  return wrap(G);
}

/// Moves the body of a version into a continuation. The version keeps its
/// arguments, which the body still refers to, until mfb_finish_continuation.
void mfb_adopt(LLVMValueRef ContinuationRef, LLVMValueRef VersionRef) {
  Function &G = *unwrap<Function>(ContinuationRef);
  Function &V = *unwrap<Function>(VersionRef);
  auto CC = G.getCallingConv();
  bool NoBuiltins = G.hasFnAttribute("no-builtins");
  G.copyAttributesFrom(&V);
  G.setCallingConv(CC);
  G.setVisibility(GlobalValue::DefaultVisibility);
  G.setDLLStorageClass(GlobalValue::DefaultStorageClass);
  G.setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
  G.setDSOLocal(true);
  AttributeList Old = V.getAttributes();
  G.setAttributes(AttributeList::get(G.getContext(), Old.getFnAttrs(),
                                     Old.getRetAttrs(), {}));
  dropForeignAttributes(G);
  if (NoBuiltins)
    G.addFnAttr("no-builtins");
  SmallVector<std::pair<unsigned, MDNode *>, 4> Metadata;
  V.getAllMetadata(Metadata);
  for (auto [Kind, Node] : Metadata)
    if (Kind != LLVMContext::MD_prof)
      G.setMetadata(Kind, Node);
  V.setSubprogram(nullptr);
  SmallVector<std::pair<BlockAddress *, BasicBlock *>, 4> Addresses;
  for (BasicBlock &BB : V)
    if (BlockAddress *Address = BlockAddress::lookup(&BB))
      Addresses.emplace_back(Address, &BB);
  G.splice(G.end(), &V);
  // In LLVM 19 the address of a block names its function too.
  for (auto [Address, BB] : Addresses)
    if (Address->getFunction() != &G) {
      Address->replaceAllUsesWith(BlockAddress::get(&G, BB));
      Address->destroyConstant();
    }
  if (DISubprogram *SP = G.getSubprogram())
    SP->replaceLinkageName(MDString::get(G.getContext(), G.getName()));
}

/// Makes a function of an adopted body and its entries: gives its arguments and
/// the definitions that are live at landings the values that come in, repairs
/// SSA form, removes what cannot be reached, and erases the version.
///
/// ArgumentValues has a value for each argument of the version. Values has
/// NumEntries values for each definition; null where it is not live. Entries
/// are the blocks that the values come from. With Demote, definitions live in
/// stack slots: linear where there are many entries.
void mfb_finish_continuation(LLVMValueRef ContinuationRef,
                             LLVMValueRef VersionRef,
                             LLVMValueRef *ArgumentValues,
                             LLVMValueRef *Definitions, size_t NumDefinitions,
                             LLVMBasicBlockRef *Entries, size_t NumEntries,
                             LLVMValueRef *Values, bool Demote) {
  Function &G = *unwrap<Function>(ContinuationRef);
  Function *V = unwrap<Function>(VersionRef);
  for (Argument &A : V->args())
    A.replaceAllUsesWith(unwrap(ArgumentValues[A.getArgNo()]));
  V->deleteBody();
  V->eraseFromParent();

  df_iterator_default_set<BasicBlock *> Reachable;
  for (BasicBlock *BB : depth_first_ext(&G.getEntryBlock(), Reachable))
    (void)BB;

  // A definition that cannot be reached leaves its uses to a placeholder.
  SmallVector<Instruction *, 32> Defs;
  SmallPtrSet<Instruction *, 32> Placeholders;
  for (size_t I = 0; I != NumDefinitions; ++I) {
    auto *Def = unwrap<Instruction>(Definitions[I]);
    if (!Reachable.contains(Def->getParent())) {
      auto *Placeholder =
          new FreezeInst(PoisonValue::get(Def->getType()), Def->getName(),
                         G.getEntryBlock().begin());
      Def->replaceAllUsesWith(Placeholder);
      Placeholders.insert(Placeholder);
      Def = Placeholder;
    }
    Defs.push_back(Def);
  }
  EliminateUnreachableBlocks(G, nullptr, /*KeepOneInputPHIs=*/true);

  for (size_t I = 0; I != NumDefinitions; ++I) {
    Instruction *Def = Defs[I];
    LLVMValueRef *Incoming = Values + I * NumEntries;
    bool Placeholder = Placeholders.contains(Def);
    if (Placeholder && NumEntries == 1) {
      Def->replaceAllUsesWith(unwrap(Incoming[0]));
    } else if (Demote) {
      AllocaInst *Slot = DemoteRegToStack(*Def, /*VolatileLoads=*/true,
                                          G.getEntryBlock().begin());
      for (size_t E = 0; Slot && E != NumEntries; ++E)
        if (Incoming[E])
          new StoreInst(unwrap(Incoming[E]), Slot,
                        unwrap(Entries[E])->getTerminator()->getIterator());
      if (!Slot)
        continue; // it had no use, and is erased
    } else {
      Repair R(*Def, Placeholder);
      for (size_t E = 0; E != NumEntries; ++E)
        if (Incoming[E])
          R.add(unwrap(Entries[E]), unwrap(Incoming[E]));
      R.run();
    }
    // A demoted placeholder still is stored: its slot's first value, unused.
    if (Placeholder && Def->use_empty())
      Def->eraseFromParent();
  }
}

/// Replaces each `resume` by the call that it is lowered to. The backend takes
/// one that no landing pad of the function leads to for unreachable, and in a
/// continuation there is such: it goes on with an exception that another
/// version has caught.
///
/// For that, its handler is searched again. The personality keeps the landing
/// pad that it found in the frame with the handler, and enters it when the
/// exception comes there. Where the base was inlined into that frame it is a
/// pad of the base, with the cleanup that is done here, and not the one behind
/// the call of the continuation. An exception without a handler to search for,
/// as of a thread that is cancelled, goes on as it would.
bool mfb_lower_resumes(LLVMValueRef Fn) {
  Function &F = *unwrap<Function>(Fn);
  if (!resumesByUnwinder(F))
    return false;
  bool Changed = false;
  for (BasicBlock &BB : F) {
    auto *Resume = dyn_cast<ResumeInst>(BB.getTerminator());
    if (!Resume)
      continue;
    IRBuilder<> B(Resume);
    bool Own = isCaughtHere(*Resume);
    Value *Exception = B.CreateExtractValue(Resume->getValue(), 0);
    FunctionCallee Callee = F.getParent()->getOrInsertFunction(
        Own ? "_Unwind_Resume" : "_Unwind_Resume_or_Rethrow",
        FunctionType::get(Own ? B.getVoidTy() : B.getInt32Ty(), {B.getPtrTy()},
                          false));
    CallInst *Call = B.CreateCall(Callee, {Exception});
    if (Own)
      Call->setDoesNotReturn();
    else
      // It returns only if there is no handler, and there is: it was found
      // before.
      B.CreateIntrinsic(Intrinsic::trap, ArrayRef<Type *>(), {});
    B.CreateUnreachable();
    Resume->eraseFromParent();
    Changed = true;
  }
  return Changed;
}

/// Copies what the ABI says of a function's result to a call of it.
void mfb_copy_result_attributes(LLVMValueRef CallRef, LLVMValueRef Fn) {
  auto *Call = unwrap<CallBase>(CallRef);
  Function &F = *unwrap<Function>(Fn);
  AttrBuilder Result(F.getContext(), F.getAttributes().getRetAttrs());
  Call->setAttributes(
      AttributeList::get(F.getContext(), AttributeSet(),
                         AttributeSet::get(F.getContext(), Result), {}));
}

/// Keeps a global from being taken for one that only the module knows: a
/// variable for a constant that nobody writes.
void mfb_keep(LLVMValueRef Global) {
  auto *GV = unwrap<GlobalVariable>(Global);
  appendToCompilerUsed(*GV->getParent(), {GV});
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
#if LLVM_VERSION_MAJOR >= 23
  UncondBrInst::Create(Rest, Check);
#else
  BranchInst::Create(Rest, Check);
#endif
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

void mfb_erase_function(LLVMValueRef Fn) {
  Function *F = unwrap<Function>(Fn);
  F->replaceAllUsesWith(PoisonValue::get(F->getType()));
  F->eraseFromParent();
}

} // extern "C"
