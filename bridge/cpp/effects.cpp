//===- effects.cpp - What calls of the C library do -----------------------===//
//
// Passes replace calls of the C library by cheaper ones that do the same, and
// copies of constants by stores. Two instructions whose results nothing uses
// have the same effect if they are of one kind, have the same text, and the
// same operands:
//
//   Line(TEXT)         printf("TEXT\n"), puts("TEXT"), putchar('\n'),
//                      printf("%s\n", "TEXT")
//   Text(TEXT)         printf("TEXT"), putchar('T')
//   LineOf(p)          printf("%s\n", p), puts(p)
//   CharOf(c)          printf("%c", c), putchar(c)
//   To(TEXT, f)        fprintf(f, "TEXT"), fprintf(f, "%s", "TEXT"),
//                      fputs("TEXT", f), fputc('T', f),
//                      fwrite("TEXT", LENGTH, 1, f), the same with 1, LENGTH
//   TextTo(p, f)       fprintf(f, "%s", p), fputs(p, f)
//   CharTo(c, f)       fprintf(f, "%c", c), fputc(c, f)
//   Copy(TEXT, d)      strcpy(d, "TEXT"), sprintf(d, "TEXT"), memcpy to d of
//                      a constant, and the store of one
//   CopyOf(d, p)       strcpy(d, p), sprintf(d, "%s", p)
//
//===----------------------------------------------------------------------===//

#include "operations.h"
#include "llvm-c/Core.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include <optional>

using namespace llvm;
using namespace midflight;

