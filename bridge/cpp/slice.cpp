//===- slice.cpp - A function's IR in a module of its own, as bytes -------===//
//
// A slice is a module with one function, the base. What the base refers to
// stays in the program: it becomes a declaration with a numbered name, a link,
// and the caller gets the list of what the numbers stand for. Constants and
// small callees have their definition with them, available_externally, so that
// they can be folded and inlined; what those refer to are links in turn.
//
// A definition comes along only if it has no reason to be refused, so that what
// makes a slice of a function that is not refused cannot fail.
//
// Debug information goes before anything is mapped: of a function's scope it
// would pull in its unit's types. Instructions keep their order, one for one.
//
//===----------------------------------------------------------------------===//

#include "facts.h"
#include "llvm-c/Core.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/EHPersonalities.h"
#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/Compression.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace llvm;

extern "C" uint32_t mfb_instruction_facts(LLVMValueRef Ref);

namespace {

/// Why a function has no slice: numbers that slice.rs has too.
enum class Refusal : uint32_t {
  None,
  NoBody,
  BlockAddress,
  ThreadLocal,
  Coroutine,
  Naked,
  Assembly,
  SpecialAddress,
  LocalOfComdat,
  InterposableAlias,
  Copies,
};

/// How the bitcode is compressed: numbers of the ABI.
enum Compression : uint8_t { Plain = 0, Zlib = 1, Zstd = 2 };

/// The compression and, in 8 bytes, the length of the bitcode.
constexpr size_t Head = 9;

constexpr uint64_t MostBitcode = uint64_t(256) << 20;

/// The largest constant that comes along, and all together, in bytes.
constexpr uint64_t LargestConstant = 4096, MostConstants = 64 << 10;

/// The largest callee that comes along, and all together, in instructions; and
/// how many calls away it may be.
constexpr unsigned LargestCallee = 100, MostCallees = 1000, DeepestCallee = 3;

/// All copies for inlining that come along, in instructions.
constexpr unsigned MostCopies = 10000;

/// An attribute of a link that LLVM knows by its name, with that name.
constexpr char KnownName[] = "midflight-name";

//===----------------------------------------------------------------------===//
// What is refused
//===----------------------------------------------------------------------===//

/// What an alias surely is; null if another definition may take its place.
Constant *aliasee(const GlobalAlias &A) {
  return A.isInterposable() ? nullptr : const_cast<Constant *>(A.getAliasee());
}

bool isFunctionLike(const GlobalValue &GV) {
  return isa<FunctionType>(GV.getValueType());
}

Refusal refusalOfGlobal(const GlobalValue &GV) {
  if (GV.isThreadLocal())
    return Refusal::ThreadLocal;
  // As a link it would be an object of its own, which its aliasee is not.
  if (auto *A = dyn_cast<GlobalAlias>(&GV))
    return aliasee(*A) || isFunctionLike(GV) ? Refusal::None
                                             : Refusal::InterposableAlias;
  // Nothing outside a comdat may name what goes with it.
  auto *Object = dyn_cast<GlobalObject>(&GV);
  return Object && Object->hasLocalLinkage() && Object->hasComdat()
             ? Refusal::LocalOfComdat
             : Refusal::None;
}

/// What keeps a constant from being an operand in a slice.
Refusal refusalOfConstant(const Constant &Root) {
  SmallVector<const Constant *, 16> Work = {&Root};
  SmallPtrSet<const Constant *, 16> Seen = {&Root};
  while (!Work.empty()) {
    const Constant *C = Work.pop_back_val();
    if (isa<BlockAddress>(C))
      return Refusal::BlockAddress;
    if (isa<DSOLocalEquivalent, NoCFIValue, ConstantPtrAuth>(C))
      return Refusal::SpecialAddress;
    if (auto *GV = dyn_cast<GlobalValue>(C)) {
      if (Refusal R = refusalOfGlobal(*GV); R != Refusal::None)
        return R;
      auto *A = dyn_cast<GlobalAlias>(GV);
      Constant *Of = A ? aliasee(*A) : nullptr;
      if (Of && Seen.insert(Of).second)
        Work.push_back(Of);
      continue;
    }
    for (const Use &U : C->operands())
      if (auto *Operand = dyn_cast<Constant>(U))
        if (Seen.insert(Operand).second)
          Work.push_back(Operand);
  }
  return Refusal::None;
}

Refusal refusalOfAssembly(const CallBase &Call) {
  auto *Asm = dyn_cast<InlineAsm>(Call.getCalledOperand());
  if (!Asm)
    return Refusal::None;
  StringRef Text(Asm->getAsmString());
  for (StringRef Directive :
       {".globl", ".section", ".pushsection", ".set", ".symver"})
    if (Text.contains(Directive))
      return Refusal::Assembly;
  // A symbol: the program has it already, and inlining would repeat it.
  auto *Inst = const_cast<CallBase *>(&Call);
  bool Defines = mfb_instruction_facts(wrap(Inst)) & InstFacts::CannotDuplicate;
  return Defines ? Refusal::Assembly : Refusal::None;
}

/// A call that gives the address of a thread-local variable.
const IntrinsicInst *asThreadLocalAddress(const Instruction &I) {
  auto *II = dyn_cast<IntrinsicInst>(&I);
  bool Is = II && II->getIntrinsicID() == Intrinsic::threadlocal_address &&
            isa<GlobalValue>(II->getArgOperand(0));
  return Is ? II : nullptr;
}

Refusal refusalOf(const Instruction &I) {
  if (isa<IndirectBrInst>(I))
    return Refusal::BlockAddress;
  if (auto *Call = dyn_cast<CallBase>(&I))
    if (Refusal R = refusalOfAssembly(*Call); R != Refusal::None)
      return R;
  bool IsAddress = asThreadLocalAddress(I);
  for (const Use &U : I.operands()) {
    auto *C = dyn_cast<Constant>(U);
    if (!C || (IsAddress && U.getOperandNo() == 0))
      continue;
    if (Refusal R = refusalOfConstant(*C); R != Refusal::None)
      return R;
  }
  return Refusal::None;
}

Refusal refusalOf(const Function &F) {
  if (F.isDeclaration())
    return Refusal::NoBody;
  if (F.isPresplitCoroutine())
    return Refusal::Coroutine;
  if (F.hasFnAttribute(Attribute::Naked))
    return Refusal::Naked;
  if (F.hasPersonalityFn())
    if (Refusal R = refusalOfConstant(*F.getPersonalityFn());
        R != Refusal::None)
      return R;
  for (const BasicBlock &BB : F) {
    if (BB.hasAddressTaken())
      return Refusal::BlockAddress;
    for (const Instruction &I : BB)
      if (Refusal R = refusalOf(I); R != Refusal::None)
        return R;
  }
  return Refusal::None;
}

/// The function that a call surely calls.
Function *directCallee(const Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  Value *Callee = Call ? Call->getCalledOperand() : nullptr;
  while (auto *A = dyn_cast_or_null<GlobalAlias>(Callee))
    Callee = aliasee(*A);
  auto *F = dyn_cast_or_null<Function>(Callee);
  return F && F->getFunctionType() == Call->getFunctionType() ? F : nullptr;
}

/// True for a copy for inlining whose function there may be nowhere else: its
/// users are calls, which may all be inlined. The program must not come to need
/// its address by a link.
bool isJustCopy(const Function &F) {
  return F.hasAvailableExternallyLinkage() && !F.isDeclaration() &&
         !F.hasAddressTaken();
}

/// What keeps the copies that a function calls from coming along.
Refusal refusalOfCopies(const Function &Base) {
  SmallVector<const Function *, 8> Work = {&Base};
  SmallPtrSet<const Function *, 8> Seen = {&Base};
  unsigned Count = 0;
  while (!Work.empty())
    for (const Instruction &I : instructions(*Work.pop_back_val())) {
      const Function *F = directCallee(I);
      if (!F || !isJustCopy(*F) || !Seen.insert(F).second)
        continue;
      Count += F->getInstructionCount();
      if (Count > MostCopies)
        return Refusal::Copies;
      if (Refusal R = refusalOf(*F); R != Refusal::None)
        return R;
      Work.push_back(F);
    }
  return Refusal::None;
}

//===----------------------------------------------------------------------===//
// Making a slice
//===----------------------------------------------------------------------===//

/// True if callers may have the body of a function in them.
bool mayBeInlined(const Function &F) {
  if (F.isDeclaration() || F.isInterposable() || F.isVarArg() ||
      F.getInstructionCount() > LargestCallee)
    return false;
  for (auto Kind : {Attribute::NoInline, Attribute::OptimizeNone,
                    Attribute::NoDuplicate, Attribute::ReturnsTwice})
    if (F.hasFnAttribute(Kind))
      return false;
  return refusalOf(F) == Refusal::None && refusalOfCopies(F) == Refusal::None;
}

/// True if the value of a module flag is plain data.
bool isPlainFlag(const Metadata *Value) {
  if (auto *C = dyn_cast<ConstantAsMetadata>(Value))
    return isa<ConstantData>(C->getValue());
  auto *Node = dyn_cast<MDNode>(Value);
  return isa<MDString>(Value) ||
         (Node && all_of(Node->operands(), [](const MDOperand &Operand) {
            return isa_and_nonnull<MDString>(Operand.get());
          }));
}

/// Copies the module flags that code depends on.
void copyFlags(const Module &From, Module &To) {
  SmallVector<Module::ModuleFlagEntry, 16> Flags;
  From.getModuleFlagsMetadata(Flags);
  for (const Module::ModuleFlagEntry &Flag : Flags) {
    // With the last one, what comes along would not be definitive.
    bool Foreign = is_contained(
        {"Debug Info Version", "Dwarf Version", "DWARF64", "CodeView",
         "debug-info-assignment-tracking", "ThinLTO", "EnableSplitLTOUnit",
         "UnifiedLTO", "LTOPostLink", "Virtual Function Elim", "CG Profile",
         "ProfileSummary", "CSProfileSummary", "SemanticInterposition"},
        Flag.Key->getString());
    if (!Foreign && isPlainFlag(Flag.Val))
      To.addModuleFlag(Flag.Behavior, Flag.Key->getString(), Flag.Val);
  }
}

/// The function that returns the address of a thread-local variable, made in
/// the variable's module where there is none.
Function *threadLocalAccessor(GlobalValue &Variable) {
  Module &M = *Variable.getParent();
  std::string Name = ("midflight.tls." + Variable.getName()).str();
  if (Function *F = M.getFunction(Name); F && !F->isDeclaration())
    if (auto *Address = asThreadLocalAddress(F->getEntryBlock().front()))
      if (Address->getArgOperand(0) == &Variable)
        return F;
  auto *Type = FunctionType::get(Variable.getType(), /*isVarArg=*/false);
  auto *F =
      Function::Create(Type, GlobalValue::InternalLinkage,
                       M.getDataLayout().getProgramAddressSpace(), Name, &M);
  for (auto Kind :
       {Attribute::NoInline, Attribute::NoUnwind, Attribute::NoProfile})
    F->addFnAttr(Kind);
  IRBuilder<> B(BasicBlock::Create(M.getContext(), "", F));
  B.CreateRet(B.CreateThreadLocalAddress(&Variable));
  return F;
}

class Slicer final : ValueMaterializer {
  Function &Base;
  StringRef Prefix;
  Module Slice;
  // Of all functions together: scopes and groups of metadata are in several.
  ValueToValueMapTy VMap;
  SmallVector<GlobalValue *, 32> Links;
  // Variables of the slice with the definition that they may have.
  SmallVector<std::pair<GlobalVariable *, GlobalVariable *>, 16> Variables;
  SmallPtrSet<const Function *, 8> Accessors;
  // Functions of the module that are there as copies of the slice's own.
  SmallVector<Function *, 8> Copies;
  TargetLibraryInfoImpl Library;

public:
  Slicer(Function &Base, StringRef Name, StringRef Prefix)
      : Base(Base), Prefix(Prefix), Slice("midflight.slice", Base.getContext()),
        Library(Triple(Base.getParent()->getTargetTriple())) {
    const Module &M = *Base.getParent();
    Slice.setDataLayout(M.getDataLayout());
    Slice.setTargetTriple(M.getTargetTriple());
#if LLVM_VERSION_MAJOR < 20
    Slice.setIsNewDbgInfoFormat(M.IsNewDbgInfoFormat);
#endif
    copyFlags(M, Slice);
    defineBase(Name);
    defineCopies();
    defineCallees();
    defineCopies();
    defineConstants();
  }

