//===- plugin.cpp - What only a plugin has --------------------------------===//
//
// The check of the host's version when the library is loaded, the option
// -midflight, and the passes that LLVM's pipelines are told of. Calls into Rust
// go through the `mf_rust_*` functions, which never unwind.
//
//===----------------------------------------------------------------------===//

#include "inliner.h"
#include "unroll.h"

#include "llvm-c/Core.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"

#include <cstdio>
#include <dlfcn.h>
#include <memory>
#include <optional>
#include <unistd.h>
#include <utility>

using namespace llvm;

namespace {

//===----------------------------------------------------------------------===//
// The host
//===----------------------------------------------------------------------===//

// A plugin of another LLVM crashes its host in static initialisers, before
// LLVM compares API versions. This runs before them.
__attribute__((constructor(101))) void refuseOtherHosts() {
  using GetVersion = void (*)(unsigned *, unsigned *, unsigned *);
  auto Host =
      reinterpret_cast<GetVersion>(dlsym(RTLD_DEFAULT, "LLVMGetVersion"));
  if (!Host)
    return;
  unsigned Major = 0, Minor = 0, Patch = 0;
  Host(&Major, &Minor, &Patch);
  if (Major == LLVM_VERSION_MAJOR)
    return;
  fprintf(stderr,
          "midflight: error: loading the plugin: it was built for LLVM %d and "
          "this program is LLVM %u; use the plugin built for LLVM %u\n",
          LLVM_VERSION_MAJOR, Major, Major);
  _exit(1);
}

cl::opt<std::string>
    PluginOptions("midflight", cl::value_desc("key=value;..."),
                  cl::desc("Options of the Midflight plugin, for example "
                           "k=8;stage=late (see its guide)"));

bool hostIsOpt() { return cl::getRegisteredOptions().count("passes") != 0; }

StringRef hostOptions() {
  if (PluginOptions.getNumOccurrences())
    return PluginOptions.getValue();
  if (const char *Env = getenv("MIDFLIGHT_OPTIONS"))
    return Env;
  return StringRef();
}

} // namespace

//===----------------------------------------------------------------------===//
// Passes: C++ objects that call a boxed Rust pass
//===----------------------------------------------------------------------===//

extern "C" {
/// Makes the pass called `Name`, which may be followed by a nested pipeline in
/// parentheses; null if the name is not ours.
void *mf_rust_parse_pass(const char *Name, size_t Length);
/// Makes the pass that options ask for, and says at which extension point it
/// runs.
void *mf_rust_pipeline_pass(const char *Options, size_t Length,
                            uint32_t *Point);
/// Runs it over a module. True if the module was changed.
bool mf_rust_run_pass(void *Pass, LLVMModuleRef M, void *FAM, void *MAM);
void mf_rust_drop_pass(void *Pass);
}

namespace {

class RustPass : public PassInfoMixin<RustPass> {
  std::shared_ptr<void> Pass;

public:
  explicit RustPass(void *P) {
    if (P)
      Pass.reset(P, mf_rust_drop_pass);
  }

  explicit operator bool() const { return Pass != nullptr; }

  PreservedAnalyses run(Module &M, ModuleAnalysisManager &MAM) {
    auto &FAM =
        MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
    return mf_rust_run_pass(Pass.get(), wrap(&M), &FAM, &MAM)
               ? PreservedAnalyses::none()
               : PreservedAnalyses::all();
  }

  // Instrumentation is no optimization: it runs under optnone and -O0 too.
  static bool isRequired() { return true; }
};

// What runs first, but behind clang's coverage by gcov: that stands behind
// plugins in the pipeline, and must see what the front end made.
class FirstPasses : public PassInfoMixin<FirstPasses> {
  struct State {
    ModulePassManager Passes;
    ModuleAnalysisManager *Waiting = nullptr;
  };
  std::shared_ptr<State> Own = std::make_shared<State>();
  bool CanWait;

public:
  FirstPasses(ModulePassManager Passes, PassInstrumentationCallbacks *Host)
      : CanWait(Host) {
    Own->Passes = std::move(Passes);
    if (!Host)
      return;
    // Before the next pass that is not gcov's.
    Host->registerBeforeNonSkippedPassCallback(
        [Own = Own](StringRef Pass, Any IR) {
          auto *M = any_cast<const Module *>(&IR);
          if (!Own->Waiting || !M || Pass == "GCOVProfilerPass")
            return;
          ModuleAnalysisManager &MAM = *std::exchange(Own->Waiting, nullptr);
          Module &Mutable = const_cast<Module &>(**M);
          MAM.invalidate(Mutable, Own->Passes.run(Mutable, MAM));
        });
  }

