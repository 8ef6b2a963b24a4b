; Counters that `indvars` widens in loops that are rotated: at base's head the other version has the
; next one, which is made of what the last iteration has extended.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
@g = global [32 x i32] zeroinitializer
declare i32 @ext(i32)

define i32 @f(i32 %a, i32 %b, i32 %n, ptr %p) {
entry:
  %few = and i32 %n, 7
  br label %head

head:
  %i = phi i32 [ 0, %entry ], [ %i.next, %latch ]
  %sum = phi i32 [ %a, %entry ], [ %sum.next, %latch ]
  %goes.on = icmp slt i32 %i, %few
  br i1 %goes.on, label %body, label %done

body:
  %index = sext i32 %i to i64
  %place = getelementptr inbounds [32 x i32], ptr @g, i64 0, i64 %index
  %x = load i32, ptr %place
  %y = call i32 @ext(i32 %x)
  %sum.next = add i32 %sum, %y
  br label %latch

latch:
  %i.next = add nsw i32 %i, 1
  br label %head

done:
  br label %second

second:
  %j = phi i32 [ %b, %done ], [ %j.next, %again ]
  %c = load i32, ptr %p
  %is.more = icmp sgt i32 %c, %j
  br i1 %is.more, label %again, label %end

again:
  %z = call i32 @ext(i32 %j)
  %j.next = add nsw i32 %j, 1
  %stop = icmp sgt i32 %j.next, 5
  br i1 %stop, label %end, label %second

end:
  %r = phi i32 [ %sum, %second ], [ %z, %again ]
  ret i32 %r
}
