//===- function.cpp - Functions as a whole --------------------------------===//
//
// What is asked of and done to functions, but for their facts, which are in
// facts.cpp, and continuations.
//
//===----------------------------------------------------------------------===//

#include "llvm/IR/Function.h"
#include "osr.h"
#include "llvm-c/Core.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"
#if LLVM_VERSION_MAJOR >= 20
#include "llvm/Transforms/Utils/Instrumentation.h"
#else
#include "llvm/Transforms/Instrumentation.h"
#endif

using namespace llvm;
using namespace midflight;

namespace {

// What decides how arguments and results are passed.
const Attribute::AttrKind PassingKinds[] = {
    Attribute::ByVal,          Attribute::ByRef,       Attribute::StructRet,
    Attribute::InAlloca,       Attribute::InReg,       Attribute::Nest,
    Attribute::ZExt,           Attribute::SExt,        Attribute::SwiftSelf,
    Attribute::SwiftError,     Attribute::SwiftAsync,  Attribute::Alignment,
    Attribute::StackAlignment, Attribute::Preallocated};

AttributeSet passing(LLVMContext &Context, AttributeSet Of);

// Calls a function of the type of another with the arguments of that, passed as
// they are.
CallInst *passOn(IRBuilder<> &Builder, Function &F, Value *To) {
  LLVMContext &Context = F.getContext();
  SmallVector<Value *, 8> Arguments;
  SmallVector<AttributeSet, 8> Passing;
  AttributeList Its = F.getAttributes();
  for (Argument &Arg : F.args()) {
    Arguments.push_back(&Arg);
    Passing.push_back(passing(Context, Its.getParamAttrs(Arg.getArgNo())));
  }
  CallInst *Call = Builder.CreateCall(F.getFunctionType(), To, Arguments);
  Call->setCallingConv(F.getCallingConv());
  Call->setAttributes(AttributeList::get(
      Context, {}, passing(Context, Its.getRetAttrs()), Passing));
  if (DISubprogram *Subprogram = F.getSubprogram())
    Call->setDebugLoc(DILocation::get(Context, 0, 0, Subprogram));
  return Call;
}

// Returns what such a call returns.
void finishPassing(IRBuilder<> &Builder, Function &F, CallInst &Call) {
  if (F.getReturnType()->isVoidTy())
    Builder.CreateRetVoid();
  else
    Builder.CreateRet(&Call);
}

// Those of a set of attributes.
AttributeSet passing(LLVMContext &Context, AttributeSet Of) {
  AttrBuilder Kept(Context);
  for (Attribute::AttrKind Kind : PassingKinds)
    if (Of.hasAttribute(Kind))
      Kept.addAttribute(Of.getAttribute(Kind));
  return AttributeSet::get(Context, Kept);
}

} // namespace

