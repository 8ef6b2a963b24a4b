; Counts that 32 bits cannot hold keep their proportions, and what was taken stays above zero.
; RUN: echo '{"version":2,"stage":"late","functions":[{"name":"f","cfg_hash":"HASH","entries":1099511627777,"blocks":[1099511627777,1099511627776,1],"edges":[[0,1,1099511627776],[0,2,1]]}]}' > %t.0
; RUN: %opt -passes='path-profile-use<file=%t.0>' -pass-remarks-missed=midflight -disable-output %s 2>&1 | sed -n 's/.*hash \([0-9a-f]*\).*/s\/HASH\/\1\//p' > %t.sed
; RUN: sed -f %t.sed %t.0 > %t.1
; RUN: %opt -passes='path-profile-use<file=%t.1;verify>' -S %s | FileCheck %s

; CHECK: !{!"function_entry_count", i64 1099511627777}
; CHECK: !{!"branch_weights", i32 -16711935, i32 1}
define void @f(i1 %c) {
  br i1 %c, label %a, label %b
a:
  ret void
b:
  ret void
}
