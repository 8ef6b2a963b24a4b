"""lit configuration: `LLVM_BIN` and `MIDFLIGHT_PLUGIN` say which LLVM and which plugin are tested.

Without them, LLVM 22 and the plugin that `make build` leaves are taken.
"""

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
config.environment.pop("MIDFLIGHT_OPTIONS", None)
config.available_features.add("llvm" + major)

config.substitutions += [
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
