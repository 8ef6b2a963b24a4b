//===- facts.cpp - What is known of instructions and functions ------------===//
//
// The facts that points, continuations, mappings and the profiler depend on.
//
//===----------------------------------------------------------------------===//

#include "facts.h"
#include "operations.h"
#include "osr.h"
#include "llvm-c/Core.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/EHPersonalities.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalIFunc.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;
using namespace midflight;

bool midflight::returnsTwice(const CallBase &Call) {
  // What __builtin_setjmp becomes lacks the attribute.
  return Call.hasFnAttr(Attribute::ReturnsTwice) ||
         Call.getIntrinsicID() == Intrinsic::eh_sjlj_setjmp;
}

bool midflight::resumesByUnwinder(const Function &F) {
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

namespace {

uint32_t factIf(bool Holds, uint32_t Fact) { return Holds ? Fact : 0; }

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

// True if a constant has the address of a block, which is one of this
// version's.
bool namesBlock(const Value *V) {
  if (isa<BlockAddress>(V))
    return true;
  return isa<ConstantExpr, ConstantAggregate>(V) &&
         any_of(cast<Constant>(V)->operands(), namesBlock);
}

uint32_t factsOfCall(const CallBase &Call) {
  auto *Asm = dyn_cast<InlineAsm>(Call.getCalledOperand());
  uint32_t Facts =
      factIf(returnsTwice(Call), InstFacts::ReturnsTwice) |
      factIf(Call.isMustTailCall(), InstFacts::IsMustTail) |
      factIf(Call.doesNotReturn(), InstFacts::NoReturn) |
      factIf(Call.cannotDuplicate() || (Asm && definesSymbol(*Asm)),
             InstFacts::CannotDuplicate);
  auto *II = dyn_cast<IntrinsicInst>(&Call);
  if (!II)
    return Facts | factIf(!Asm, InstFacts::IsRealCall);
  Intrinsic::ID ID = II->getIntrinsicID();
  return Facts |
         factIf(ID == Intrinsic::experimental_deoptimize,
                InstFacts::IsMustTail) |
         factIf(ID == Intrinsic::vastart, InstFacts::IsVaStart) |
         factIf(ID == Intrinsic::stacksave, InstFacts::IsStackSave) |
         factIf(readsFrame(ID), InstFacts::ReadsFrame) |
         factIf(II->isLifetimeStartOrEnd(), InstFacts::IsLifetimeMarker) |
         factIf(II->isAssumeLikeIntrinsic(), InstFacts::IsMarker) |
         factIf(isa<ConvergenceControlInst>(II),
                InstFacts::ControlsConvergence) |
         factIf(II->getCalledFunction()->getName().starts_with("llvm.coro."),
                InstFacts::IsCoroutine);
}

// A call without effects that can be made again, at the worst for nothing.
bool isPureIntrinsic(const Instruction &I) {
  auto *II = dyn_cast<IntrinsicInst>(&I);
  return II && II->doesNotAccessMemory() && II->doesNotThrow() &&
         II->willReturn() && !II->isConvergent() && !II->hasOperandBundles() &&
         II->getIntrinsicID() != Intrinsic::eh_typeid_for &&
         II->hasFnAttr(Attribute::Speculatable);
}

// An operation that can be made again, and never traps. Divisors must be known.
bool isSpeculatable(const Instruction &I) {
  using namespace PatternMatch;
  const APInt *Divisor;
  if (I.isIntDivRem())
    return match(I.getOperand(1), m_APInt(Divisor)) && !Divisor->isZero() &&
           !Divisor->isAllOnes();
  return isSafeToSpeculativelyExecute(&I);
}

// A call that nothing is known of may freeze what it is given, so that its
// result is one of several. If all of that is well defined, there is just one.
bool mayChoose(const CallBase &Call) {
  for (unsigned N = 0; N != Call.arg_size(); ++N)
    if (!Call.paramHasAttr(N, Attribute::NoUndef) &&
        !isWellDefined(Call.getArgOperand(N), &Call))
      return true;
  return false;
}

// Registers that a result takes, counted so that no x86-64 or AArch64 has
// fewer, whatever its features make legal.
struct ResultRegisters {
  uint64_t Integers = 0, Floats = 0, X87 = 0;
  // Some member is no scalar of 64 bits at most.
  bool Wide = false;
  bool Known = true;

  void add(Type *T) {
    if (auto *Vector = dyn_cast<FixedVectorType>(T))
      return addVector(Vector->getElementType(), Vector->getNumElements());
    if (auto *Array = dyn_cast<ArrayType>(T))
      return addTimes(Array->getElementType(), Array->getNumElements());
    if (auto *Struct = dyn_cast<StructType>(T)) {
      for (Type *Element : Struct->elements())
        add(Element);
      return;
    }
    Wide |= T->isSized() && T->getScalarSizeInBits() > 64;
    if (auto *Int = dyn_cast<IntegerType>(T))
      Integers += divideCeil(Int->getBitWidth(), 64);
    else if (T->isPointerTy())
      ++Integers;
    else if (T->isX86_FP80Ty())
      ++X87;
    else if (T->isFloatingPointTy())
      ++Floats;
    else if (!T->isVoidTy())
      Known = false;
  }

  // Without vector registers integers and floats may share those that there
  // are.
  bool fit(bool HasVectors) const {
    if (!HasVectors)
      return Known && !Wide && Integers + Floats <= 2;
    return Known && Integers <= 2 && Floats <= 2 && X87 <= 1;
  }

private:
  void addTimes(Type *T, uint64_t Count) {
    ResultRegisters One;
    One.add(T);
    Integers += One.Integers * Count;
    Floats += One.Floats * Count;
    X87 += One.X87 * Count;
    Wide |= One.Wide;
    Known &= One.Known;
  }

  // A vector that is legal nowhere is returned element by element, but for
  // three elements of 32 bits, which are widened to four. A short mask is a
  // vector of bytes at most.
  void addVector(Type *Element, uint64_t Count) {
    Wide = true;
    uint64_t Bits =
        Element->isPointerTy() ? 64 : Element->getScalarSizeInBits();
    if (Bits == 1 && Count <= 16)
      Bits = 8;
    uint64_t Lanes = Count == 3 && Bits == 32 ? 4 : Count;
    if (isPowerOf2_64(Lanes) && isPowerOf2_64(Bits) && Bits >= 8 && Bits <= 64)
      Floats += divideCeil(Lanes * Bits, 128);
    else
      addTimes(Element, Count);
  }
};

// True if the function may use the vector registers that each x86-64 and
// AArch64 has.
bool hasVectorRegisters(const Function &F) {
  Triple T(F.getParent()->getTargetTriple());
  if (T.getArch() != Triple::x86_64 && !T.isAArch64())
    return false;
  SmallVector<StringRef, 32> Features;
  F.getFnAttribute("target-features").getValueAsString().split(Features, ',');
  return none_of(Features, [](StringRef Feature) {
    return is_contained({"-sse", "-sse2", "+soft-float", "-neon", "-fp-armv8"},
                        Feature);
  });
}

bool hasWideVector(Type *T) {
  if (auto *Vector = dyn_cast<FixedVectorType>(T))
    return Vector->getPrimitiveSizeInBits().getFixedValue() > 128 ||
           Vector->getElementType()->isPointerTy();
  if (isa<ScalableVectorType>(T))
    return true;
  return any_of(T->subtypes(), hasWideVector);
}

} // namespace

extern "C" {

uint32_t mfb_instruction_facts(LLVMValueRef Ref) {
  auto &I = *unwrap<Instruction>(Ref);
  auto *Alloca = dyn_cast<AllocaInst>(&I);
  auto *Call = dyn_cast<CallBase>(&I);
  bool Static = Alloca && Alloca->isStaticAlloca();
  Type *T = I.getType();
  return (Call ? factsOfCall(*Call) : 0) |
         factIf(isa<PHINode>(I), InstFacts::IsPhi) |
         factIf(I.isEHPad(), InstFacts::IsPad) |
         factIf(I.isTerminator(), InstFacts::IsTerminator) |
         factIf(Static, InstFacts::IsStaticAlloca) |
         factIf(Alloca && !Static, InstFacts::IsDynamicAlloca) |
         factIf(Alloca &&
                    (Alloca->isUsedWithInAlloca() || Alloca->isSwiftError()),
                InstFacts::IsUnsupportedAlloca) |
         factIf(I.hasMetadata(GlueKind), InstFacts::IsGlue) |
         factIf(isa<ResumeInst>(I), InstFacts::IsResume) |
         factIf(isa<IndirectBrInst>(I) || any_of(I.operands(), namesBlock),
                InstFacts::IsIndirectBranch) |
         factIf(isa<CallBrInst>(I), InstFacts::IsCallbr) |
         factIf(isa<InvokeInst>(I), InstFacts::IsInvoke) |
         factIf((I.isEHPad() && !isa<LandingPadInst>(I)) ||
                    isa<CleanupReturnInst, CatchReturnInst>(I),
                InstFacts::IsFunclet) |
         factIf(!T->isVoidTy(), InstFacts::HasResult) |
         factIf(T->isTokenTy(), InstFacts::HasTokenResult) |
         factIf(T->isX86_AMXTy() || T->isTargetExtTy(),
                InstFacts::HasOpaqueResult);
}

/// The operands that are neither poison nor undef wherever an instruction does
/// something, or else the program is undefined: bit N for the operand at N, of
/// the first 64.
uint64_t mfb_well_defined_operands(LLVMValueRef Ref) {
  auto *I = unwrap<Instruction>(Ref);
  uint64_t Places = 0;
  auto Add = [&](unsigned Place) {
    if (Place < 64)
      Places |= uint64_t(1) << Place;
  };
  if (auto *Load = dyn_cast<LoadInst>(I)) {
    Add(Load->getPointerOperandIndex());
  } else if (auto *Store = dyn_cast<StoreInst>(I)) {
    Add(Store->getPointerOperandIndex());
  } else if (auto *RMW = dyn_cast<AtomicRMWInst>(I)) {
    Add(RMW->getPointerOperandIndex());
  } else if (auto *Exchange = dyn_cast<AtomicCmpXchgInst>(I)) {
    Add(Exchange->getPointerOperandIndex());
  } else if (auto *Branch = dyn_cast<BranchInst>(I)) {
    if (Branch->isConditional())
      Add(0);
  } else if (isa<SwitchInst>(I)) {
    Add(0);
  } else if (auto *Return = dyn_cast<ReturnInst>(I)) {
    if (Return->getReturnValue() &&
        I->getFunction()->hasRetAttribute(Attribute::NoUndef))
      Add(0);
  } else if (auto *Call = dyn_cast<CallBase>(I)) {
    if (Call->isIndirectCall())
      Add(Call->getCalledOperandUse().getOperandNo());
    for (const Use &Arg : Call->args()) {
      unsigned N = Call->getArgOperandNo(&Arg);
      if (Call->paramHasAttr(N, Attribute::NoUndef))
        Add(Arg.getOperandNo());
    }
    // Of no bytes nothing is copied, whatever the pointers are.
    if (auto *Memory = dyn_cast<MemIntrinsic>(I)) {
      Add(Memory->getRawDestUse().getOperandNo());
      Add(2);
      if (auto *Transfer = dyn_cast<MemTransferInst>(Memory))
        Add(Transfer->getRawSourceUse().getOperandNo());
    }
  }
  return Places;
}

/// True for a call of the C library's memcmp or bcmp of whose result only
/// matters whether it is zero: then both are the same. So is one of strcmp or
/// strncmp to a constant string, as one of so many bytes.
bool mfb_compares_memory(LLVMValueRef Ref, LLVMValueRef *Bytes) {
  *Bytes = nullptr;
  auto *Call = dyn_cast<CallInst>(unwrap<Instruction>(Ref));
  Function *Callee = Call ? Call->getCalledFunction() : nullptr;
  if (!Callee || !mayBeOfLibrary(*Call, *Callee))
    return false;
  StringRef Name = Callee->getName();
  FunctionType *T = Callee->getFunctionType();
  auto IsPointer = [&](unsigned N) {
    return T->getParamType(N)->isPointerTy();
  };
  bool HasCount = Name == "memcmp" || Name == "bcmp" || Name == "strncmp";
  if ((!HasCount && Name != "strcmp") || T->isVarArg() ||
      !T->getReturnType()->isIntegerTy(32) ||
      T->getNumParams() != (HasCount ? 3 : 2) || !IsPointer(0) ||
      !IsPointer(1) || (HasCount && !T->getParamType(2)->isIntegerTy()) ||
      !isOnlyUsedInZeroEqualityComparison(Call))
    return false;
  if (Name == "memcmp" || Name == "bcmp")
    return true;
  std::optional<uint64_t> Count;
  for (unsigned N : {0u, 1u})
    if (StringRef Text;
        !Count && getConstantStringInfo(Call->getArgOperand(N), Text))
      Count = Text.size() + 1;
  auto *Most =
      HasCount ? dyn_cast<ConstantInt>(Call->getArgOperand(2)) : nullptr;
  if (!Count || (HasCount && !Most))
    return false;
  const DataLayout &DL = Call->getModule()->getDataLayout();
  Type *Size =
      HasCount ? T->getParamType(2) : DL.getIntPtrType(Call->getContext(), 0);
  if (Most)
    Count = std::min(*Count, Most->getLimitedValue());
  *Bytes = wrap(ConstantInt::get(Size, *Count));
  return true;
}

uint32_t mfb_map_facts(LLVMValueRef Ref) {
  auto *I = unwrap<Instruction>(Ref);
  auto *Branch = dyn_cast<BranchInst>(I);
  uint32_t Facts =
      factIf(I->isTerminator(), MapFacts::IsTerminator) |
      factIf(Branch && Branch->isUnconditional(), MapFacts::IsUnconditional) |
      factIf(Branch && Branch->isConditional(), MapFacts::IsConditional);
  if (isa<PHINode>(I))
    return Facts | MapFacts::IsPhi;
  if (auto *II = dyn_cast<IntrinsicInst>(I)) {
    if (II->isAssumeLikeIntrinsic())
      return Facts | MapFacts::IsMarker;
    switch (II->getIntrinsicID()) {
    case Intrinsic::eh_typeid_for:
    case Intrinsic::frameaddress:
    case Intrinsic::returnaddress:
    case Intrinsic::addressofreturnaddress:
      return Facts | MapFacts::IsOwn;
    default:
      break;
    }
  }
  bool Freezes = isa<FreezeInst>(I) && !isWellDefined(I->getOperand(0), I);
  bool Pad = isa<LandingPadInst>(I);
  bool Ends = isa<ReturnInst>(I) || isa<UnreachableInst>(I);
  auto *Call = dyn_cast<CallBase>(I);
  auto *Extract = dyn_cast<ExtractValueInst>(I);
  auto *Load = dyn_cast<LoadInst>(I);
  auto *Store = dyn_cast<StoreInst>(I);
  Facts |=
      factIf(isa<AllocaInst>(I) || Freezes || (Call && Call->isConvergent()),
             MapFacts::IsPinned) |
      factIf(Extract && isa<LandingPadInst>(Extract->getAggregateOperand()) &&
                 Extract->getIndices().equals({0u}),
             MapFacts::IsPadPointer) |
      factIf(Pad, MapFacts::IsLandingPad) |
      factIf(I->mayReadFromMemory(), MapFacts::ReadsMemory);
  if ((I->mayHaveSideEffects() && !Ends) || Pad || isa<VAArgInst>(I) ||
      (I->mayReadFromMemory() && I->isAtomic()) || I->isVolatile())
    return Facts | MapFacts::IsAnchor |
           factIf(Store && Store->isSimple(), MapFacts::IsStore);
  bool Repeatable = !I->isTerminator() && !isa<AllocaInst>(I) && !Freezes &&
                    !I->isEHPad() && !Load && !I->mayReadOrWriteMemory() &&
                    !I->getType()->isTokenTy() &&
                    (!Call || isPureIntrinsic(*I));
  using namespace PatternMatch;
  auto *Cmp = dyn_cast<ICmpInst>(I);
  return Facts | factIf(Load && Load->isSimple(), MapFacts::IsLoad) |
         factIf(Call && !isa<IntrinsicInst>(I) && mayChoose(*Call),
                MapFacts::IsPinned) |
         factIf(Repeatable, MapFacts::IsRepeatable) |
         factIf(Repeatable && isSpeculatable(*I), MapFacts::IsSpeculatable) |
         factIf(isa<SelectInst>(I), MapFacts::IsSelect) |
         factIf(Cmp && Cmp->getPredicate() == ICmpInst::ICMP_EQ,
                MapFacts::IsEqual) |
         factIf(Cmp && Cmp->getPredicate() == ICmpInst::ICMP_NE,
                MapFacts::IsDiffer) |
         factIf(match(I, m_LogicalAnd(m_Value(), m_Value())),
                MapFacts::IsLogicalAnd) |
         factIf(match(I, m_LogicalOr(m_Value(), m_Value())),
                MapFacts::IsLogicalOr) |
         factIf(I->isCommutative(), MapFacts::IsCommutative);
}

uint32_t mfb_function_facts(LLVMValueRef Fn) {
  Function &F = *unwrap<Function>(Fn);
  bool Twice = F.hasFnAttribute(Attribute::ReturnsTwice);
  // Other functions are inlined only where registers are the same.
  bool Inlined = F.hasFnAttribute(Attribute::AlwaysInline);
  bool WideVectors = false, Unsupported = false, ByValue = false;
  for (Argument &A : F.args()) {
    Unsupported |= A.hasInAllocaAttr() || A.hasPreallocatedAttr() ||
                   A.hasSwiftErrorAttr() ||
                   A.hasAttribute(Attribute::SwiftAsync);
    ByValue |= A.hasByValAttr() || A.hasByRefAttr();
    WideVectors |= Inlined && hasWideVector(A.getType());
  }
  bool Convergence = false;
  for (Instruction &I : instructions(F)) {
    auto *Call = dyn_cast<CallBase>(&I);
    Twice |= Call && returnsTwice(*Call);
    Convergence |= isa<ConvergenceControlInst>(I);
    WideVectors |= Inlined && hasWideVector(I.getType());
  }
  ResultRegisters Result;
  Result.add(F.getReturnType());
  bool ResolvesIFunc =
      any_of(F.getParent()->ifuncs(), [&](const GlobalIFunc &I) {
        return I.getResolverFunction() == &F;
      });
  return factIf(Twice, FunctionFacts::ReturnsTwice) |
         factIf(F.hasGC(), FunctionFacts::HasGc) |
         factIf(Unsupported, FunctionFacts::HasUnsupportedParameter) |
         factIf(ByValue, FunctionFacts::HasByValue) |
         factIf(F.isVarArg(), FunctionFacts::IsVariadic) |
         factIf(resumesByUnwinder(F), FunctionFacts::ResumesByUnwinder) |
         factIf(Convergence, FunctionFacts::HasConvergenceControl) |
         factIf(WideVectors, FunctionFacts::HasInlinedVectors) |
         factIf(!Result.fit(hasVectorRegisters(F)),
                FunctionFacts::HasLargeResult) |
         factIf(F.hasAvailableExternallyLinkage(),
                FunctionFacts::IsAvailableExternally) |
         factIf(F.hasFnAttribute(Attribute::Naked), FunctionFacts::IsNaked) |
         factIf(F.hasFnAttribute(Attribute::NoProfile) ||
                    F.hasFnAttribute(Attribute::SkipProfile),
                FunctionFacts::IsNotProfiled) |
         factIf(F.isPresplitCoroutine(), FunctionFacts::IsPresplitCoroutine) |
         factIf((F.hasLocalLinkage() ||
                 (F.hasExternalLinkage() && F.isDSOLocal())) &&
                    (F.getCallingConv() == CallingConv::C ||
                     F.getCallingConv() == CallingConv::Fast),
                FunctionFacts::IsExact) |
         factIf(F.hasOptNone(), FunctionFacts::IsNotOptimized) |
         factIf(F.hasPersonalityFn() &&
                    isScopedEHPersonality(
                        classifyEHPersonality(F.getPersonalityFn())),
                FunctionFacts::HasFuncletPersonality) |
         factIf(F.hasLocalLinkage(), FunctionFacts::IsLocal) |
         factIf(F.hasComdat(), FunctionFacts::HasComdat) |
         factIf(ResolvesIFunc, FunctionFacts::IsIfuncResolver);
}

} // extern "C"