  Module &module() { return Slice; }
  ArrayRef<GlobalValue *> links() const { return Links; }

private:
  void defineBase(StringRef Name) {
    auto *F =
        Function::Create(Base.getFunctionType(), GlobalValue::ExternalLinkage,
                         Base.getAddressSpace(), Name, &Slice);
    F->setAttributes(Base.getAttributes());
    F->setCallingConv(Base.getCallingConv());
    fill(Base, *F);
    // Under another name a loop of `memset` must not become a call of it.
    LibFunc Known;
    if (Library.getLibFunc(Base.getName(), Known))
      F->addFnAttr("no-builtins");
  }

  /// Gives copies their bodies, and those that they call.
  void defineCopies() {
    for (; !Copies.empty();) {
      Function *From = Copies.pop_back_val();
      fill(*From, *cast<Function>(VMap.lookup(From)));
    }
  }

  /// Gives callees their bodies, those next to the base first.
  void defineCallees() {
    SmallVector<std::pair<Function *, unsigned>, 16> Work = {{&Base, 0}};
    SmallPtrSet<Function *, 16> Seen = {&Base};
    unsigned Count = 0;
    for (size_t N = 0; N != Work.size(); ++N) {
      auto [Caller, Depth] = Work[N];
      if (Depth == DeepestCallee)
        break;
      for (Instruction &I : instructions(*Caller)) {
        Function *Callee = directCallee(I);
        if (!Callee || !Seen.insert(Callee).second || !mayBeInlined(*Callee))
          continue;
        unsigned Size = Callee->getInstructionCount();
        if (Count + Size > MostCallees)
          continue;
        Count += Size;
        // All that is called has its link: callers come before callees.
        auto *Link = cast<Function>(VMap.lookup(Callee));
        if (!Link->isDeclaration() || isJustCopy(*Callee))
          continue;
        Link->setLinkage(GlobalValue::AvailableExternallyLinkage);
        fill(*Callee, *Link);
        Work.emplace_back(Callee, Depth + 1);
      }
    }
  }

