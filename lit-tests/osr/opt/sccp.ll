; What sccp proves to be constant need not be carried back: base gets the constant.
; RUN: %opt -passes='osr-sccp<up=always;down=always;verify>' -S %s | FileCheck %s

; CHECK-LABEL: define i32 @f(i32 %n)
; CHECK: call i32 @f.opt.osr.enter(i32 0, i32 %i, i32 %n)

; CHECK-LABEL: define internal i32 @f.base.osr(
; CHECK-SAME: i32 %0, i32 %1, i32 %2)
; CHECK: %step{{.*}} = phi i32 [ 3, %osr.entry ]
; CHECK: add i32 %{{.*}}, %step

; CHECK-LABEL: define internal i32 @f.opt.osr(
; CHECK: %next = add i32 %{{.*}}, 3
; CHECK: ret i32 3
; CHECK: musttail call i32 @f.base.osr(i32 0, i32 %i, i32 %2)

define i32 @f(i32 %n) {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %step = phi i32 [ 3, %entry ], [ %same, %loop ]
  %next = add i32 %i, %step
  call void @use(i32 %next)
  %same = mul i32 %step, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %done

done:
  ret i32 %step
}

declare void @use(i32)
