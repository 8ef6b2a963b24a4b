//===- osr.cpp - Cloning, continuations and SSA repair
//---------------------===//
//
// The coarse operations of on-stack replacement that llvm-c does not have. As
// in shim.cpp, every function is `extern "C"` and throws nothing.
//
//===----------------------------------------------------------------------===//

#include "llvm-c/Core.h"
#include "llvm/ADT/DepthFirstIterator.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/EHPersonalities.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ModuleSlotTracker.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"

using namespace llvm;

namespace {

// True if inline assembly defines a symbol that a copy would define again.
bool definesSymbol(const InlineAsm &Asm) {
#if LLVM_VERSION_MAJOR >= 21
  StringRef Text = Asm.getAsmString();
#else
  StringRef Text = StringRef(Asm.getAsmString());
#endif
  SmallVector<StringRef, 8> Statements;
  Text.split(Statements, '\n');
  for (StringRef Line : Statements) {
    SmallVector<StringRef, 4> Parts;
    Line.split(Parts, ';');
    for (StringRef Part : Parts) {
      Part = Part.trim();
      size_t Colon = Part.find(':');
      if (Colon == StringRef::npos || Colon == 0)
        continue;
      StringRef Name = Part.take_front(Colon);
      // "1:" may be defined again; "%=" and "${:uid}" make names unique.
      bool Symbol = !isDigit(Name[0]) && all_of(Name, [](char C) {
        return isAlnum(C) || C == '_' || C == '.' || C == '$';
      });
      if (Symbol && !Part.starts_with("${:"))
        return true;
    }
  }
  return false;
}

bool readsFrame(Intrinsic::ID ID) {
  switch (ID) {
  case Intrinsic::frameaddress:
  case Intrinsic::returnaddress:
  case Intrinsic::addressofreturnaddress:
  case Intrinsic::sponentry:
  case Intrinsic::localescape:
  case Intrinsic::localrecover:
  case Intrinsic::localaddress:
  case Intrinsic::eh_dwarf_cfa:
  case Intrinsic::eh_return_i32:
  case Intrinsic::eh_return_i64:
  case Intrinsic::eh_unwind_init:
  case Intrinsic::eh_sjlj_setjmp:
  case Intrinsic::eh_sjlj_longjmp:
  case Intrinsic::eh_sjlj_setup_dispatch:
  case Intrinsic::experimental_stackmap:
  case Intrinsic::experimental_patchpoint_void:
  case Intrinsic::experimental_gc_statepoint:
    return true;
  default:
    return false;
  }
}

enum InstructionFact : uint64_t {
  IsPhi = 1 << 0,
  IsPad = 1 << 1,
  IsTerminator = 1 << 2,
  IsStaticAlloca = 1 << 3,
  IsDynamicAlloca = 1 << 4,
  ReturnsTwice = 1 << 5,
  IsMustTail = 1 << 6,
  IsVaStart = 1 << 7,
  CannotDuplicate = 1 << 8,
  ReadsFrame = 1 << 9,
  IsStackSave = 1 << 10,
  IsResume = 1 << 11,
  IsIndirectBranch = 1 << 12,
  HasTokenResult = 1 << 13,
  HasOpaqueResult = 1 << 14,
  IsUnsupportedAlloca = 1 << 15,
  IsLifetimeMarker = 1 << 16,
  IsCoroutine = 1 << 17,
  IsRealCall = 1 << 18,
  HasResult = 1 << 19,
  IsFunclet = 1 << 20,
  IsCallBr = 1 << 21,
  IsInvoke = 1 << 22,
  IsGlue = 1 << 23,
};

uint64_t factsOfCall(const CallBase &Call) {
  uint64_t Facts = 0;
  if (Call.hasFnAttr(Attribute::ReturnsTwice))
    Facts |= ReturnsTwice;
  if (Call.isMustTailCall())
    Facts |= IsMustTail;
  if (Call.cannotDuplicate())
    Facts |= CannotDuplicate;
  if (auto *Asm = dyn_cast<InlineAsm>(Call.getCalledOperand()))
    if (definesSymbol(*Asm))
      Facts |= CannotDuplicate;
  auto *II = dyn_cast<IntrinsicInst>(&Call);
  if (!II)
    return Call.isInlineAsm() ? Facts : Facts | IsRealCall;
  Intrinsic::ID ID = II->getIntrinsicID();
  if (ID == Intrinsic::experimental_deoptimize)
    Facts |= IsMustTail;
  if (ID == Intrinsic::vastart)
    Facts |= IsVaStart;
  if (ID == Intrinsic::stacksave)
    Facts |= IsStackSave;
  if (readsFrame(ID))
    Facts |= ReadsFrame;
  if (II->isLifetimeStartOrEnd())
    Facts |= IsLifetimeMarker;
  if (II->getCalledFunction()->getName().starts_with("llvm.coro."))
    Facts |= IsCoroutine;
  return Facts;
}

// Personalities whose `resume` is a call of _Unwind_Resume.
bool resumesByUnwinder(const Function &F) {
  if (!F.hasPersonalityFn())
    return false;
  Triple T(F.getParent()->getTargetTriple());
  if (T.isARM() || T.isThumb() || T.isOSWindows() || T.isWasm())
    return false;
  switch (classifyEHPersonality(F.getPersonalityFn())) {
  case EHPersonality::GNU_C:
  case EHPersonality::GNU_CXX:
  case EHPersonality::GNU_ObjC:
  case EHPersonality::Rust:
    return true;
  default:
    return false;
  }
}

// Marks code that makes selectors portable: no point is inside it.
constexpr StringLiteral GlueKind = "midflight.glue";

// Marks what belongs to a point's check.
constexpr StringLiteral CheckKind = "midflight.check";

void markGlue(Value *V) {
  if (auto *I = dyn_cast<Instruction>(V))
    I->setMetadata(GlueKind, MDNode::get(I->getContext(), {}));
}

// The selector of a landing pad is a number in the function's own table of
// types, and `llvm.eh.typeid.for` asks that table; another version's table may
// be another one. This makes selectors portable: behind each landing pad those
// that the function asks for become numbers of the type alone, and before each
// `resume` they become the function's own again, as an inliner expects.
class PortableSelectors {
  Function &F;
  // The types that are asked for, and their numbers.
  SmallVector<std::pair<Value *, ConstantInt *>, 8> Types;
  SmallVector<IntrinsicInst *, 8> Questions;