extern "C" {

/// Null if the function is valid, else a message to be freed with
/// LLVMDisposeMessage.
char *mfb_verify_function(LLVMValueRef Fn) {
  std::string Text;
  raw_string_ostream OS(Text);
  if (!verifyFunction(*unwrap<Function>(Fn), &OS))
    return nullptr;
  return LLVMCreateMessage(OS.str().c_str());
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

/// Splits the entry block behind its static allocas and returns the block with
/// the rest. Static allocas further down are moved up, so they stay static.
LLVMBasicBlockRef mfb_split_entry(LLVMValueRef Fn) {
  BasicBlock &Entry = unwrap<Function>(Fn)->getEntryBlock();
  auto IP = PrepareToSplitEntryBlock(Entry, Entry.getFirstInsertionPt());
  return wrap(Entry.splitBasicBlock(IP, "body"));
}

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

void mfb_erase_function(LLVMValueRef Fn) {
  Function *F = unwrap<Function>(Fn);
  F->replaceAllUsesWith(PoisonValue::get(F->getType()));
  F->eraseFromParent();
}

/// Gives a function the body of a clone of it, which is left without one.
/// False, and nothing is changed, if the address of a block is taken: a table
/// elsewhere may have it.
bool mfb_take_body(LLVMValueRef Fn, LLVMValueRef CloneRef) {
  Function &F = *unwrap<Function>(Fn);
  Function &Clone = *unwrap<Function>(CloneRef);
  auto IsTaken = [](const BasicBlock &BB) { return BB.hasAddressTaken(); };
  if (any_of(F, IsTaken) || any_of(Clone, IsTaken))
    return false;
  for (BasicBlock &BB : F)
    BB.dropAllReferences();
  while (!F.empty())
    F.begin()->eraseFromParent();
  F.splice(F.end(), &Clone);
  // Before the arguments: what debuggers are told of them is the subprogram's.
  F.setSubprogram(Clone.getSubprogram());
  Clone.setSubprogram(nullptr);
  for (Argument &A : Clone.args())
    A.replaceAllUsesWith(F.getArg(A.getArgNo()));
  return true;
}

/// Has a function begin in another one of its type if there is an address of it
/// at a place in memory: the call passes all arguments as they are. A frame of
/// its own is kept where the other one may refer to it.
void mfb_begin_in(LLVMValueRef Fn, LLVMValueRef Place, bool IsTail) {
  Function &F = *unwrap<Function>(Fn);
  BasicBlock *Rest = unwrap(mfb_split_entry(Fn));
  BasicBlock &Entry = F.getEntryBlock();
  LLVMContext &Context = F.getContext();
  BasicBlock *Other = BasicBlock::Create(Context, "osr.begin", &F, Rest);
  IRBuilder<> Builder(Entry.getTerminator());
  LoadInst *Known =
      Builder.CreateAlignedLoad(Builder.getPtrTy(), unwrap(Place), Align(8));
  Known->setAtomic(AtomicOrdering::Acquire);
  MDBuilder Metadata(Context);
  Builder.CreateCondBr(Builder.CreateIsNull(Known), Rest, Other,
                       Metadata.createBranchWeights((1u << 20) - 1, 1));
  Entry.getTerminator()->eraseFromParent();
  Builder.SetInsertPoint(Other);
  CallInst *Call = passOn(Builder, F, Known);
  if (IsTail)
    Call->setTailCall();
  finishPassing(Builder, F, *Call);
}

/// Has a function begin in another one of its type, in its own place on the
/// stack, if a number in memory is not 0.
void mfb_jump_unless_zero(LLVMValueRef Fn, LLVMValueRef Number,
                          LLVMValueRef To) {
  Function &F = *unwrap<Function>(Fn);
  BasicBlock *Rest = unwrap(mfb_split_entry(Fn));
  BasicBlock &Entry = F.getEntryBlock();
  LLVMContext &Context = F.getContext();
  BasicBlock *Other = BasicBlock::Create(Context, "midflight.burst", &F, Rest);
  IRBuilder<> Builder(Entry.getTerminator());
  LoadInst *Load =
      Builder.CreateAlignedLoad(Builder.getInt32Ty(), unwrap(Number), Align(4));
  Load->setAtomic(AtomicOrdering::Monotonic);
  MDBuilder Metadata(Context);
  Builder.CreateCondBr(Builder.CreateIsNull(Load), Rest, Other,
                       Metadata.createBranchWeights((1u << 20) - 1, 1));
  Entry.getTerminator()->eraseFromParent();
  Builder.SetInsertPoint(Other);
  CallInst *Call = passOn(Builder, F, unwrap(To));
  Call->setTailCallKind(CallInst::TCK_MustTail);
  finishPassing(Builder, F, *Call);
}

/// Has a call give its result as a function does.
void mfb_give_result_like(LLVMValueRef CallRef, LLVMValueRef Fn) {
  auto *Call = unwrap<CallBase>(CallRef);
  AttributeList Its = unwrap<Function>(Fn)->getAttributes();
  Call->setAttributes(
      AttributeList::get(Call->getContext(), {},
                         passing(Call->getContext(), Its.getRetAttrs()), {}));
}

/// Lets a function that was compiled without optimization be optimized.
void mfb_allow_optimization(LLVMValueRef Fn) {
  unwrap<Function>(Fn)->removeFnAttr(Attribute::OptimizeNone);
}

/// True if a call passes what it passes, and takes what it gets, as calls of a
/// function do.
bool mfb_calls_like(LLVMValueRef CallRef, LLVMValueRef Fn) {
  auto *Call = dyn_cast<CallBase>(unwrap(CallRef));
  Function &F = *unwrap<Function>(Fn);
  if (!Call || Call->getFunctionType() != F.getFunctionType() ||
      Call->getCallingConv() != F.getCallingConv() || F.isVarArg())
    return false;
  auto Alike = [&](AttributeSet A, AttributeSet B) {
    for (Attribute::AttrKind Kind : PassingKinds)
      if (A.getAttribute(Kind) != B.getAttribute(Kind))
        return false;
    return true;
  };
  AttributeList Of = Call->getAttributes(), Its = F.getAttributes();
  for (unsigned I = 0; I != F.arg_size(); ++I)
    if (!Alike(Of.getParamAttrs(I), Its.getParamAttrs(I)))
      return false;
  return Alike(Of.getRetAttrs(), Its.getRetAttrs());
}

} // extern "C"
