; Bad options are one clear error of the compiler, and so is a defect inside the plugin.
; RUN: not %opt -passes='cct-profile-gen<stage=last>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=STAGE
; RUN: not %opt -passes='cct-profile-gen<granularity=lines>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=GRANULARITY
; RUN: not %opt -passes='cct-profile-gen<k=2>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=UNKNOWN
; RUN: not %opt -passes='cct-profile-gen<functions=%t.missing>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=LIST
; RUN: not %opt -passes='cct-profile-gen<debug-panic-at=f>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=PANIC
; RUN: not %opt -mtriple=x86_64-apple-macosx -passes='cct-profile-gen' -disable-output %s 2>&1 | FileCheck %s --check-prefix=TARGET
; STAGE: error: midflight: pass 'cct-profile-gen<stage=last>': option 'stage=last': it must be early, inlined or late
; GRANULARITY: error: {{.*}}option 'granularity=lines': it must be sites or functions
; UNKNOWN: error: {{.*}}unknown option 'k=2'; known are stage=early|inlined|late
; LIST: error: {{.*}}reading the list of functions '{{.*}}.missing': No such file
; PANIC: error: midflight: internal error while instrumenting calls of function 'f': {{.*}}asked for by debug-panic-at{{.*}}please report it
; PANIC-NOT: backtrace
; TARGET: error: midflight: instrumenting a module: the target's object files are macho, and only elf is supported
define void @f() {
  ret void
}
