; What the source expects: a branch that was counted keeps its counts, and LLVM tells where they
; contradict; what was never reached, and a select, have nothing but it.
; RUN: echo '{"version":2,"stage":"early","functions":[{"name":"f","cfg_hash":"HASH","entries":1000,"blocks":[1000,0,0,1000],"edges":[[0,3,1000]]}]}' > %t.0
; RUN: %opt -passes='path-profile-use<file=%t.0>' -pass-remarks-missed=midflight -disable-output %s 2>&1 | sed -n 's/.*hash \([0-9a-f]*\).*/s\/HASH\/\1\//p' > %t.sed
; RUN: sed -f %t.sed %t.0 > %t.1
; RUN: %opt -passes='path-profile-use<file=%t.1;verify>' -pass-remarks=misexpect -S %s 2>%t.remarks | FileCheck %s
; RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
; RUN: %opt -passes='path-profile-use<file=%t.1>' -pgo-warn-misexpect -disable-output %s 2>&1 | FileCheck %s --check-prefix=WARNING

; REMARK: remark: {{.*}}Annotation was correct on 0.00% (0 / 1000) of profiled executions.
; REMARK-NOT: remark
; WARNING: warning: {{.*}} 0.00% (0 / 1000)
; CHECK-NOT: llvm.expect
; CHECK: br i1 %c, label %never, label %end, !prof ![[COUNTED:[0-9]+]]
; CHECK: br i1 %d, label %a, label %end, !prof ![[EXPECTED:[0-9]+]]
; CHECK: select i1 %c, i32 1, i32 2, !prof ![[SELECT:[0-9]+]]
; CHECK-DAG: ![[COUNTED]] = !{!"branch_weights", i32 0, i32 1000}
; CHECK-DAG: ![[EXPECTED]] = !{!"branch_weights", {{.*}}i32 1, i32 2000}
; CHECK-DAG: ![[SELECT]] = !{!"branch_weights", {{.*}}i32 2000, i32 1}
define i32 @f(i1 %c, i1 %d) {
entry:
  %likely = call i1 @llvm.expect.i1(i1 %c, i1 true)
  br i1 %likely, label %never, label %end
never:
  %unlikely = call i1 @llvm.expect.i1(i1 %d, i1 false)
  br i1 %unlikely, label %a, label %end
a:
  br label %end
end:
  %likely2 = call i1 @llvm.expect.i1(i1 %c, i1 true)
  %s = select i1 %likely2, i32 1, i32 2
  ret i32 %s
}

declare i1 @llvm.expect.i1(i1, i1)
