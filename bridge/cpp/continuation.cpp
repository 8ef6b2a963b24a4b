//===- continuation.cpp - Cloning, continuations and SSA repair -----------===//
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
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"

using namespace llvm;
using namespace midflight;

namespace {

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

/// Moves an alloca to the begin of its function, where it is static.
void mfb_move_to_entry(LLVMValueRef Inst) {
  auto *Alloca = unwrap<AllocaInst>(Inst);
  BasicBlock &Entry = Alloca->getFunction()->getEntryBlock();
  Alloca->moveBefore(Entry, Entry.begin());
}

} // extern "C"