  // A number that no table has: tables are small.
  static uint32_t numberOf(const Value *Type) {
    uint32_t Hash = 2166136261u;
    for (char C : Type->getName())
      Hash = (Hash ^ uint8_t(C)) * 16777619u;
    return 0x40000000u | (Hash & 0x3fffffffu);
  }

  ConstantInt *add(Value *Type) {
    for (auto [Known, Number] : Types)
      if (Known == Type)
        return Number;
    uint32_t Number = numberOf(Type);
    while (any_of(Types, [&](auto &T) { return T.second->equalsInt(Number); }))
      Number = 0x40000000u | ((Number + 1) & 0x3fffffffu);
    Types.push_back(
        {Type, ConstantInt::get(Type::getInt32Ty(F.getContext()), Number)});
    return Types.back().second;
  }

  Value *ask(IRBuilder<> &B, Value *Type) {
    Function *TypeId = Questions.front()->getCalledFunction();
    return B.CreateCall(TypeId, {Type});
  }

  // A copy of an exception with another selector, for which `Select` says when
  // it becomes what.
  template <typename Fn>
  Value *rewrite(IRBuilder<> &B, Value *Exception, Fn Select) {
    SmallVector<Value *, 16> Glue;
    auto Add = [&](Value *V) {
      Glue.push_back(V);
      return V;
    };
    Value *Selector = Add(B.CreateExtractValue(Exception, 1));
    Value *Result = Selector;
    for (auto [Type, Number] : Types) {
      Value *Own = Add(ask(B, Type));
      auto [From, To] = Select(Own, Number);
      Value *Equal = Add(B.CreateICmpEQ(Selector, From));
      Result = Add(B.CreateSelect(Equal, To, Result));
    }
    Value *Whole = Add(B.CreateInsertValue(Exception, Result, 1));
    for (Value *V : Glue)
      markGlue(V);
    return Whole;
  }

public:
  explicit PortableSelectors(Function &F) : F(F) {
    for (BasicBlock &BB : F)
      for (Instruction &I : BB)
        if (auto *II = dyn_cast<IntrinsicInst>(&I))
          if (II->getIntrinsicID() == Intrinsic::eh_typeid_for)
            Questions.push_back(II);
  }

