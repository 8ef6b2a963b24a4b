; A loop counter that a pass gives more bits, and that is used on some turns only: on others it may
; have wrapped, and be poison, while the one of more bits is not. They are not the same.
; RUN: %opt -passes='print<osr-map>(loop-simplify,lcssa,loop(indvars))' -disable-output %s \
; RUN:   | FileCheck %s

target datalayout = "e-m:e-i64:64-n8:16:32:64-S128"

; CHECK: "cause":"Operand"
; CHECK-SAME: "values":{"base":{"text":"%x = sext i32 %i to i64"
; CHECK-SAME: "opt":{"text":"%indvars.iv = phi i64
define void @rarely(ptr noundef %p, i32 noundef %from) {
entry:
  br label %head

head:
  %i = phi i32 [ %from, %entry ], [ %next, %latch ]
  %c = call i1 @more()
  br i1 %c, label %then, label %latch

then:
  %x = sext i32 %i to i64
  %a = getelementptr inbounds i8, ptr %p, i64 %x
  %v = load i8, ptr %a
  call void @use(i8 %v)
  br label %latch

latch:
  %next = add nsw i32 %i, 1
  %d = call i1 @more()
  br i1 %d, label %head, label %end

end:
  ret void
}

declare i1 @more()
declare void @use(i8)
