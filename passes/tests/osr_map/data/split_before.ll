; A head that is split in base, with values between its halves that are made of the upper one's phis,
; and a way round that comes in between: passes merge some of these blocks.
@g = global [32 x i32] zeroinitializer
declare i32 @ext(i32)

define i32 @f(i32 %a, i32 %b, i32 %n, ptr %p) {
entry:
  %is.less = icmp ult i32 %a, %b
  br i1 %is.less, label %outer, label %between
outer:
  %x = phi i32 [ %a, %entry ], [ %x.next, %latch ], [ %sum, %left ]
  %c.outer = phi i32 [ 0, %entry ], [ %i.next, %latch ], [ %i.next, %left ]
  %u = add i32 %x, 5
  %l = load i32, ptr @g, align 4
  br label %between
between:
  %v = phi i32 [ %u, %outer ], [ %b, %entry ], [ %w, %right ]
  %m = phi i32 [ %l, %outer ], [ %n, %entry ], [ %m, %right ]
  %k = phi i32 [ %x, %outer ], [ 3, %entry ], [ %k, %right ]
  %c = phi i32 [ 0, %entry ], [ %c.outer, %outer ], [ %i.next, %right ]
  %three = mul i32 %v, 3
  br label %head
head:
  %i = phi i32 [ %c, %between ], [ %i.next, %inner ]
  %s = phi i32 [ %three, %between ], [ %sum, %inner ]
  %sum = add i32 %s, %m
  %i.next = add i32 %i, 1
  %ended = icmp ugt i32 %i, 25
  br i1 %ended, label %done, label %body
body:
  %mix = xor i32 %sum, %k
  %low = and i32 %mix, 3
  switch i32 %low, label %inner [ i32 1, label %left
                                  i32 2, label %right
                                  i32 3, label %latch ]
inner:
  br label %head
left:
  br label %outer
right:
  %w = add i32 %v, 7
  br label %between
latch:
  %x.next = call i32 @ext(i32 %v)
  store i32 %x.next, ptr @g, align 4
  br label %outer
done:
  %r = sub i32 %v, %k
  ret i32 %r
}
