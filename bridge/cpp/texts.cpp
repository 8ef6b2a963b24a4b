//===- texts.cpp - Names and instructions as the IR writer prints them ----===//
//
// For remarks, records of mappings, and the fuzzer.
//
//===----------------------------------------------------------------------===//

#include "llvm-c/Core.h"
#include "llvm/IR/AssemblyAnnotationWriter.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ModuleSlotTracker.h"
#include "llvm/Support/FormattedStream.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace {

/// Marks where the text of an instruction begins and ends. The writer escapes
/// such characters in all that it prints.
struct Marks final : AssemblyAnnotationWriter {
  static constexpr char Begin = '\1', End = '\2';
  void emitInstructionAnnot(const Instruction *,
                            formatted_raw_ostream &OS) override {
    OS << Begin;
  }
  void printInfoComment(const Value &V, formatted_raw_ostream &OS) override {
    if (isa<Instruction>(V))
      OS << End;
  }
};

// What a function's values are called, as the IR writer prints them.
class Names {
  ModuleSlotTracker Slots;

public:
  explicit Names(Function &F)
      : Slots(F.getParent(), /*ShouldInitializeAllMetadata=*/false) {
    Slots.incorporateFunction(F);
  }

  std::string of(const Value &V) {
    std::string Text;
    raw_string_ostream OS(Text);
    V.printAsOperand(OS, /*PrintType=*/false, Slots);
    return Text;
  }
};

} // namespace

extern "C" {

/// Calls back with the name of each argument and of each instruction that has a
/// result, as the IR writer prints it ("%5", "%i"), in their order.
void mfb_value_names(LLVMValueRef Fn, void *To,
                     void (*Add)(void *, const char *, size_t)) {
  Function &F = *unwrap<Function>(Fn);
  Names Names(F);
  auto Tell = [&](Value &V) {
    std::string Text = Names.of(V);
    Add(To, Text.data(), Text.size());
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
  Names Names(F);
  for (BasicBlock &BB : F) {
    std::string Text = Names.of(BB);
    Add(To, Text.data(), Text.size());
  }
}

/// Calls back with the text of each block's name and of each instruction, as
/// the IR writer prints them: a block's name is followed by its instructions.
void mfb_texts(LLVMValueRef Fn, void *To,
               void (*Add)(void *, bool, const char *, size_t)) {
  Function &F = *unwrap<Function>(Fn);
  Names Names(F);
  // All at once: for each value that is printed by itself the writer looks at
  // all globals of the module.
  std::string All;
  raw_string_ostream AllOS(All);
  Marks Writer;
  F.print(AllOS, &Writer);
  StringRef Rest = AllOS.str();
  for (BasicBlock &BB : F) {
    std::string Name = Names.of(BB);
    StringRef Trimmed = StringRef(Name).trim();
    Add(To, true, Trimmed.data(), Trimmed.size());
    for (size_t N = 0, Count = BB.size(); N != Count; ++N) {
      auto [Text, Behind] = Rest.split(Marks::Begin).second.split(Marks::End);
      Rest = Behind;
      Text = Text.trim();
      Add(To, false, Text.data(), Text.size());
    }
  }
}

} // extern "C"