  void defineConstants() {
    uint64_t Size = 0;
    // The list grows by what initializers refer to.
    for (size_t N = 0; N != Variables.size(); ++N) {
      auto [From, To] = Variables[N];
      if (!From->isConstant() || !From->hasDefinitiveInitializer())
        continue;
      Constant *Value = From->getInitializer();
      uint64_t Bytes = Slice.getDataLayout().getTypeAllocSize(Value->getType());
      if (Bytes > LargestConstant || Size + Bytes > MostConstants ||
          refusalOfConstant(*Value) != Refusal::None)
        continue;
      Size += Bytes;
      To->setInitializer(MapValue(Value, VMap, RF_None, nullptr, this));
      To->setLinkage(GlobalValue::AvailableExternallyLinkage);
    }
  }

  /// Gives a function of the slice the body of another one.
  void fill(Function &From, Function &To) {
    for (auto [Old, New] : zip(From.args(), To.args())) {
      New.setName(Old.getName());
      VMap[&Old] = &New;
    }
    if (From.hasPersonalityFn())
      To.setPersonalityFn(From.getPersonalityFn());
    if (From.hasGC())
      To.setGC(From.getGC());
    for (unsigned Kind : {LLVMContext::MD_prof, LLVMContext::MD_kcfi_type})
      To.setMetadata(Kind, From.getMetadata(Kind));
    for (BasicBlock &BB : From)
      VMap[&BB] = CloneBasicBlock(&BB, VMap, "", &To);
    stripDebugInfo(To);
    for (Instruction &I : make_early_inc_range(instructions(To)))
      prepare(I);
    RemapFunction(To, VMap, RF_None, nullptr, this);
  }

