; With maps=section the mappings stand in the binary: what is read from it is what the pass prints, object
; file or program, and also after unused sections are dropped.
; RUN: %opt -passes='print<osr-map;maps=woven;file=%t.json>(early-cse,loop-mssa(licm))' -disable-output %s
; RUN: %opt -passes='osr-opt<fuzz;maps=section>(early-cse,loop-mssa(licm))' %s -o %t.bc
; RUN: clang -O1 -ffunction-sections -fdata-sections -c %t.bc -o %t.o
; RUN: clang %t.o -Wl,--gc-sections -o %t %runtime
; RUN: %midflight osr show %t.o --format json >%t.object.json
; RUN: %midflight osr show %t --format json >%t.program.json
; RUN: cmp %t.object.json %t.program.json
; RUN: python3 %S/Inputs/same-maps.py %t.json %t.program.json | FileCheck %s --check-prefix=SAME
; RUN: %midflight osr show %t --function f | FileCheck %s
; RUN: not %midflight osr show %t --function h 2>&1 | FileCheck %s --check-prefix=FUNCTION
; SAME: f, main
; FUNCTION: midflight: error: there is no function 'h' with OSR mappings in '{{.*}}'

; CHECK: f ({{.*}}maps-section.ll); opt is what these passes made of it: early-cse,loop-mssa(licm)
; CHECK-NEXT: base to opt: {{[0-9]+}} of
; CHECK-NEXT: f#0 before br label %loop
; CHECK-NEXT: goes on in opt before br label %loop
; CHECK-NEXT: %same' = mul argument 0, argument 1
; CHECK-NEXT: %same := %same'
; CHECK: opt to base: {{[0-9]+}} of
; CHECK-NEXT: f.opt#0 before {{.*}}mul i32 %a, %b
; CHECK-NEXT: goes on in base before br label %loop
; CHECK-NEXT: f.opt#1 before br label %loop

; Without the option there is no section, and foreign and cut files are no binaries.
; RUN: %opt -passes='osr-opt<fuzz>(early-cse)' %s -o %t.none.bc
; RUN: clang -c %t.none.bc -o %t.none.o
; RUN: not %midflight osr show %t.none.o 2>&1 | FileCheck %s --check-prefix=NONE
; RUN: not %midflight osr show %s 2>&1 | FileCheck %s --check-prefix=FOREIGN
; RUN: head -c 100 %t >%t.cut
; RUN: not %midflight osr show %t.cut 2>&1 | FileCheck %s --check-prefix=FOREIGN
; NONE: midflight: error: reading the binary '{{.*}}': it has no OSR mappings; was it built with {{.*}}maps=section
; FOREIGN: midflight: error: reading the binary '{{.*}}': it is not an ELF executable or library

; Only what is asked for is there.
; RUN: %opt -passes='osr-opt<maps=section>(early-cse,loop-mssa(licm))' %s -o %t.loop.bc
; RUN: clang -c %t.loop.bc -o %t.loop.o
; RUN: %midflight osr show %t.loop.o | FileCheck %s --check-prefix=LOOP
; LOOP: base to opt: 1 of 1 points
; LOOP-NEXT: f#1 before %same = mul i32 %a, %b
; LOOP-NEXT: goes on in opt before %next = add i32 %i,
; LOOP: opt to base: 1 of 1 points

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

define i32 @f(i32 %a, i32 %b, i32 %n) {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %same = mul i32 %a, %b
  %next = add i32 %i, %same
  call void @use(i32 %next)
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %done

done:
  ret i32 %next
}

define i32 @main() {
  %r = call i32 @f(i32 1, i32 2, i32 100)
  call void @use(i32 %r)
  ret i32 0
}

define void @use(i32 %x) noinline optnone {
  ret void
}