namespace {

enum Kind : uint32_t {
  Line,
  Text,
  LineOf,
  CharOf,
  To,
  TextTo,
  CharTo,
  Copy,
  CopyOf,
};

struct Effect {
  uint32_t Is;
  std::string Bytes;
  SmallVector<uint32_t, 2> Operands; // their places
};

// Longer numbers are not written as text.
constexpr uint64_t MostBytes = 16;

std::optional<std::string> textOf(const Value *V) {
  StringRef Text;
  if (!getConstantStringInfo(V, Text))
    return std::nullopt;
  return Text.str();
}

std::string bytesOf(const APInt &Number) {
  std::string Bytes;
  for (unsigned Low = 0; Low != Number.getBitWidth(); Low += 8)
    Bytes.push_back(char(Number.extractBitsAsZExtValue(8, Low)));
  return Bytes;
}

// The constant bytes at an address.
std::optional<std::string> bytesAt(Value *V, uint64_t Count,
                                   const DataLayout &DL) {
  StringRef All;
  if (getConstantStringInfo(V, All, /*TrimAtNul=*/false) && Count <= All.size())
    return All.take_front(Count).str();
  auto *C = dyn_cast<Constant>(V);
  if (!C || Count > MostBytes || DL.isBigEndian())
    return std::nullopt;
  auto *T = IntegerType::get(V->getContext(), 8 * Count);
  auto *Number =
      dyn_cast_or_null<ConstantInt>(ConstantFoldLoadFromConstPtr(C, T, DL));
  if (!Number)
    return std::nullopt;
  return bytesOf(Number->getValue());
}

std::optional<uint64_t> numberOf(const Value *V) {
  auto *Number = dyn_cast<ConstantInt>(V);
  if (!Number || Number->getValue().getActiveBits() > 32)
    return std::nullopt;
  return Number->getZExtValue();
}

Effect printed(std::string Bytes) {
  if (!Bytes.empty() && Bytes.back() == '\n') {
    Bytes.pop_back();
    return {Line, Bytes, {}};
  }
  return {Text, Bytes, {}};
}

// What is written in a format: nothing but text, or all of one operand.
std::optional<Effect> formatted(const CallInst &Call, unsigned Format,
                                Effect OfText, uint32_t OfString,
                                uint32_t OfChar, unsigned Other) {
  std::optional<std::string> How = textOf(Call.getArgOperand(Format));
  if (!How)
    return std::nullopt;
  unsigned More = Call.arg_size() - Format - 1;
  if (How->find('%') == std::string::npos && !More) {
    if (OfText.Is == Text)
      return printed(*How);
    OfText.Bytes = *How;
    if (OfText.Is == Copy)
      OfText.Bytes.push_back(0);
    return OfText;
  }
  auto Of = [&](uint32_t Is) {
    SmallVector<uint32_t, 2> Operands{Format + 1};
    if (Is != LineOf && Is != CharOf)
      Operands.insert(Is == CopyOf ? Operands.begin() : Operands.end(), Other);
    return Effect{Is, "", Operands};
  };
  if (More != 1)
    return std::nullopt;
  Type *T = Call.getArgOperand(Format + 1)->getType();
  if (*How == (OfString == LineOf ? "%s\n" : "%s") && T->isPointerTy()) {
    auto Known = textOf(Call.getArgOperand(Format + 1));
    if (!Known)
      return Of(OfString);
    if (OfText.Is == Text)
      return printed(*Known + "\n");
    OfText.Bytes = OfText.Is == Copy ? *Known + '\0' : *Known;
    return OfText;
  }
  if (*How == "%c" && T->isIntegerTy(32) && OfChar != Copy)
    return Of(OfChar);
  return std::nullopt;
}

std::optional<Effect> effectOf(const CallInst &Call, const Function &Callee) {
  if (!mayBeOfLibrary(Call, Callee) || !Call.use_empty())
    return std::nullopt;
  // A function of another type is another function.
  auto Is = [&](StringRef Name, StringRef Types, bool IsVariadic = false) {
    FunctionType *T = Callee.getFunctionType();
    if (Callee.getName() != Name || T->isVarArg() != IsVariadic ||
        T->getNumParams() != Types.size())
      return false;
    for (unsigned N = 0; N != Types.size(); ++N) {
      Type *P = T->getParamType(N);
      if (Types[N] == 'p' ? !P->isPointerTy()
                          : !P->isIntegerTy(Types[N] == 'i' ? 32 : 64))
        return false;
    }
    return true;
  };
  auto Argument = [&](unsigned N) { return Call.getArgOperand(N); };
  auto CharOfNumber = [](uint64_t N) { return std::string(1, char(N)); };
  if (Is("printf", "p", true))
    return formatted(Call, 0, {Text, "", {}}, LineOf, CharOf, 0);
  if (Is("fprintf", "pp", true))
    return formatted(Call, 1, {To, "", {0}}, TextTo, CharTo, 0);
  if (Is("sprintf", "pp", true))
    return formatted(Call, 1, {Copy, "", {0}}, CopyOf, Copy, 0);
  if (Is("puts", "p")) {
    if (auto Known = textOf(Argument(0)))
      return Effect{Line, *Known, {}};
    return Effect{LineOf, "", {0}};
  }
  if (Is("putchar", "i")) {
    if (auto Char = numberOf(Argument(0)))
      return printed(CharOfNumber(*Char));
    return Effect{CharOf, "", {0}};
  }
  if (Is("fputs", "pp")) {
    if (auto Known = textOf(Argument(0)))
      return Effect{To, *Known, {1}};
    return Effect{TextTo, "", {0, 1}};
  }
  if (Is("fputc", "ip")) {
    if (auto Char = numberOf(Argument(0)))
      return Effect{To, CharOfNumber(*Char), {1}};
    return Effect{CharTo, "", {0, 1}};
  }
  if (Is("fwrite", "pllp")) {
    auto Size = numberOf(Argument(1)), Count = numberOf(Argument(2));
    StringRef All;
    if (!Size || !Count || (*Size != 1 && *Count != 1) ||
        !getConstantStringInfo(Argument(0), All, /*TrimAtNul=*/false) ||
        *Size * *Count > All.size())
      return std::nullopt;
    return Effect{To, All.take_front(*Size * *Count).str(), {3}};
  }
  if (Is("strcpy", "pp")) {
    if (auto Known = textOf(Argument(1)))
      return Effect{Copy, *Known + '\0', {0}};
    return Effect{CopyOf, "", {0, 1}};
  }
  return std::nullopt;
}

std::optional<Effect> effectOf(Instruction &I) {
  const DataLayout &DL = I.getModule()->getDataLayout();
  if (auto *Store = dyn_cast<StoreInst>(&I)) {
    auto *Number = dyn_cast<ConstantInt>(Store->getValueOperand());
    if (!Number || !Store->isSimple() || DL.isBigEndian() ||
        Number->getBitWidth() % 8 || Number->getBitWidth() > 8 * MostBytes)
      return std::nullopt;
    return Effect{Copy, bytesOf(Number->getValue()), {1}};
  }
  if (auto *Memory = dyn_cast<MemTransferInst>(&I)) {
    auto Length = numberOf(Memory->getLength());
    if (!Length || !*Length || Memory->isVolatile())
      return std::nullopt;
    if (auto Bytes = bytesAt(Memory->getRawSource(), *Length, DL))
      return Effect{Copy, *Bytes, {0}};
    return std::nullopt;
  }
  auto *Call = dyn_cast<CallInst>(&I);
  Function *Callee = Call ? Call->getCalledFunction() : nullptr;
  if (!Callee || Callee->isIntrinsic())
    return std::nullopt;
  return effectOf(*Call, *Callee);
}

} // namespace

extern "C" {

/// What an instruction of whose result nothing is used does, if it is known:
/// its kind, its bytes, to be freed, and up to two places of operands.
bool mfb_effect(LLVMValueRef Inst, uint32_t *Is, char **Bytes, size_t *Length,
                uint32_t *Places, size_t *Count) {
  std::optional<Effect> E = effectOf(*unwrap<Instruction>(Inst));
  if (!E)
    return false;
  *Is = E->Is;
  *Length = E->Bytes.size();
  *Bytes = static_cast<char *>(safe_malloc(E->Bytes.size() + 1));
  memcpy(*Bytes, E->Bytes.data(), E->Bytes.size());
  *Count = E->Operands.size();
  llvm::copy(E->Operands, Places);
  return true;
}

} // extern "C"
