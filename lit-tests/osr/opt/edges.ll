; How control came to a block is known by the edge that it took: a block before it that leads elsewhere
; changes nothing. `unroll` peels an iteration, since `%x` is the same from then on; behind `%maybe`, which
; leads to the head or on, base is in the peeled one or in the loop.
; RUN: %opt -passes='osr-opt<fuzz;verify>(loop-simplify,lcssa,loop-unroll)' %s -o %t.bc
; RUN: clang -w -O1 -Xclang -disable-llvm-passes %t.bc %runtime -o %t
; RUN: env MIDFLIGHT_OSR_FIRE=list %t 2>&1 | FileCheck %s --check-prefix=LIST
; RUN: %midflight osr fuzz --seconds 20 -- %t | FileCheck %s
; RUN: %opt -passes='osr-opt<fuzz;verify>(loop-simplify,lcssa,loop(loop-rotate),loop-unroll)' %s -o %t.rotated.bc
; RUN: clang -w -O1 -Xclang -disable-llvm-passes %t.rotated.bc %runtime -o %t.rotated
; RUN: %midflight osr fuzz --seconds 20 -- %t.rotated | FileCheck %s
target triple = "x86_64-pc-linux-gnu"

; LIST-COUNT-2: peeled#6
; CHECK: no mismatch
@seen = global i32 0
@format = private constant [4 x i8] c"%u\0A\00"
declare i32 @printf(ptr, ...)

define i1 @more(i32 %i) noinline {
  %c = icmp slt i32 %i, 9
  ret i1 %c
}

define i1 @skip(i32 %i) noinline {
  %rest = urem i32 %i, 3
  %c = icmp eq i32 %rest, 2
  ret i1 %c
}

define void @use(i32 %value) noinline {
  %old = load i32, ptr @seen
  %times = mul i32 %old, 31
  %new = add i32 %times, %value
  store i32 %new, ptr @seen
  ret void
}

define void @peeled(i32 %a, i32 %b, i32 %n) noinline {
entry:
  br label %head
head:
  %x = phi i32 [ %a, %entry ], [ %b, %maybe ], [ %b, %behind ]
  %i = phi i32 [ 0, %entry ], [ %i.next, %maybe ], [ %i.next, %behind ]
  %i.next = add i32 %i, 1
  %c = call i1 @more(i32 %i)
  br i1 %c, label %maybe, label %exit
maybe:
  %d = call i1 @skip(i32 %i)
  br i1 %d, label %head, label %behind
behind:
  call void @use(i32 %x)
  %k = icmp slt i32 %i.next, %n
  br i1 %k, label %head, label %exit
exit:
  ret void
}

define i32 @main() {
  call void @peeled(i32 3, i32 5, i32 8)
  %one = load i32, ptr @seen
  call i32 (ptr, ...) @printf(ptr @format, i32 %one)
  call void @peeled(i32 7, i32 2, i32 1)
  %two = load i32, ptr @seen
  call i32 (ptr, ...) @printf(ptr @format, i32 %two)
  ret i32 0
}
