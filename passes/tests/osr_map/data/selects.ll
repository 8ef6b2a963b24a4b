; Branches that `simplifycfg` makes selects of: merged with what is behind them, sunk to where they are
; used, of values that only one side computes, of a division that traps on the other side, and with a phi
; of factors behind the join.
declare i32 @ext(i32)

define i32 @f(i32 %a, i32 %b, i32 %n, ptr %p) {
entry:
  br label %head

head:
  %i = phi i32 [ 0, %entry ], [ %next, %done ]
  %x = phi i32 [ %a, %entry ], [ %either, %done ]
  %one = call i32 @ext(i32 %x)
  %odd = and i32 %one, 1
  %is.odd = icmp ne i32 %odd, 0
  br i1 %is.odd, label %then, label %behind

then:
  %sum = add nsw i32 %x, %b
  br label %behind

behind:
  %chosen = phi i32 [ %sum, %then ], [ %x, %head ]
  %two = call i32 @ext(i32 %i)
  %some = icmp ne i32 %two, 0
  br i1 %some, label %divides, label %other

divides:
  %left = udiv i32 %chosen, %two
  br label %used

other:
  %right = mul i32 %chosen, 3
  br label %used

used:
  %quotient = phi i32 [ %left, %divides ], [ %right, %other ]
  %three = call i32 @ext(i32 %two)
  %more = icmp ugt i32 %three, %b
  br i1 %more, label %first, label %second

first:
  %four = call i32 @ext(i32 %chosen)
  %from.first = mul i32 %four, 5
  br label %done

second:
  store i32 %i, ptr %p
  %from.second = mul i32 %a, 5
  br label %done

done:
  %either = phi i32 [ %from.first, %first ], [ %from.second, %second ]
  %next = add i32 %i, 1
  %goes.on = icmp ult i32 %i, 4
  br i1 %goes.on, label %head, label %end

end:
  %last = phi i32 [ %quotient, %done ]
  %result = add i32 %last, %either
  ret i32 %result
}