  /// Changes a copied instruction that still has the operands of the original.
  void prepare(Instruction &I) {
    // These name functions, or sections of the program.
    for (unsigned Kind : {LLVMContext::MD_callees, LLVMContext::MD_pcsections})
      I.setMetadata(Kind, nullptr);
    auto *Address = asThreadLocalAddress(I);
    if (!Address)
      return;
    auto &Variable = *cast<GlobalValue>(Address->getArgOperand(0));
    Function *Accessor = threadLocalAccessor(Variable);
    Accessors.insert(Accessor);
    auto *Call = CallInst::Create(Accessor, {}, "", I.getIterator());
    AttributeSet Result = Address->getAttributes().getRetAttrs();
    Call->setAttributes(
        AttributeList::get(I.getContext(), AttributeSet(), Result, {}));
    Call->takeName(&I);
    // The only uses yet are those of the map.
    I.replaceAllUsesWith(Call);
    I.eraseFromParent();
  }

  /// What stands for a global in the slice.
  Value *materialize(Value *V) override {
    auto *GV = dyn_cast<GlobalValue>(V);
    if (!GV || GV->getParent() == &Slice)
      return nullptr;
    if (auto *F = dyn_cast<Function>(GV); F && F->isIntrinsic())
      return Slice
          .getOrInsertFunction(F->getName(), F->getFunctionType(),
                               F->getAttributes())
          .getCallee();
    // Only metadata still has one.
    if (GV->isThreadLocal())
      return PoisonValue::get(GV->getType());
    if (auto *A = dyn_cast<GlobalAlias>(GV))
      if (Constant *Of = aliasee(*A))
        return MapValue(Of, VMap, RF_None, nullptr, this);
    if (auto *F = dyn_cast<Function>(GV); F && isJustCopy(*F)) {
      auto *Copy =
          Function::Create(F->getFunctionType(), GlobalValue::InternalLinkage,
                           F->getAddressSpace(), "copy", &Slice);
      Copy->setAttributes(F->getAttributes());
      Copy->setCallingConv(F->getCallingConv());
      Copies.push_back(F);
      return Copy;
    }
    if (Constant *Own = compilersOwn(*GV))
      return Own;
    std::string Name = (Prefix + Twine(Links.size())).str();
    Links.push_back(GV);
    GlobalValue *Link = isFunctionLike(*GV) ? declareFunction(*GV, Name)
                                            : declareVariable(*GV, Name);
    Link->setUnnamedAddr(GV->getUnnamedAddr());
    return Link;
  }

