; What is poison if %y is, and what it is equal to else: %i is %x plus something that vanishes, %d is 0.
; The second store to %p seems to store what is there.
declare i32 @ext(i32)

define i32 @f(i32 %a, i32 %b, i32 %n, ptr %p) {
entry:
  %x = xor i32 %a, 5
  %y = add nsw i32 %b, 2147483647
  %s = add i32 %x, %y
  %i = sub i32 %s, %y
  %k = xor i32 %i, 9
  %fk = freeze i32 %k
  %r1 = call i32 @ext(i32 %fk)
  %d = sub i32 %y, %y
  store i32 %d, ptr %p
  %fd = freeze i32 %d
  %r2 = call i32 @ext(i32 %fd)
  store i32 0, ptr %p
  %l = xor i32 %x, 9
  %r3 = call i32 @ext(i32 %l)
  %fi = freeze i32 %i
  %r4 = call i32 @ext(i32 %fi)
  %r5 = call i32 @ext(i32 %i)
  ret i32 %x
}
