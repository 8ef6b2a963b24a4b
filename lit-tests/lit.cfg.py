"""lit configuration: `LLVM_BIN` and `MIDFLIGHT_PLUGIN` say which LLVM and which plugin are tested.

Without them, LLVM 22 and the plugin that `make build` leaves are taken. The tests in `run` build
programs at the level and stage that `MIDFLIGHT_LEVEL` names, `-O2` by default.
"""

import glob
import os
import re

import lit.formats

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
llvm_bin = os.environ.get("LLVM_BIN", "/usr/lib/llvm-22/bin")
major = re.search(r"llvm-(\d+)", llvm_bin).group(1)
plugin = os.environ.get(
    "MIDFLIGHT_PLUGIN",
    os.path.join(root, "target/release/lib/midflight", "llvm-" + major, "libmidflight.so"),
)

config.name = "midflight-llvm" + major
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".ll", ".c", ".cpp", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))
config.test_exec_root = os.path.join(root, "target/lit", "llvm-" + major)
config.environment["PATH"] = llvm_bin + os.pathsep + os.environ["PATH"]
config.available_features.add("llvm" + major)
config.available_features.add("level" + os.environ.get("MIDFLIGHT_LEVEL", "-O2"))
if glob.glob(os.path.join(os.path.dirname(llvm_bin), "lib/clang/*/lib/*/libclang_rt.tsan*.a")):
    config.available_features.add("sanitizers")
if glob.glob(os.path.join(os.path.dirname(llvm_bin), "lib/clang/*/lib/*/libclang_rt.profile*.a")):
    config.available_features.add("profile-runtime")
with open("/proc/cpuinfo") as cpu:
    if re.search(r"\bavx\b", cpu.read()):
        config.available_features.add("avx")

release = os.path.join(root, "target/release")
midflight = os.environ.get("MIDFLIGHT", os.path.join(release, "midflight"))
config.environment["MIDFLIGHT_OPTIONS"] = "verify"
config.environment["MIDFLIGHT_LIB_DIR"] = os.environ.get(
    "MIDFLIGHT_LIB_DIR", os.path.join(release, "lib/midflight")
)

other_plugin = os.path.join(
    release, "lib/midflight", "llvm-19" if major == "22" else "llvm-22", "libmidflight.so"
)
if os.path.exists(other_plugin):
    config.available_features.add("other-llvm")

# OSR tests give the plugin its options themselves, and link the runtime themselves.
lib_dir = config.environment["MIDFLIGHT_LIB_DIR"]
config.substitutions += [
    ("%runtime_include", os.path.join(root, "runtime-lib/include")),
    ("%runtime", "-pthread -Wl,--undefined=midflight_image " + os.path.join(lib_dir, "libmidflight_rt.a")),
    ("%fire", "python3 " + os.path.join(config.test_source_root, "osr/Inputs/fire.py")),
    ("%open", "python3 " + os.path.join(config.test_source_root, "osr/Inputs/open.py")),
    ("%osr=", "-Xclang -mllvm -Xclang -midflight="),
]

config.substitutions += [
    ("%other_plugin", other_plugin),
    ("%jit", os.path.join(os.path.dirname(plugin), "libmidflight_jit-" + major + ".so")),
    ("%plugin_dir", os.path.dirname(plugin)),
    ("%plugin_include", os.path.join(root, "plugin/include")),
    ("%llvm_root", os.path.dirname(llvm_bin)),
    ("%llvm", major),
    ("%cc", midflight + " cc --midflight-llvm=" + major),
    ("%cxx", midflight + " c++ --midflight-llvm=" + major),
    ("%level", os.environ.get("MIDFLIGHT_LEVEL", "-O2")),
    ("%show", midflight + " show --format json"),
    ("%midflight", midflight),
    ("%python_malloc", "python3 " + os.path.join(config.test_source_root, "run/Inputs/malloc.py")),
    (
        "%algorithms",
        "python3 " + os.path.join(config.test_source_root, "run/Inputs/algorithms.py") + " " + midflight,
    ),
    ("%vm", os.environ.get("MIDFLIGHT_VM", os.path.join(os.path.dirname(plugin), "midflight-vm"))),
    ("%malloc", os.path.join(root, "bench/corpus/malloc")),
    ("%tree", "python3 " + os.path.join(config.test_source_root, "contexts/Inputs/tree.py")),
    ("%expect", "python3 " + os.path.join(config.test_source_root, "run/Inputs/expect.py")),
    ("%opt", "opt -load-pass-plugin=" + plugin),
    # LLVM 19 must load the plugin before it reads -mllvm, which -fplugin does.
    (
        "%clangxx",
        "clang++ -fpass-plugin=" + plugin + (" -fplugin=" + plugin if int(major) < 20 else ""),
    ),
    (
        "%clang",
        "clang -fpass-plugin=" + plugin + (" -fplugin=" + plugin if int(major) < 20 else ""),
    ),
    ("%plugin", plugin),
]