  /// What only the compiler reads, the text of an annotation, is not in the
  /// program: it has no address, and comes along.
  Constant *compilersOwn(GlobalValue &GV) {
    auto *Text = dyn_cast<GlobalVariable>(&GV);
    if (!Text || Text->getSection() != "llvm.metadata" ||
        !Text->hasInitializer() || !isa<ConstantData>(Text->getInitializer()))
      return nullptr;
    auto *Own = new GlobalVariable(
        Slice, Text->getValueType(), Text->isConstant(),
        GlobalValue::PrivateLinkage, Text->getInitializer(), "annotation");
    Own->setSection(Text->getSection());
    return Own;
  }

  GlobalValue *declareFunction(GlobalValue &GV, StringRef Name) {
    // An alias that is left may be what another link is: of the linkages of
    // declarations this one says so.
    bool Weak = GV.hasExternalWeakLinkage() || isa<GlobalAlias>(GV);
    auto *Link = Function::Create(cast<FunctionType>(GV.getValueType()),
                                  Weak ? GlobalValue::ExternalWeakLinkage
                                       : GlobalValue::ExternalLinkage,
                                  GV.getAddressSpace(), Name, &Slice);
    auto *F = dyn_cast<Function>(&GV);
    if (!F)
      return Link;
    Link->setAttributes(F->getAttributes());
    Link->setCallingConv(F->getCallingConv());
    if (Accessors.contains(F)) {
      Link->setDoesNotAccessMemory();
      Link->setWillReturn();
    }
    LibFunc Known;
    bool IsKnown = Library.getLibFunc(F->getName(), Known) ||
                   classifyEHPersonality(F) != EHPersonality::Unknown;
    if (IsKnown && !F->hasLocalLinkage())
      Link->addFnAttr(KnownName, F->getName());
    return Link;
  }

