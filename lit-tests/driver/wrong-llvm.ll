; The plugin of another LLVM is one clear line, not a crash.
; REQUIRES: other-llvm
; RUN: not opt -load-pass-plugin=%other_plugin -passes=path-profile-gen -disable-output %s 2>&1 | FileCheck %s
; CHECK: midflight: error: loading the plugin: it was built for LLVM {{[0-9]+}} and this program is LLVM {{[0-9]+}}; use the plugin built for LLVM
define void @f() {
  ret void
}
