; A store that a pass deletes, since the next one writes to the same place, may have that place from an
; address of its own.
; RUN: %opt -passes='print<osr-map>(early-cse)' -disable-output %s | FileCheck %s
; RUN: %opt -passes='print<osr-map;maps>(early-cse)' -disable-output %s | FileCheck %s --check-prefix=MAPS

; CHECK: "points":{"base_to_opt":{"total":[[#TOTAL:]],
; CHECK-SAME: "avail":[[#TOTAL]],
; CHECK-SAME: "opt_to_base":{"total":[[#BACK:]],
; CHECK-SAME: "avail":[[#BACK]],

; Base leads from behind the store (before instruction 3) to before the one that stays.
; MAPS: "at":3,"landing":[[#STORE:]],
; MAPS-SAME: "at":6,"landing":[[#STORE]],
define i32 @f(ptr %p, i32 %a) {
  %one = getelementptr i8, ptr %p, i64 4
  %low = and i32 %a, 5
  store i32 %low, ptr %one
  %two = getelementptr i8, ptr %p, i64 4
  %now = load i32, ptr %two
  %high = or i32 %now, 8
  store i32 %high, ptr %two
  %left = load i32, ptr %one
  ret i32 %left
}
