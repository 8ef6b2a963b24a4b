; Where no mapping is found, a remark says so, of points that were asked for; print<osr-map> counts them.
; RUN: %opt -passes='osr-opt<up-at=all;up=always;down-at=all;down=always;verify>(simplifycfg)' -pass-remarks-missed=midflight-osr -disable-output %s 2>&1 | FileCheck %s
; RUN: %opt -passes='osr-opt<up-at=all;up=always;down-at=all;down=always>(simplifycfg)' -S %s | FileCheck %s --check-prefix=CODE
; RUN: %opt -passes='osr-opt(simplifycfg)' -pass-remarks-missed=midflight-osr -disable-output %s 2>&1 | FileCheck %s --check-prefix=NONE --allow-empty
; RUN: %opt -passes='print<osr-map>(simplifycfg)' -disable-output %s 2>&1 | FileCheck %s --check-prefix=MAP
; RUN: %opt -passes='print<osr-map>(adce)' -disable-output %s 2>&1 | FileCheck %s --check-prefix=SAME

; CHECK: remark: {{.*}}no OSR to the optimized version here:
; CHECK: remark: {{.*}}no OSR to the base version here:
; CODE-LABEL: define i32 @f(
; CODE-NEXT: entry:
; CODE-NEXT: br i1 true, label %osr.fire
; CODE-NOT: br i1 true
; CODE: call i32 @f.opt.osr.enter(i32 0, i1 %c, i32 %a, i32 %b)
; CODE-LABEL: declare
; There is no loop.
; NONE-NOT: remark

; MAP: {"version":1,"pipeline":"simplifycfg","functions":[{"name":"f","instructions":{"base":7,"opt":5},"phis":{"base":1,"opt":0}
; MAP-SAME: "base_to_opt":{"total":6,{{.*}}"opt_to_base":{"total":5,
; MAP-SAME: "refused":{"base_to_opt":{{{"Unmatched":[1-9]}}
; SAME: "pipeline":"adce"
; SAME-SAME: "actions":{"add":0,"delete":0,"hoist":0,"sink":0,
; SAME-SAME: "base_to_opt":{"total":6,"empty":6,"live":6,
; SAME-SAME: "refused":{"base_to_opt":{},"opt_to_base":{}}

define i32 @f(i1 %c, i32 %a, i32 %b) {
entry:
  br i1 %c, label %then, label %done

then:
  %sum = add i32 %a, %b
  %frozen = freeze i32 %sum
  br label %done

done:
  %either = phi i32 [ %frozen, %then ], [ %a, %entry ]
  call void @use(i32 %either)
  ret i32 %either
}

declare void @use(i32)
