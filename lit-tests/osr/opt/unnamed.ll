; A value without a name has a number, which each version gives anew: %5 of opt is %6 of base, and %6 of
; opt is %7 of base. So the version is named wherever both may be meant, also where the numbers are equal.
; RUN: %opt -passes='print<osr-map;detail>(early-cse)' -disable-output %s | FileCheck %s
; RUN: %opt -passes='osr-opt<fuzz;maps=section>(early-cse)' %s -o %t.bc
; RUN: clang -c %t.bc -o %t.o
; RUN: %midflight osr show %t.o | FileCheck %s --check-prefix=SHOW

; CHECK: "compensation":["opt:%3 := base:%3"]
; CHECK-SAME: "compensation":["opt:%5 := base:%6"]
; CHECK-SAME: "compensation":["opt:%6 := base:%7"]
; CHECK-SAME: "compensation":["base:%5' = mul %0, %1","base:%5 := base:%5'"]
; CHECK-SAME: "compensation":["base:%6 := opt:%5"]

; SHOW: base to opt
; SHOW: f#4 before %6 = xor i32 %5, 7
; SHOW-NEXT: goes on in opt before %5 = xor i32 %3, 7
; SHOW-NEXT: opt:%3 := base:%5
; SHOW: opt:%5 := base:%6
; SHOW: opt:%6 := base:%7
; SHOW: opt to base
; SHOW: base:%3 := opt:%3
; SHOW: goes on in base before %6 = xor i32 %5, 7
; SHOW-NEXT: base:%5 := opt:%3
; SHOW: base:%6 := opt:%5

target triple = "x86_64-pc-linux-gnu"

define i32 @f(i32 %0, i32 %1) {
  %3 = mul i32 %0, %1
  %4 = add i32 %3, 1
  call void @use(i32 %4)
  %5 = mul i32 %0, %1
  %6 = xor i32 %5, 7
  call void @use(i32 %6)
  %7 = sub i32 %6, %0
  ret i32 %7
}

declare void @use(i32)
