; What is inserted needs ELF: for other formats of object files, the compiler stops with one error.
; RUN: not %opt -mtriple=x86_64-apple-macosx -passes=path-profile-gen -disable-output %s 2>&1 | FileCheck %s -DDOING="instrumenting a module" -DFORMAT=macho
; RUN: not %opt -mtriple=x86_64-pc-windows-msvc -passes=path-profile-gen -disable-output %s 2>&1 | FileCheck %s -DDOING="instrumenting a module" -DFORMAT=coff
; RUN: not %opt -mtriple=wasm64-unknown-unknown -passes=path-profile-gen -disable-output %s 2>&1 | FileCheck %s -DDOING="instrumenting a module" -DFORMAT=wasm
; RUN: not %opt -mtriple=powerpc64-ibm-aix -passes=path-profile-gen -disable-output %s 2>&1 | FileCheck %s -DDOING="instrumenting a module" -DFORMAT=xcoff
; RUN: not %opt -mtriple=arm64-apple-macosx -passes=osr-point -disable-output %s 2>&1 | FileCheck %s -DDOING="inserting OSR points" -DFORMAT=macho
; RUN: not %opt -mtriple=arm64-apple-macosx -passes=osr-opt -disable-output %s 2>&1 | FileCheck %s -DDOING="making versions" -DFORMAT=macho
; CHECK: error: midflight: [[DOING]]: the target's object files are [[FORMAT]], and only elf is supported
; CHECK-NOT: {{.}}

; What only prints works for all.
; RUN: %opt -mtriple=x86_64-apple-macosx -passes='print<path-numbering>,print<osr-points>,print<osr-map>' -disable-output %s
; RUN: %opt -mtriple=x86_64-unknown-freebsd -passes=path-profile-gen -disable-output %s
define void @f() {
  ret void
}
