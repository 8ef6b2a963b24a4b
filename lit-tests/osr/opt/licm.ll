; What licm hoists is computed on the way into opt; on the way back it is at hand.
; RUN: %opt -passes='osr-licm<up=always;down=always;verify>' -S %s | FileCheck %s

; CHECK-LABEL: define i32 @f(i32 %a, i32 %b, i32 %n)
; CHECK: br i1 true, label %osr.fire
; CHECK: %product = mul i32 %a, %b
; CHECK: call i32 @f.opt.osr.enter(i32 0, i32 %i, i32 poison, i32 %a, i32 %b, i32 %n)

; CHECK-LABEL: define internal i32 @f.base.osr(
; CHECK: osr.entry:
; CHECK-NEXT: br label
; CHECK: %product = mul i32 %3, %4
; CHECK: [[PRODUCT:%.*]] = phi i32 [ %1, %osr.entry ], [ %product,
; CHECK: %next = add i32 %{{.*}}, [[PRODUCT]]

; CHECK-LABEL: define internal i32 @f.opt.osr(
; CHECK: osr.entry:
; CHECK-NEXT: [[HOISTED:%.*]] = mul i32 %3, %4
; CHECK-NEXT: br label
; CHECK-NOT: mul
; CHECK: %next = add i32 %{{.*}}, [[HOISTED]]
; CHECK: musttail call i32 @f.base.osr(i32 0, i32 [[HOISTED]], i32 %i, i32 %3, i32 %4, i32 %5)

define i32 @f(i32 %a, i32 %b, i32 %n) {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %product = mul i32 %a, %b
  %next = add i32 %i, %product
  call void @use(i32 %next)
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %done

done:
  ret i32 %next
}

declare void @use(i32)
