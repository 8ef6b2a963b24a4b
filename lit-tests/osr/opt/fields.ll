; What is put together with another value and taken out again is a copy only where the other one is
; no poison: the whole would be.
; RUN: %opt -passes='print<osr-map>(early-cse)' -disable-output %s | FileCheck %s

declare void @use(i32)

; The whole is part of an address, which must not be poison.
; CHECK: "name":"indexed"
; CHECK-SAME: "refused":{"base_to_opt":{},"opt_to_base":{}}
define i32 @indexed(ptr %bytes, ptr %table) {
  %first = load i8, ptr %bytes, align 1
  %next = getelementptr i8, ptr %bytes, i64 1
  %second = load i8, ptr %next, align 1
  %low = zext i8 %first to i32
  %high = zext i8 %second to i32
  %shifted = shl nuw i32 %high, 8
  %whole = or i32 %low, %shifted
  %index = zext i32 %whole to i64
  %entry = getelementptr i32, ptr %table, i64 %index
  %count = load i32, ptr %entry, align 4
  %taken = lshr i32 %whole, 8
  %slot = getelementptr i32, ptr %table, i32 %taken
  %old = load i32, ptr %slot, align 4
  call void @use(i32 %taken)
  %sum = add i32 %count, %old
  %result = add i32 %sum, %taken
  ret i32 %result
}

; Nothing says that the byte is not poison.
; CHECK: "name":"plain"
; CHECK-SAME: "refused":{"base_to_opt":{"Unmatched":
define i32 @plain(ptr %bytes) {
  %first = load i8, ptr %bytes, align 1
  %next = getelementptr i8, ptr %bytes, i64 1
  %second = load i8, ptr %next, align 1
  %low = zext i8 %first to i32
  %high = zext i8 %second to i32
  %shifted = shl nuw i32 %high, 8
  %whole = or i32 %low, %shifted
  %taken = lshr i32 %whole, 8
  call void @use(i32 %taken)
  %result = add i32 %whole, %taken
  ret i32 %result
}