  void run() {
    if (Questions.empty())
      return;
    SmallVector<LandingPadInst *, 8> Pads;
    SmallVector<ResumeInst *, 4> Resumes;
    for (BasicBlock &BB : F) {
      if (auto *Pad = BB.getLandingPadInst())
        Pads.push_back(Pad);
      if (auto *Resume = dyn_cast<ResumeInst>(BB.getTerminator()))
        Resumes.push_back(Resume);
    }
    for (IntrinsicInst *II : Questions)
      add(II->getArgOperand(0));
    Type *Expected = StructType::get(PointerType::get(F.getContext(), 0),
                                     Type::getInt32Ty(F.getContext()));
    for (LandingPadInst *Pad : Pads) {
      if (Pad->getType() != Expected)
        continue;
      IRBuilder<> B(Pad->getParent(), std::next(Pad->getIterator()));
      B.SetCurrentDebugLocation(Pad->getDebugLoc());
      Value *Whole = rewrite(B, Pad, [](Value *Own, Value *Number) {
        return std::pair(Own, Number);
      });
      Pad->replaceUsesWithIf(Whole, [](Use &U) {
        auto *User = cast<Instruction>(U.getUser());
        return !User->hasMetadata(GlueKind);
      });
    }
    for (ResumeInst *Resume : Resumes) {
      if (Resume->getValue()->getType() != Expected)
        continue;
      IRBuilder<> B(Resume);
      Resume->setOperand(
          0, rewrite(B, Resume->getValue(), [](Value *Own, Value *Number) {
            return std::pair(Number, Own);
          }));
    }
    for (IntrinsicInst *II : Questions) {
      II->replaceAllUsesWith(add(II->getArgOperand(0)));
      // It stays where it is, so that points keep their numbers.
    }
  }
};

// Registers that a result takes, counted so that no target has fewer.
struct ResultRegisters {
  uint64_t Integers = 0, Floats = 0, X87 = 0;
  bool Known = true;

  void add(Type *T) {
    if (auto *Int = dyn_cast<IntegerType>(T))
      Integers += divideCeil(Int->getBitWidth(), 64);
    else if (T->isPointerTy())
      ++Integers;
    else if (T->isX86_FP80Ty())
      ++X87;
    else if (T->isFloatingPointTy())
      ++Floats;
    else if (auto *Vector = dyn_cast<FixedVectorType>(T))
      Floats +=
          divideCeil(Vector->getNumElements() *
                         std::max<uint64_t>(8, Vector->getScalarSizeInBits()),
                     128);
    else if (auto *Struct = dyn_cast<StructType>(T))
      for (Type *Element : Struct->elements())
        add(Element);
    else if (auto *Array = dyn_cast<ArrayType>(T)) {
      ResultRegisters One;
      One.add(Array->getElementType());
      Integers += One.Integers * Array->getNumElements();
      Floats += One.Floats * Array->getNumElements();
      X87 += One.X87 * Array->getNumElements();
      Known &= One.Known;
    } else if (!T->isVoidTy())
      Known = false;
  }

