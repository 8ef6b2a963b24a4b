; A patchable point of AArch64, assembled: a nop, which is an aligned word, and its entry.
; RUN: %opt -passes='osr-point<where=loop-header;when=patch>' -S %s -o %t.ll
; RUN: llc -O2 %t.ll -o - | FileCheck %s
; RUN: llc -O2 -filetype=obj %t.ll -o %t.o
; RUN: llvm-readelf -S -r %t.o | FileCheck %s --check-prefix=SECTION

target triple = "aarch64-unknown-linux-gnu"

; CHECK-LABEL: {{^}}f:
; CHECK: .p2align 2
; CHECK-NEXT: [[NOP:.Lmidflight_osr_[0-9]+]]:
; CHECK-NEXT: nop
; CHECK-NEXT: .section midflight_osr_patch,"ao",@progbits,[[NOP]]
; CHECK: .p2align 3
; CHECK: .{{long|word}} [[NOP]]-
; CHECK: .{{long|word}} [[TARGET:.LBB[0-9_]+]]-
; CHECK: .{{quad|xword}}
; CHECK: [[TARGET]]:
; CHECK: b f.osr

; SECTION: midflight_osr_patch PROGBITS {{.*}} AL

define i32 @f(i32 %n) {
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
