; A function for each type that is given and shown.

define i8 @byte(i8 %a, i1 %b) {
  %w = zext i1 %b to i8
  %r = add i8 %a, %w
  ret i8 %r
}

define i64 @wide(i64 %a) {
  ret i64 %a
}

define float @half(float %a) {
  %r = fmul float %a, 5.0e-1
  ret float %r
}

define double @add(double %a, double %b) {
  %r = fadd double %a, %b
  ret double %r
}

define ptr @same(ptr %p) {
  ret ptr %p
}

define void @fill(ptr %p, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr i32, ptr %p, i32 %i
  %old = load i32, ptr %at
  %new = add i32 %old, %i
  store i32 %new, ptr %at
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}

define i32 @apply(ptr %f, i32 %a) {
  %r = call i32 %f(i32 %a)
  ret i32 %r
}

define internal i32 @twice(i32 %a) {
  %r = add i32 %a, %a
  ret i32 %r
}

define i8 @third(ptr %text) {
  %at = getelementptr i8, ptr %text, i64 2
  %r = load i8, ptr %at
  ret i8 %r
}

define <4 x i32> @vector(<4 x i32> %a) {
  ret <4 x i32> %a
}