  bool fit() const { return Known && Integers <= 2 && Floats <= 2 && X87 <= 1; }
};

bool hasWideVector(Type *T) {
  if (auto *Vector = dyn_cast<FixedVectorType>(T))
    return Vector->getPrimitiveSizeInBits().getFixedValue() > 128 ||
           Vector->getElementType()->isPointerTy();
  if (isa<ScalableVectorType>(T))
    return true;
  return any_of(T->subtypes(), hasWideVector);
}

// True if passes know a function of this name, and so what is in its body.
bool isLibraryFunction(const Function &F) {
  TargetLibraryInfoImpl Library(Triple(F.getParent()->getTargetTriple()));
  LibFunc Known;
  return Library.getLibFunc(F.getName(), Known);
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

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

uint64_t mfb_instruction_facts(LLVMValueRef Ref) {
  auto &I = *unwrap<Instruction>(Ref);
  uint64_t Facts = 0;
  auto Set = [&](bool Holds, InstructionFact Fact) {
    if (Holds)
      Facts |= Fact;
  };
  Set(isa<PHINode>(I), IsPhi);
  Set(I.isEHPad(), IsPad);
  Set(I.isTerminator(), IsTerminator);
  if (auto *AI = dyn_cast<AllocaInst>(&I)) {
    Set(AI->isStaticAlloca(), IsStaticAlloca);
    Set(!AI->isStaticAlloca(), IsDynamicAlloca);
    Set(AI->isUsedWithInAlloca() || AI->isSwiftError(), IsUnsupportedAlloca);
  }
  if (auto *CB = dyn_cast<CallBase>(&I))
    Facts |= factsOfCall(*CB);
  Set(I.hasMetadata(GlueKind), IsGlue);
  Set(isa<ResumeInst>(I), IsResume);
  Set(isa<IndirectBrInst>(I), IsIndirectBranch);
  Set(isa<CallBrInst>(I), IsCallBr);
  Set(isa<InvokeInst>(I), IsInvoke);
  Set(I.isEHPad() && !isa<LandingPadInst>(I), IsFunclet);
  Set(isa<CleanupReturnInst>(I) || isa<CatchReturnInst>(I), IsFunclet);
  Type *T = I.getType();
  Set(!T->isVoidTy(), HasResult);
  Set(T->isTokenTy(), HasTokenResult);
  Set(T->isX86_AMXTy() || T->isTargetExtTy(), HasOpaqueResult);
  return Facts;
}

enum OsrFact : uint32_t {
  FactReturnsTwice = 1 << 0,
  FactGC = 1 << 1,
  // A parameter whose place in the frame matters: inalloca, preallocated,
  // swifterror, swiftasync.
  FactUnsupportedParameter = 1 << 2,
  FactByVal = 1 << 3,
  FactVarArg = 1 << 4,
  // Its landing pads are left by _Unwind_Resume.
  FactResumesByUnwinder = 1 << 5,
  // Its calls are tied to tokens that say which threads run them together.
  FactConvergenceControl = 1 << 6,
  // It is inlined into functions that pass its vectors in other registers.
  FactInlinedVectors = 1 << 7,
  // Its result does not fit the registers of the C convention.
  FactLargeResult = 1 << 8,
};

uint32_t mfb_osr_facts(LLVMValueRef Fn) {
  Function &F = *unwrap<Function>(Fn);
  uint32_t Facts = 0;
  if (F.hasFnAttribute(Attribute::ReturnsTwice) ||
      F.callsFunctionThatReturnsTwice())
    Facts |= FactReturnsTwice;
  if (F.hasGC())
    Facts |= FactGC;
  for (Argument &A : F.args()) {
    if (A.hasInAllocaAttr() || A.hasPreallocatedAttr() ||
        A.hasSwiftErrorAttr() || A.hasAttribute(Attribute::SwiftAsync))
      Facts |= FactUnsupportedParameter;
    if (A.hasByValAttr() || A.hasByRefAttr())
      Facts |= FactByVal;
  }
  if (F.isVarArg())
    Facts |= FactVarArg;
  if (resumesByUnwinder(F))
    Facts |= FactResumesByUnwinder;
  bool WideVectors =
      any_of(F.args(), [](Argument &A) { return hasWideVector(A.getType()); });
  for (Instruction &I : instructions(F)) {
    if (isa<ConvergenceControlInst>(I))
      Facts |= FactConvergenceControl;
    WideVectors |= hasWideVector(I.getType());
  }
  // Other functions are inlined only where registers are the same.
  if (WideVectors && F.hasFnAttribute(Attribute::AlwaysInline))
    Facts |= FactInlinedVectors;
  ResultRegisters Result;
  Result.add(F.getReturnType());
  if (!Result.fit())
    Facts |= FactLargeResult;
  return Facts;
}

const char *mfb_opcode_name(LLVMValueRef Inst) {
  return unwrap<Instruction>(Inst)->getOpcodeName();
}

/// Calls back with the name of each argument and of each instruction that has a
/// result, as the IR writer prints it ("%5", "%i"), in their order.
void mfb_value_names(LLVMValueRef Fn, void *To,
                     void (*Add)(void *, const char *, size_t)) {
  Function &F = *unwrap<Function>(Fn);
  ModuleSlotTracker Slots(F.getParent(), /*ShouldInitializeAllMetadata=*/false);
  Slots.incorporateFunction(F);
  auto Tell = [&](Value &V) {
    std::string Text;
    raw_string_ostream OS(Text);
    V.printAsOperand(OS, /*PrintType=*/false, Slots);
    Add(To, OS.str().data(), OS.str().size());
  };
  for (Argument &A : F.args())
    Tell(A);
  for (BasicBlock &BB : F)
    for (Instruction &I : BB)
      if (!I.getType()->isVoidTy())
        Tell(I);
}

/// Calls back with the name of each block.
void mfb_block_names(LLVMValueRef Fn, void *To,
                     void (*Add)(void *, const char *, size_t)) {
  Function &F = *unwrap<Function>(Fn);
  ModuleSlotTracker Slots(F.getParent(), /*ShouldInitializeAllMetadata=*/false);
  Slots.incorporateFunction(F);
  for (BasicBlock &BB : F) {
    std::string Text;
    raw_string_ostream OS(Text);
    BB.printAsOperand(OS, /*PrintType=*/false, Slots);
    Add(To, OS.str().data(), OS.str().size());
  }
}

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

/// Makes a function ready for points: without lifetime markers, which would say
/// of memory in use elsewhere that it is dead, with its static allocas in one
/// group at its head, so that its entry block can be split anywhere, and with
/// selectors of exceptions that mean the same in every version.
void mfb_prepare_for_points(LLVMValueRef Fn) {
  Function &F = *unwrap<Function>(Fn);
  PortableSelectors(F).run();
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
  Function *Copy = CloneFunction(unwrap<Function>(Fn), VMap);
  Copy->setName(Name);
  Copy->setLinkage(GlobalValue::InternalLinkage);
  Copy->setVisibility(GlobalValue::DefaultVisibility);
  Copy->setDLLStorageClass(GlobalValue::DefaultStorageClass);
  Copy->setDSOLocal(true);
  Copy->setComdat(nullptr);
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
  // A loop of `memset` must not become a call of memset here either; passes ask
  // for the name of the function that they look at.
  if (isLibraryFunction(F))
    G->addFnAttr("no-builtins");
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
  G.splice(G.end(), &V);
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
/// continuation there is such.
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
    LLVMContext &C = F.getContext();
    FunctionCallee Callee = F.getParent()->getOrInsertFunction(
        "_Unwind_Resume",
        FunctionType::get(Type::getVoidTy(C), {PointerType::get(C, 0)}, false));
    Value *Exception = B.CreateExtractValue(Resume->getValue(), 0);
    CallInst *Call = B.CreateCall(Callee, {Exception});
    Call->setDoesNotReturn();
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
