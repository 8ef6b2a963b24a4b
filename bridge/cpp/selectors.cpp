//===- selectors.cpp - Selectors of exceptions in every version -----------===//
//
// Landing pads and resumes of a function, and the glue that makes what they
// pass on mean the same in all of its versions.
//
//===----------------------------------------------------------------------===//

#include "osr.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;
using namespace midflight;

namespace {

void markGlue(Value *V) {
  if (auto *I = dyn_cast<Instruction>(V))
    I->setMetadata(GlueKind, MDNode::get(I->getContext(), {}));
}

bool isGlue(const Value *V) {
  auto *I = dyn_cast_or_null<Instruction>(V);
  return I && I->hasMetadata(GlueKind);
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
          if (II->getIntrinsicID() == Intrinsic::eh_typeid_for && !isGlue(II))
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
      // What it resumes is its own again if there is a point already.
      auto *Resume = dyn_cast<ResumeInst>(BB.getTerminator());
      if (Resume && !isGlue(Resume->getValue()))
        Resumes.push_back(Resume);
    }
    for (IntrinsicInst *II : Questions)
      add(II->getArgOperand(0));
    Type *Expected = StructType::get(PointerType::get(F.getContext(), 0),
                                     Type::getInt32Ty(F.getContext()));
    for (LandingPadInst *Pad : Pads) {
      // A function that has a point already has portable selectors.
      if (Pad->getType() != Expected || isGlue(Pad->getNextNode()))
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

} // namespace

void midflight::makeSelectorsPortable(Function &F) {
  PortableSelectors(F).run();
}
