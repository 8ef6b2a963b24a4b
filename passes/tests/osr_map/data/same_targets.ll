; A branch both of whose ways lead to one block says nothing of its condition there.
@g = global [32 x i32] zeroinitializer
declare i32 @ext(i32)
define i32 @f(i32 %a, i32 %b, i32 %n, ptr %p) {
entry:
  %early = icmp ult i32 %n, 0
  br i1 %early, label %out, label %head
head:
  %v = phi i32 [ %n, %entry ], [ %and, %again ]
  %i = phi i32 [ 1, %entry ], [ %less, %again ]
  %and = and i32 0, %v
  br label %first
first:
  %x = call i32 @ext(i32 %b)
  %same = icmp ult i32 %b, 0
  br i1 %same, label %store, label %store
store:
  store i32 %b, ptr getelementptr (i32, ptr @g, i32 9)
  %z = icmp ult i32 %and, 2
  br i1 %z, label %second, label %second
second:
  %c = icmp ult i32 %b, 0
  br i1 %c, label %again, label %last
last:
  %d = icmp eq i32 %b, 2
  br i1 %d, label %out, label %out
again:
  %less = sub i32 %i, 1
  %more = icmp sgt i32 %less, 0
  br i1 %more, label %head, label %out
out:
  ret i32 %n
}
