; Places that LICM promotes to registers: always written to, only sometimes, never read, two of them,
; in a loop within a loop, and one that a call in between must not see late.
@g = global [32 x i32] zeroinitializer
@h = global [32 x i32] zeroinitializer
declare i32 @ext(i32)
declare i32 @take(ptr)
declare i32 @pure(i32) nounwind willreturn memory(none)
declare i32 @peek(ptr) nounwind willreturn memory(read)

define i32 @f(i32 %a, i32 %b, i32 %n, ptr %p) {
entry:
  %few = and i32 %n, 3
  br label %outer

outer:
  %j = phi i32 [ 0, %entry ], [ %j.next, %latch ]
  %sum = phi i32 [ %a, %entry ], [ %sum.next, %latch ]
  br label %loop

loop:
  %i = phi i32 [ 0, %outer ], [ %i.next, %next ]
  %place = getelementptr i32, ptr @g, i32 2
  %old = load i32, ptr %place
  %more = add i32 %old, %i
  store i32 %more, ptr %place
  %odd = and i32 %more, 1
  %is.odd = icmp eq i32 %odd, 0
  br i1 %is.odd, label %some, label %next

some:
  %other = getelementptr i32, ptr @g, i32 5
  %had = load i32, ptr %other
  %mixed = xor i32 %had, %more
  %big = mul i32 %mixed, 3
  store i32 %big, ptr %other
  br label %next

next:
  %last = getelementptr i32, ptr @h, i32 1
  store i32 %i, ptr %last
  %i.next = add i32 %i, 1
  %goes.on = icmp ult i32 %i, %few
  br i1 %goes.on, label %loop, label %after

after:
  %now = load i32, ptr getelementptr (i32, ptr @g, i32 5)
  %seen = call i32 @ext(i32 %now)
  %odd.n = and i32 %seen, 1
  %is = icmp eq i32 %odd.n, 0
  br i1 %is, label %left, label %right

left:
  %to.left = getelementptr i32, ptr @h, i32 4
  %l = add i32 %sum, 11
  store i32 %l, ptr %to.left
  br label %latch

right:
  %to.right = getelementptr i32, ptr @h, i32 4
  %r = mul i32 %b, 5
  store i32 %r, ptr %to.right
  br label %latch

latch:
  %sum.next = add i32 %sum, %seen
  %j.next = add i32 %j, 1
  %again = icmp ult i32 %j, %few
  br i1 %again, label %outer, label %done

done:
  %end = load i32, ptr getelementptr (i32, ptr @h, i32 1)
  %result = add i32 %end, %sum.next
  ret i32 %result
}
