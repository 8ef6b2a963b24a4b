; Places that LICM promotes to registers in loops whose heads `loop-simplify` splits, next to what
; branches say: an address is computed where its index is known to be 3, what a place has is known where
; it was compared.
@g = global [32 x i32] zeroinitializer
@h = global [32 x i32] zeroinitializer
declare i32 @ext(i32)

define i32 @f(i32 %a, i32 %b, i32 %n, ptr %p) {
entry:
  %few = and i32 %n, 7
  %k = and i32 %b, 3
  %index = zext i32 %k to i64
  br label %head

head:
  %i = phi i32 [ 0, %entry ], [ %i.next, %odd.latch ], [ %i.next, %even.latch ]
  %x = phi i32 [ %a, %entry ], [ %x.odd, %odd.latch ], [ %x.even, %even.latch ]
  %i.next = add i32 %i, 1
  %count = load i32, ptr @g
  %more = add i32 %count, %x
  store i32 %more, ptr @g
  %is.three = icmp eq i32 %k, 3
  br i1 %is.three, label %three, label %body

three:
  %place = getelementptr i32, ptr @h, i64 %index
  %had = load i32, ptr %place
  %mixed = xor i32 %had, %i
  store i32 %mixed, ptr %place
  br label %body

body:
  %goes.on = icmp ult i32 %i, %few
  br i1 %goes.on, label %which, label %done

which:
  %bit = and i32 %more, 1
  %is.odd = icmp ne i32 %bit, 0
  br i1 %is.odd, label %odd.latch, label %even.latch

odd.latch:
  %x.odd = add i32 %x, %more
  br label %head

even.latch:
  %again = load i32, ptr @g
  %is.zero = icmp eq i32 %again, 0
  %x.even = select i1 %is.zero, i32 7, i32 %again
  br i1 %is.zero, label %out, label %head

out:
  %zero = load i32, ptr @g
  %s = call i32 @ext(i32 %zero)
  br label %done

done:
  %end = load i32, ptr @g
  %third = load i32, ptr getelementptr (i32, ptr @h, i64 3)
  %sum = add i32 %end, %third
  %seen = call i32 @ext(i32 %sum)
  %other = getelementptr i32, ptr @h, i64 %index
  %last = load i32, ptr %other
  %result = add i32 %last, %seen
  ret i32 %result
}
