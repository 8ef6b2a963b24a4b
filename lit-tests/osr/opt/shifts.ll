; A shift that both versions share is poison if it is by too much: base masks it where it is not wanted, opt
; chooses zero instead, which is not the same then, though all that is shifted is well defined: it was branched
; by. Opt has another use of zero there, of which base has none.
; RUN: %cc --midflight-osr-fuzz=mem2reg '--midflight-osr-opt=instcombine<no-verify-fixpoint>,early-cse' %level %s -o %t
; RUN: %midflight osr fuzz --seconds 20 -- %t | FileCheck %s
; CHECK: no mismatch
target triple = "x86_64-pc-linux-gnu"

@format = private constant [4 x i8] c"%d\0A\00"
@chosen = global i32 0
@value = global i32 7

declare i32 @printf(ptr, ...)

define internal void @see(i32 noundef %v) noinline {
  %n = call i32 (ptr, ...) @printf(ptr @format, i32 %v)
  ret void
}

define internal void @ignore(i32 %v) noinline optnone {
  ret void
}

define internal void @branched(i32 %x, i32 noundef %by, i1 noundef %is) noinline {
entry:
  %c = icmp sgt i32 %x, 5
  br i1 %c, label %then, label %end
then:
  %square = mul i32 %x, %x
  %shifted = shl i32 %square, %by
  %mask = sext i1 %is to i32
  %masked = and i32 %mask, %shifted
  call void @see(i32 12345)
  call void @ignore(i32 %masked)
  %unit = shl i32 1, %by
  %product = mul i32 %square, %unit
  %other = select i1 %is, i32 %product, i32 0
  call void @see(i32 noundef %other)
  ret void
end:
  ret void
}

define internal void @met(i32 %x, i32 noundef %by, i1 noundef %is) noinline {
entry:
  %c = icmp sgt i32 %x, 5
  br i1 %c, label %then, label %else
then:
  %more = add i32 %x, 1
  br label %join
else:
  br label %join
join:
  %of = phi i32 [ %more, %then ], [ 7, %else ]
  %shifted = shl i32 %of, %by
  %mask = sext i1 %is to i32
  %masked = and i32 %mask, %shifted
  call void @see(i32 12345)
  call void @ignore(i32 %masked)
  %unit = shl i32 1, %by
  %product = mul i32 %of, %unit
  %other = select i1 %is, i32 %product, i32 0
  call void @see(i32 noundef %other)
  ret void
}

define i32 @main() {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %chosen = load volatile i32, ptr @chosen
  %x = load volatile i32, ptr @value
  %is = icmp ne i32 %chosen, 0
  call void @branched(i32 %x, i32 40, i1 %is)
  call void @met(i32 %x, i32 40, i1 %is)
  %next = add i32 %i, 1
  %done = icmp eq i32 %next, 5
  br i1 %done, label %end, label %loop
end:
  ret i32 0
}
