; Heads of loops with ways round that leave some values, or memory, as they are: `loop-simplify` splits
; them in two, so that phis and states of memory move to a block without anchors above.
@g = global [32 x i32] zeroinitializer
declare i32 @ext(i32)

define i32 @f(i32 %a, i32 %b, i32 %n, ptr %p) {
entry:
  %small = and i32 %n, 7
  br label %head
head:
  %x = phi i32 [ %a, %entry ], [ %x, %even ], [ %x, %odd ], [ %x.one, %one ], [ %x.two, %two ]
  %y = phi i32 [ %b, %entry ], [ %y, %even ], [ %x, %odd ], [ %y, %one ], [ %i, %two ]
  %i = phi i32 [ 0, %entry ], [ %i.next, %even ], [ %i.next, %odd ], [ %i.next, %one ], [ %i.next, %two ]
  %i.next = add i32 %i, 1
  %old = load i32, ptr @g, align 4
  %sum = add i32 %old, %x
  %ended = icmp ugt i32 %i, 20
  br i1 %ended, label %done, label %body
body:
  %mix = xor i32 %sum, %i
  %low = and i32 %mix, 3
  switch i32 %low, label %even [ i32 1, label %odd
                                 i32 2, label %one
                                 i32 3, label %two ]
even:
  br label %head
odd:
  %twice = add i32 %y, %y
  br label %head
one:
  %x.one = add i32 %x, %small
  store i32 %x.one, ptr @g, align 4
  br label %head
two:
  %x.two = call i32 @ext(i32 %sum)
  br label %head
done:
  %r = sub i32 %x, %y
  ret i32 %r
}
