//===- bursts.cpp - The second body of a function -------------------------===//
//
// A function that is counted in bursts has two bodies: its own and a copy. Its
// entry jumps to the copy while there is a burst.
//
//===----------------------------------------------------------------------===//

#include "llvm-c/Core.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace llvm;

namespace {

using Tables = SetVector<GlobalVariable *>;

// True if a use of a block's address, or of a table of such, serves computed
// gotos of this activation alone: what is kept longer may be used by one that
// runs the other body.
bool isJumpedToAlone(const User *U, SmallPtrSetImpl<const User *> &Seen) {
  if (isa<IndirectBrInst, ICmpInst>(U) || !Seen.insert(U).second)
    return true;
  return isa<LoadInst, GetElementPtrInst, CastInst, PHINode, SelectInst,
             FreezeInst, BinaryOperator>(U) &&
         all_of(U->users(),
                [&](const User *Of) { return isJumpedToAlone(Of, Seen); });
}

// Collects the variables, local to the module and constant, that hold addresses
// of a function's blocks and that it alone uses: tables of computed gotos.
// False if such an address is elsewhere, where it says which body is meant.
bool findTables(const Function &F, const User *U, bool IsOfTable,
                Tables &Found) {
  if (auto *I = dyn_cast<Instruction>(U)) {
    SmallPtrSet<const User *, 16> Seen;
    return I->getFunction() == &F && isJumpedToAlone(I, Seen);
  }
  if (auto *GV = dyn_cast<GlobalVariable>(U)) {
    // An address of a table in another one would have to be followed, too.
    if (IsOfTable || !GV->isConstant() || !GV->hasLocalLinkage())
      return false;
    if (!Found.insert(const_cast<GlobalVariable *>(GV)))
      return true;
    return all_of(GV->users(), [&](const User *Of) {
      return findTables(F, Of, true, Found);
    });
  }
  if (isa<GlobalValue>(U) || !isa<Constant>(U))
    return false;
  return all_of(U->users(), [&](const User *Of) {
    return findTables(F, Of, IsOfTable, Found);
  });
}

bool isPassedByMustTail(const Function &F) {
  // LLVM saves the registers for va_start and for the jump in one place.
  if (F.isVarArg())
    return false;
  switch (F.getCallingConv()) {
  case CallingConv::C:
  case CallingConv::Fast:
  case CallingConv::Cold:
  case CallingConv::PreserveMost:
  case CallingConv::X86_64_SysV:
  case CallingConv::AArch64_VectorCall:
    break;
  default:
    return false;
  }
  // Whose memory these are depends on the frame.
  return none_of(F.args(), [](const Argument &A) {
    return A.hasByValAttr() || A.hasInAllocaAttr() || A.hasPreallocatedAttr() ||
           A.hasSwiftErrorAttr();
  });
}

// True if code generation adds calls that tell which function is entered.
bool isTraced(const Function &F) {
  for (StringRef Kind : {"fentry-call", "function-instrument",
                         "instrument-function-entry-inlined",
                         "instrument-function-exit-inlined"})
    if (F.hasFnAttribute(Kind))
      return true;
  return false;
}

} // namespace

extern "C" {

/// A copy of a function that its entry can jump to; local, and in the same
/// group of the linker. Null if there can be none: if its arguments are not
/// passed on by a jump, or addresses of its blocks are known elsewhere.
LLVMValueRef mfb_copy_body(LLVMValueRef Fn, const char *Name) {
  Function &F = *unwrap<Function>(Fn);
  if (!isPassedByMustTail(F) || isTraced(F))
    return nullptr;
  Tables Found;
  for (const BasicBlock &BB : F)
    if (BB.hasAddressTaken())
      for (const User *U : BB.users())
        if (auto *Address = dyn_cast<BlockAddress>(U))
          for (const User *Of : Address->users())
            if (!findTables(F, Of, false, Found))
              return nullptr;
  ValueToValueMapTy VMap;
  SmallVector<std::pair<GlobalVariable *, GlobalVariable *>, 2> Copied;
  for (GlobalVariable *Table : Found) {
    auto *Its = new GlobalVariable(
        *F.getParent(), Table->getValueType(), true, Table->getLinkage(),
        nullptr, Table->getName(), Table, Table->getThreadLocalMode(),
        Table->getAddressSpace());
    Its->copyAttributesFrom(Table);
    Its->setComdat(Table->getComdat());
    VMap[Table] = Its;
    Copied.emplace_back(Table, Its);
  }
  Function *Copy = CloneFunction(&F, VMap);
  for (auto [Table, Its] : Copied)
    Its->setInitializer(MapValue(Table->getInitializer(), VMap));
  Copy->setName(Name);
  Copy->setLinkage(GlobalValue::InternalLinkage);
  Copy->setVisibility(GlobalValue::DefaultVisibility);
  Copy->setDLLStorageClass(GlobalValue::DefaultStorageClass);
  Copy->setDSOLocal(true);
  Copy->setComdat(F.getComdat());
  Copy->setPrefixData(nullptr);
  Copy->setPrologueData(nullptr);
  // What runs between bursts is not to be spread by it.
  if (!Copy->hasSection())
    Copy->setSectionPrefix("unlikely");
  Copy->addFnAttr(Attribute::NoInline);
  Copy->removeFnAttr(Attribute::AlwaysInline);
  return wrap(Copy);
}

} // extern "C"