  PreservedAnalyses run(Module &M, ModuleAnalysisManager &MAM) {
    if (!CanWait || !M.getNamedMetadata("llvm.gcov"))
      return Own->Passes.run(M, MAM);
    Own->Waiting = &MAM;
    return PreservedAnalyses::all();
  }

  static bool isRequired() { return true; }
};

enum ExtensionPoint : uint32_t {
  PointStart = 0,
  PointInlined = 1,
  PointLast = 2,
};

// The pass of a standard pipeline. Options are parsed, and what they name is
// read, when the pipeline comes to its first extension point, and only then.
class PipelinePass {
  std::optional<RustPass> Made;
  uint32_t Wanted = PointStart;

  const RustPass &get() {
    if (!Made) {
      StringRef Options = hostOptions();
      // opt runs what -passes names.
      bool IsNone = Options.empty() && hostIsOpt();
      Made.emplace(IsNone ? nullptr
                          : mf_rust_pipeline_pass(Options.data(),
                                                  Options.size(), &Wanted));
    }
    return *Made;
  }

public:
  void addTo(ModulePassManager &MPM, OptimizationLevel Level,
             ExtensionPoint Point) {
    const RustPass &Pass = get();
    if (!Pass || Point != Wanted)
      return;
    if (Point == PointInlined)
      midflight::addInliner(MPM, Level);
    MPM.addPass(RustPass(Pass));
  }
};

// The text that a nested pipeline was parsed from.
std::string pipelineText(ArrayRef<PassBuilder::PipelineElement> Elements) {
  std::string Text;
  for (const auto &Element : Elements) {
    if (!Text.empty())
      Text += ',';
    Text += Element.Name;
    if (!Element.InnerPipeline.empty())
      Text += "(" + pipelineText(Element.InnerPipeline) + ")";
  }
  return Text;
}

} // namespace

extern "C" {

void mfp_register_callbacks(void *PassBuilderPtr) {
  auto &PB = *static_cast<PassBuilder *>(PassBuilderPtr);
  auto Pass = std::make_shared<PipelinePass>();
  PB.registerPipelineParsingCallback(
      [](StringRef Name, ModulePassManager &MPM,
         ArrayRef<PassBuilder::PipelineElement> Inner) {
        std::string Text = Name.str();
        if (!Inner.empty())
          Text += "(" + pipelineText(Inner) + ")";
        void *P = mf_rust_parse_pass(Text.data(), Text.size());
        if (P)
          MPM.addPass(RustPass(P));
        return P != nullptr;
      });
  PB.registerPipelineParsingCallback(
      [](StringRef Name, FunctionPassManager &FPM,
         ArrayRef<PassBuilder::PipelineElement>) {
        if (Name != "path-profile-unroll")
          return false;
        FPM.addPass(midflight::UnrollMarkedPass());
        return true;
      });
  PB.registerVectorizerStartEPCallback(
      [](FunctionPassManager &FPM, OptimizationLevel) {
        if (hostOptions().ltrim().starts_with("use="))
          FPM.addPass(midflight::UnrollMarkedPass());
      });
  PB.registerPipelineStartEPCallback(
      [&PB, Pass](ModulePassManager &MPM, OptimizationLevel Level) {
        ModulePassManager First;
        Pass->addTo(First, Level, PointStart);
        Pass->addTo(First, Level, PointInlined);
        if (!First.isEmpty())
          MPM.addPass(FirstPasses(std::move(First),
                                  PB.getPassInstrumentationCallbacks()));
      });
#if LLVM_VERSION_MAJOR >= 20
  PB.registerOptimizerLastEPCallback(
      [Pass](ModulePassManager &MPM, OptimizationLevel Level,
             ThinOrFullLTOPhase) { Pass->addTo(MPM, Level, PointLast); });
#else
  PB.registerOptimizerLastEPCallback(
      [Pass](ModulePassManager &MPM, OptimizationLevel Level) {
        Pass->addTo(MPM, Level, PointLast);
      });
#endif
}

} // extern "C"
