; A constant that is added, and one that is subtracted, are one number: both overflow together as signed numbers, so what
; has that flag in both keeps it. They do not as unsigned ones, nor where the constant is its own negation.
; RUN: %opt -passes='osr-opt<alone=base;verify>(sink)' -S %s | FileCheck %s
; RUN: %opt -passes='print<osr-map;function=multiples>(early-cse)' -disable-output %s | FileCheck %s --check-prefix=MULTIPLES
; RUN: %opt -passes='print<osr-map;function=swapped>(reassociate)' -disable-output %s | FileCheck %s --check-prefix=SWAPPED

; CHECK-LABEL: define void @f
; CHECK: sub nsw i32 %x, 1
; CHECK: add nsw i32 %x, -1
; CHECK: sub i32 %x, -2147483648
; CHECK: add i32 %x, -2147483648
define void @f(i32 %x, ptr %p) {
  %a = sub nuw nsw i32 %x, 1
  store volatile i32 %a, ptr %p
  %b = add nsw i32 %x, -1
  store volatile i32 %b, ptr %p
  br label %next
next:
  %c = sub nsw i32 %x, -2147483648
  store volatile i32 %c, ptr %p
  %d = add nsw i32 %x, -2147483648
  store volatile i32 %d, ptr %p
  ret void
}

; Where one of them may overflow, so may the other one.
; CHECK-LABEL: define void @g
; CHECK: sub i32 %x, 1
; CHECK: add i32 %x, -1
define void @g(i32 %x, ptr %p) {
  %a = sub nsw i32 %x, 1
  store volatile i32 %a, ptr %p
  %b = add i32 %x, -1
  store volatile i32 %b, ptr %p
  ret void
}

; A multiple is one number, wherever the constant stands.
; MULTIPLES: "name":"multiples"
; MULTIPLES-SAME: "base_to_opt":{"total":[[N:[0-9]+]],{{[^}]*}}"avail":[[N]],
; MULTIPLES-SAME: "opt_to_base":{"total":[[M:[0-9]+]],{{[^}]*}}"avail":[[M]],
; MULTIPLES-SAME: "unproved":[]
define void @multiples(i32 %x, ptr %p) {
  %a = mul nsw i32 %x, 4
  store volatile i32 %a, ptr %p
  %b = mul nsw i32 4, %x
  store volatile i32 %b, ptr %p
  ret void
}

; What has no bits in common is added, also where it is made of one value that may be undefined: of several, then.
; SWAPPED: "name":"swapped"
; SWAPPED-SAME: "base_to_opt":{"total":[[N:[0-9]+]],{{[^}]*}}"avail":[[N]],
; SWAPPED-SAME: "opt_to_base":{"total":[[M:[0-9]+]],{{[^}]*}}"avail":[[M]],
define void @swapped(ptr %p) {
  %x = load i32, ptr %p
  %low = lshr i32 %x, 16
  %high = shl i32 %x, 16
  %halves = or i32 %low, %high
  %left = and i32 %halves, 16711935
  %up = shl i32 %left, 8
  %right = and i32 %halves, -16711936
  %down = lshr i32 %right, 8
  %bytes = or i32 %up, %down
  store volatile i32 %bytes, ptr %p
  ret void
}
