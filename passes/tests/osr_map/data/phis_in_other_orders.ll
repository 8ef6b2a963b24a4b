; Phis of one block whose incoming blocks are in different orders, behind a store that passes delete:
; from there on nothing runs together.
@g = global [32 x i32] zeroinitializer
declare i32 @ext(i32)

define i32 @f(i32 %a, i32 %b, i32 %n, ptr %p) {
entry:
  %dead = alloca [2 x i32]
  store i32 1, ptr %dead
  %c = icmp ult i32 %a, %b
  br i1 %c, label %yes, label %no
yes:
  %e = call i32 @ext(i32 1)
  br label %after
no:
  br label %after
after:
  %x = phi i32 [ 3, %no ], [ 0, %yes ]
  %y = phi i32 [ 3, %yes ], [ 0, %no ]
  %s = mul i32 %x, 5
  %t = xor i32 %s, %y
  ret i32 %t
}
