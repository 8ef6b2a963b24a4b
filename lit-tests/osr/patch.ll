; A patchable point, assembled: a nop of five bytes in one aligned word of eight, and an entry in a
; section that is linked to the code, which says where the nop is, where to jump, and which site it is.
; RUN: %opt -passes='osr-point<where=loop-header;when=patch>' -S %s -o %t.ll
; RUN: llc -O2 %t.ll -o - | FileCheck %s
; RUN: llc -O2 -filetype=obj %t.ll -o %t.o
; RUN: llvm-readelf -S %t.o | FileCheck %s --check-prefix=SECTION
; RUN: llvm-objdump -d --disassemble-symbols=f %t.o | FileCheck %s --check-prefix=CODE

; Code that is copied has an entry for each copy, and code that is dropped has none.
; RUN: %opt -passes='osr-point<where=loop-header;when=patch>,cgscc(inline),globaldce' -S %s -o %t.inlined.ll
; RUN: llc -O2 %t.inlined.ll -o - | FileCheck %s --check-prefix=COPIES

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

; CHECK-LABEL: {{^}}f:
; CHECK: .p2align 3, {{.*}}, 4
; CHECK-NEXT: [[NOP:.Lmidflight_osr_[0-9]+]]:
; CHECK-NEXT: .byte 15
; CHECK-NEXT: .byte 31
; CHECK-NEXT: .byte 68
; CHECK-NEXT: .byte 0
; CHECK-NEXT: .byte 0
; CHECK-NEXT: .section midflight_osr_patch,"ao",@progbits,[[NOP]]
; CHECK: .p2align 3
; CHECK: .long [[NOP]]-
; CHECK: .long [[TARGET:.LBB[0-9_]+]]-
; CHECK: .quad
; CHECK: [[TARGET]]:
; CHECK: jmp f.osr

; SECTION: midflight_osr_patch PROGBITS {{.*}} AL
; CODE: nopl (%rax,%rax)
; COPIES-LABEL: {{^}}caller:
; COPIES-COUNT-2: .section midflight_osr_patch
; COPIES-NOT: .section midflight_osr_patch

define internal i32 @f(i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i1, %loop ]
  %i1 = add i32 %i, 1
  %more = icmp slt i32 %i1, %n
  br i1 %more, label %loop, label %exit
exit:
  ret i32 %i1
}

define i32 @caller(i32 %n) {
  %a = call i32 @f(i32 %n)
  %m = mul i32 %n, 3
  %b = call i32 @f(i32 %m)
  %c = add i32 %a, %b
  ret i32 %c
}
