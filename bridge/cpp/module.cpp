//===- module.cpp - Modules and their variables ---------------------------===//
//
// What modules are asked and told that llvm-c does not have.
//
//===----------------------------------------------------------------------===//

#include "llvm/IR/Module.h"
#include "llvm-c/Core.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

extern "C" {

void mfb_error(LLVMModuleRef M, const char *Text, size_t Length) {
  unwrap(M)->getContext().emitError(Twine(StringRef(Text, Length)));
}

void mfb_warning(LLVMModuleRef M, const char *Text, size_t Length) {
  std::string Message(Text, Length);
  // A kind that says nothing but the message, and that all versions have: a
  // missing one would be noticed before the host is refused.
  unwrap(M)->getContext().diagnose(
      DiagnosticInfoSampleProfile(Message, DS_Warning));
}

/// Prints to stdout through LLVM's own buffer, in order with what opt prints.
void mfb_print(const char *Text, size_t Length) {
  outs() << StringRef(Text, Length);
}

/// True if finding a thread-local variable takes a call: the code is for a
/// shared library.
bool mfb_is_for_library(LLVMModuleRef Module) {
  const llvm::Module &M = *unwrap(Module);
  return M.getPICLevel() != PICLevel::NotPIC &&
         M.getPIELevel() == PIELevel::Default;
}

/// True if the linker optimizes the module once more, with others.
bool mfb_is_for_lto(LLVMModuleRef Module) {
  const llvm::Module &M = *unwrap(Module);
  return M.getModuleFlag("ThinLTO") || M.getModuleFlag("EnableSplitLTOUnit") ||
         M.getModuleFlag("UnifiedLTO");
}

/// The name of the format of the target's object files, a literal.
const char *mfb_object_format(LLVMModuleRef Module) {
  Triple Target(unwrap(Module)->getTargetTriple());
  return Triple::getObjectFormatTypeName(Target.getObjectFormat()).data();
}

/// True if the size of the type is known at run time only.
bool mfb_is_scalable(LLVMTypeRef Type) { return unwrap(Type)->isScalableTy(); }

/// Removes the locations of a module that has no debug information to emit, as
/// if the front end had never tracked them. Does nothing, and returns false, if
/// something in this compilation may still read them.
bool mfb_strip_unread_locations(LLVMModuleRef Module) {
  llvm::Module &M = *unwrap(Module);
  // The range leaves out units that emit nothing.
  if (!M.getNamedMetadata("llvm.dbg.cu") || !M.debug_compile_units().empty())
    return false;
  LLVMContext &C = M.getContext();
  bool HasRemarks = C.getMainRemarkStreamer() || C.getLLVMRemarkStreamer() ||
                    C.getDiagHandlerPtr()->isAnyRemarkEnabled() ||
                    C.getMisExpectWarningRequested();
  bool MatchesProfile = M.getNamedMetadata("llvm.gcov") ||
                        M.getNamedMetadata("llvm.pseudo_probe_desc") ||
                        any_of(M, [](const Function &F) {
                          return F.hasFnAttribute("use-sample-profile");
                        });
  return !HasRemarks && !MatchesProfile && StripDebugInfo(M);
}

/// Keeps a variable from being taken for one that only the module knows, or for
/// a constant that nobody writes; the linker, too, from dropping it if asked.
void mfb_keep(LLVMValueRef Global, bool InLinker) {
  auto *GV = unwrap<GlobalVariable>(Global);
  (InLinker ? appendToUsed : appendToCompilerUsed)(*GV->getParent(), {GV});
}

/// Lets the linker keep one of equal globals: hidden linkonce_odr in a comdat
/// of its own name. It must not be in a function's comdat: code inlined from
/// that function refers to it from outside, also when the linker drops the
/// function.
void mfb_share(LLVMValueRef GlobalRef) {
  auto *Global = unwrap<GlobalVariable>(GlobalRef);
  Global->setLinkage(GlobalValue::LinkOnceODRLinkage);
  Global->setVisibility(GlobalValue::HiddenVisibility);
  Global->setComdat(Global->getParent()->getOrInsertComdat(Global->getName()));
}

} // extern "C"
