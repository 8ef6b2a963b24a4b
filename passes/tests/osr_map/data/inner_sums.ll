; Sums of sums are one sum, whatever flags make the inner one poison.
@g = global [32 x i32] zeroinitializer
@h = global [32 x i32] zeroinitializer
declare i32 @ext(i32)

define i32 @f(i32 %a, i32 %b, i32 %n, ptr %p) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %inner = add nsw i32 %a, -2147483648
  %outer = add i32 %inner, 1
  store i32 %outer, ptr @h
  %less = sub nuw i32 %i, %a
  %one = add i32 %less, 1
  store i32 %one, ptr @g
  %five = add nsw i32 %b, 2147483647
  %back = sub nsw i32 %five, 2147483647
  store i32 %back, ptr getelementptr (i32, ptr @g, i32 4)
  %again = add nsw i32 %a, -2147483648
  store i32 %again, ptr getelementptr (i32, ptr @h, i32 4)
  %less.again = sub nuw i32 %i, %a
  store i32 %less.again, ptr getelementptr (i32, ptr @h, i32 5)
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, 3
  br i1 %more, label %loop, label %done
done:
  %result = call i32 @ext(i32 %i)
  ret i32 %result
}
