; Inline assembly may be copied into continuations unless it defines a symbol.
; RUN: %opt -passes='print<osr-points>' -disable-output %s 2>&1 | FileCheck %s
; RUN: %opt -passes='osr-point<where=all;when=always>' -S %s -o %t.ll
; RUN: llc -filetype=obj %t.ll -o %t.o

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

; CHECK: plain#0 call: {}
define void @plain() {
  call void asm sideeffect "nop", "~{memory}"()
  ret void
}

; Numbers may be defined again, and unique names are unique.
; CHECK: local_label#0 call: {}
define void @local_label() {
  call void asm sideeffect "1: nop\0A jmp 1b", ""()
  ret void
}
; CHECK: unique#0 call: {}
define void @unique() {
  call void asm sideeffect ".Lagain${:uid}: nop\0A jmp .Lagain${:uid}", ""()
  ret void
}

; CHECK: symbol#0 call: NoDuplicate
; CHECK-NEXT: symbol#1 ret: {}
define void @symbol() {
  call void asm sideeffect "nop; .globl here; here: nop", ""()
  ret void
}

; CHECK: goto#0 callbr: {%a}
; CHECK-NEXT: goto#1 ret: {%a}
; CHECK-NEXT: goto#2 ret: {}
define i32 @goto(i32 %a) {
entry:
  callbr void asm sideeffect "jmp ${0:l}", "!i"() to label %direct [label %indirect]
direct:
  ret i32 %a
indirect:
  ret i32 0
}
