; What sccp makes of a freeze is not what it is: %x is poison for large %a. The same for a phi that is
; undefined, and for a branch on what was frozen.
declare i32 @ext(i32)

define i32 @f(i32 %a, i32 %b, i32 %n, ptr %p) {
entry:
  %x = add nuw i32 %a, 100
  %c = icmp ult i32 %x, 100
  %z = zext i1 %c to i32
  %f = freeze i32 %z
  %r1 = call i32 @ext(i32 %f)
  %r2 = call i32 @ext(i32 %f)
  %even = icmp ult i32 %b, 8
  br i1 %even, label %some, label %join

some:
  br label %join

join:
  %u = phi i32 [ 5, %some ], [ undef, %entry ]
  %g = freeze i32 %u
  %r3 = call i32 @ext(i32 %g)
  %r4 = call i32 @ext(i32 %g)
  %is = icmp eq i32 %f, 0
  br i1 %is, label %zero, label %other

zero:
  %r5 = call i32 @ext(i32 1)
  %r6 = call i32 @ext(i32 %f)
  ret i32 %f

other:
  %r7 = call i32 @ext(i32 2)
  %r8 = call i32 @ext(i32 %f)
  ret i32 %g
}