  GlobalValue *declareVariable(GlobalValue &GV, StringRef Name) {
    auto *Variable = dyn_cast<GlobalVariable>(&GV);
    auto *Link = new GlobalVariable(
        Slice, GV.getValueType(), Variable && Variable->isConstant(),
        GV.hasExternalWeakLinkage() ? GlobalValue::ExternalWeakLinkage
                                    : GlobalValue::ExternalLinkage,
        nullptr, Name, nullptr, GlobalValue::NotThreadLocal,
        GV.getAddressSpace());
    if (Variable) {
      Link->setAlignment(Variable->getAlign());
      Variables.emplace_back(Variable, Link);
    }
    return Link;
  }
};

/// Bitcode behind its head.
SmallVector<uint8_t, 0> packed(const Module &M) {
  SmallVector<char, 0> Bitcode;
  raw_svector_ostream OS(Bitcode);
  WriteBitcodeToFile(M, OS);
  ArrayRef<uint8_t> In(reinterpret_cast<uint8_t *>(Bitcode.data()),
                       Bitcode.size());
  SmallVector<uint8_t, 0> Body, Bytes(Head);
  if (compression::zstd::isAvailable()) {
    Bytes[0] = Zstd;
    compression::zstd::compress(In, Body);
  } else if (compression::zlib::isAvailable()) {
    Bytes[0] = Zlib;
    compression::zlib::compress(In, Body);
  } else {
    Bytes[0] = Plain;
    Body.append(In.begin(), In.end());
  }
  support::endian::write64le(Bytes.data() + 1, In.size());
  Bytes.append(Body.begin(), Body.end());
  return Bytes;
}

char *message(const Twine &Text) {
  return LLVMCreateMessage(Text.str().c_str());
}

/// Null if a module is valid.
char *verified(const Module &M) {
  std::string Text;
  raw_string_ostream OS(Text);
  return verifyModule(M, &OS) ? message(OS.str()) : nullptr;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// While it lives, a context's diagnostics are texts of ours: the handler of a
/// context that has none ends the process.
class Collected {
  struct Handler final : DiagnosticHandler {
    std::string &Text;
    explicit Handler(std::string &Text) : Text(Text) {}
    bool handleDiagnostics(const DiagnosticInfo &DI) override {
      if (DI.getSeverity() != DS_Error)
        return true;
      raw_string_ostream OS(Text);
      DiagnosticPrinterRawOStream Printer(OS);
      OS << (Text.empty() ? "" : "; ");
      DI.print(Printer);
      return true;
    }
  };
  LLVMContext &Context;
  std::unique_ptr<DiagnosticHandler> Before;

public:
  std::string Text;

  explicit Collected(LLVMContext &Context)
      : Context(Context), Before(Context.getDiagnosticHandler()) {
    Context.setDiagnosticHandler(std::make_unique<Handler>(Text));
  }
  ~Collected() { Context.setDiagnosticHandler(std::move(Before)); }
};

/// The bitcode behind a head; Buffer has it where it was compressed.
Expected<ArrayRef<uint8_t>> unpacked(ArrayRef<uint8_t> Bytes,
                                     SmallVectorImpl<uint8_t> &Buffer) {
  auto Fail = [](const Twine &Text) {
    return createStringError(inconvertibleErrorCode(), Text);
  };
  if (Bytes.size() < Head)
    return Fail("it ends in its head, after " + Twine(Bytes.size()) +
                " bytes of " + Twine(Head));
  uint64_t Length = support::endian::read64le(Bytes.data() + 1);
  if (Length > MostBitcode)
    return Fail("it says that it has " + Twine(Length) +
                " bytes of bitcode; more than " + Twine(MostBitcode) +
                " are not read");
  ArrayRef<uint8_t> Body = Bytes.drop_front(Head);
  auto Without = [&](const char *Name) {
    return Fail(Twine("it is compressed by ") + Name +
                ", which this LLVM was built without");
  };
  switch (Bytes[0]) {
  case Plain:
    Buffer.append(Body.begin(), Body.end());
    break;
  case Zlib:
    if (!compression::zlib::isAvailable())
      return Without("zlib");
    if (Error E = compression::zlib::decompress(Body, Buffer, Length))
      return E;
    break;
  case Zstd:
    if (!compression::zstd::isAvailable())
      return Without("Zstandard");
    if (Error E = compression::zstd::decompress(Body, Buffer, Length))
      return E;
    break;
  default:
    return Fail("its compression has the unknown number " +
                Twine(unsigned(Bytes[0])));
  }
  if (Buffer.size() != Length)
    return Fail("it has " + Twine(Buffer.size()) + " bytes of bitcode, not " +
                Twine(Length));
  return ArrayRef<uint8_t>(Buffer);
}

Expected<std::unique_ptr<Module>> read(ArrayRef<uint8_t> Bytes,
                                       LLVMContext &Context) {
  SmallVector<uint8_t, 0> Buffer;
  auto Bitcode = unpacked(Bytes, Buffer);
  if (!Bitcode)
    return Bitcode.takeError();
  return parseBitcodeFile(
      MemoryBufferRef(toStringRef(*Bitcode), "midflight.slice"), Context);
}

} // namespace

extern "C" {

/// Why a function has no slice; 0 if it has one.
uint32_t mfb_slice_refusal(LLVMValueRef Fn) {
  Function &F = *unwrap<Function>(Fn);
  Refusal R = refusalOf(F);
  return static_cast<uint32_t>(R == Refusal::None ? refusalOfCopies(F) : R);
}

/// Makes the slice of a function that is not refused: calls back with its bytes
/// and with what its links are, in order. Null, or a message to be freed with
/// LLVMDisposeMessage if the slice is broken.
char *mfb_slice(LLVMValueRef Fn, const char *Name, const char *Prefix, void *To,
                void (*Take)(void *, const char *, size_t),
                void (*Link)(void *, LLVMValueRef), size_t *Instructions) {
  Slicer S(*unwrap<Function>(Fn), Name, Prefix);
  if (char *Message = verified(S.module()))
    return Message;
  *Instructions = S.module().getInstructionCount();
  SmallVector<uint8_t, 0> Bytes = packed(S.module());
  Take(To, reinterpret_cast<const char *>(Bytes.data()), Bytes.size());
  for (GlobalValue *GV : S.links())
    Link(To, wrap(GV));
  return nullptr;
}

/// The module of a slice's bytes; null after a call back with what is wrong.
LLVMModuleRef mfb_read_slice(const uint8_t *Bytes, size_t Length,
                             LLVMContextRef ContextRef, void *To,
                             void (*Fail)(void *, const char *, size_t)) {
  LLVMContext &Context = *unwrap(ContextRef);
  Collected Diagnostics(Context);
  auto Give = [&](StringRef Text) {
    Fail(To, Text.data(), Text.size());
    return nullptr;
  };
  auto M = read(ArrayRef<uint8_t>(Bytes, Length), Context);
  if (!M)
    return Give(toString(M.takeError()));
  if (!Diagnostics.Text.empty())
    return Give(Diagnostics.Text);
  if (char *Broken = verified(**M)) {
    Give(Broken);
    LLVMDisposeMessage(Broken);
    return nullptr;
  }
  return wrap(M->release());
}

/// Gives links that LLVM knows by their names those names back, where they are
/// free. Calls back with the name of a link before and after.
void mfb_restore_names(LLVMModuleRef ModuleRef, void *To,
                       void (*Add)(void *, const char *, size_t)) {
  Module &M = *unwrap(ModuleRef);
  for (Function &F : M) {
    std::string Known = F.getFnAttribute(KnownName).getValueAsString().str();
    if (Known.empty() || !F.isDeclaration() || M.getNamedValue(Known))
      continue;
    std::string Before = F.getName().str();
    F.setName(Known);
    Add(To, Before.data(), Before.size());
    Add(To, Known.data(), Known.size());
  }
}

/// Null if a module is valid, else a message to be freed with
/// LLVMDisposeMessage.
char *mfb_verify_module(LLVMModuleRef M) { return verified(*unwrap(M)); }

/// Moves what is in a module into another one of its context, and disposes of
/// it. Null, or a message to be freed with LLVMDisposeMessage.
char *mfb_link(LLVMModuleRef Into, LLVMModuleRef From) {
  std::unique_ptr<Module> M(unwrap(From));
  Collected Diagnostics(M->getContext());
  if (!Linker::linkModules(*unwrap(Into), std::move(M)))
    return nullptr;
  return message(Diagnostics.Text.empty() ? "they cannot be linked"
                                          : Diagnostics.Text);
}

bool mfb_has_address_taken(LLVMValueRef Fn) {
  return unwrap<Function>(Fn)->hasAddressTaken();
}

/// Makes a function one that is inlined wherever it is called. False if it must
/// not be.
bool mfb_add_always_inline(LLVMValueRef Fn) {
  Function &F = *unwrap<Function>(Fn);
  if (F.hasFnAttribute(Attribute::NoInline) ||
      F.hasFnAttribute(Attribute::OptimizeNone))
    return false;
  F.addFnAttr(Attribute::AlwaysInline);
  return true;
}

} // extern "C"
