; Points that are never reached do not count. A profile that says that they ran is evidence that
; the report is wrong, and `executed_unreached` sums up how often: here the profile lies.
; RUN: %opt -passes='print<osr-map>(sccp)' -disable-output %s | FileCheck %s
; RUN: sed 's/i32 10, i32 40/i32 0, i32 40/' %s > %t.ll
; RUN: %opt -passes='print<osr-map>(sccp)' -disable-output %t.ll | FileCheck %s --check-prefix=TRUE

; The two points of `cold`, 20 times each of 100 that the function ran.
; CHECK: "parts":{"base_to_opt":{
; CHECK-SAME: "executed":{"total":360,"avail":360},"executed_unreached":40}
; TRUE: "parts":{"base_to_opt":{
; TRUE-SAME: "executed":{"total":400,"avail":400},"executed_unreached":0}

define i32 @dead(i32 %n) !prof !0 {
entry:
  br i1 false, label %cold, label %warm, !prof !1
cold:
  %a = call i32 @f(i32 %n)
  br label %out
warm:
  %b = call i32 @f(i32 1)
  br label %out
out:
  %r = phi i32 [ %a, %cold ], [ %b, %warm ]
  ret i32 %r
}
declare i32 @f(i32)

!0 = !{!"function_entry_count", i64 100}
!1 = !{!"branch_weights", i32 10, i32 40}
