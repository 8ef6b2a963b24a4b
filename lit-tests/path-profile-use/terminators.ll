; Every terminator with several successors gets weights that the verifier takes.
; RUN: echo '{"version":2,"stage":"early","functions":[{"name":"f","cfg_hash":"HASH","entries":100,"blocks":[100,30,70,60,10,50,40],"edges":[[0,1,30],[0,2,70],[1,6,30],[2,3,60],[2,4,10],[3,5,50],[3,6,10]]}]}' > %t.0
; RUN: %opt -passes='path-profile-use<file=%t.0>' -pass-remarks-missed=midflight -disable-output %s 2>&1 | sed -n 's/.*hash \([0-9a-f]*\).*/s\/HASH\/\1\//p' > %t.sed
; RUN: sed -f %t.sed %t.0 > %t.1
; RUN: %opt -passes='path-profile-use<file=%t.1;verify>' -S %s | FileCheck %s
; RUN: %opt -passes='path-profile-use<file=%t.1>,print<branch-prob>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=PROB

declare void @g()
declare i32 @personality(...)

; CHECK: indirectbr ptr %p, [label %once, label %twice], !prof ![[INDIRECT:[0-9]+]]
; CHECK: to label %back unwind label %pad, !prof ![[INVOKE:[0-9]+]]
; CHECK: [label %end], !prof ![[ASM:[0-9]+]]
; CHECK-DAG: ![[INDIRECT]] = !{!"branch_weights", i32 30, i32 70}
; CHECK-DAG: ![[INVOKE]] = !{!"branch_weights", i32 60, i32 10}
; CHECK-DAG: ![[ASM]] = !{!"branch_weights", i32 50, i32 10}
; PROB: edge %entry -> %once probability is {{.*}} = 30.00%
; PROB: edge %twice -> %pad probability is {{.*}} = 14.29%
define void @f(ptr %p) personality ptr @personality {
entry:
  indirectbr ptr %p, [label %once, label %twice]
once:
  br label %end
twice:
  invoke void @g() to label %back unwind label %pad
back:
  callbr void asm sideeffect "", "!i"() to label %stay [label %end]
pad:
  %l = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %l
stay:
  ret void
end:
  ret void
}
