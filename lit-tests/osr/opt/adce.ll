; What adce deletes nobody needs in opt. Back in base it is not live where base goes on.
; RUN: %opt -passes='osr-adce<up=always;down=always;verify>' -S %s | FileCheck %s

; CHECK-LABEL: define i32 @f(i32 %a, i32 %n)
; CHECK: %sum = add i32 %dead, %i
; CHECK: call i32 @f.opt.osr.enter(i32 0, i32 %i, i32 %n)

; CHECK-LABEL: define internal i32 @f.base.osr(
; CHECK-SAME: i32 %0, i32 [[I:%.*]], i32 [[N:%.*]])
; CHECK: phi i32 [ [[I]], %osr.entry ]
; CHECK: icmp ult i32 %{{.*}}, [[N]]
; The loop begins with what is dead here, too; the point is behind that.
; CHECK: musttail call i32 @f.opt.osr(i32 0, i32 %{{.*}}, i32 [[N]])

; CHECK-LABEL: define internal i32 @f.opt.osr(
; CHECK-SAME: i32 %0, i32 [[I:%.*]], i32 [[N:%.*]])
; CHECK-NOT: %sum
; CHECK: phi i32 [ [[I]], %osr.entry ]
; CHECK-NOT: %sum
; CHECK: musttail call i32 @f.base.osr(i32 0, i32 %i, i32 [[N]])
; CHECK-LABEL: define internal i32 @f.opt.osr.enter

define i32 @f(i32 %a, i32 %n) {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %dead = phi i32 [ %a, %entry ], [ %sum, %loop ]
  %sum = add i32 %dead, %i
  %next = add i32 %i, 1
  call void @use(i32 %next)
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %done

done:
  ret i32 %next
}

declare void @use(i32)
