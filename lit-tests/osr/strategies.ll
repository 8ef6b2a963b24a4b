; Where points are put. The functions' points by number are what print<osr-points> numbers them.
; RUN: %opt -passes='osr-point<where=entry;when=always>' -S %s | FileCheck %s --check-prefix=ENTRY --implicit-check-not='c"nest#' --implicit-check-not='c"straight#' --implicit-check-not='c"irreducible#'
; RUN: %opt -passes='osr-point<where=loop-header;when=always>' -S %s | FileCheck %s --check-prefix=HEADER --implicit-check-not='c"nest#' --implicit-check-not='c"straight#' --implicit-check-not='c"irreducible#'
; RUN: %opt -passes='osr-point<where=loop-header:outer;when=always>' -S %s | FileCheck %s --check-prefix=OUTER --implicit-check-not='c"nest#' --implicit-check-not='c"straight#' --implicit-check-not='c"irreducible#'
; RUN: %opt -passes='osr-point<where=loop-header:closest;when=always>' -S %s | FileCheck %s --check-prefix=INNER --implicit-check-not='c"nest#' --implicit-check-not='c"straight#' --implicit-check-not='c"irreducible#'
; RUN: %opt -passes='osr-point<where=call;when=always>' -S %s | FileCheck %s --check-prefix=CALL --implicit-check-not='c"nest#' --implicit-check-not='c"straight#' --implicit-check-not='c"irreducible#'
; RUN: %opt -passes='osr-point<where=loop-header:closest;callee=hot;when=always>' -S %s | FileCheck %s --check-prefix=CLOSE-HOT --implicit-check-not='c"nest#' --implicit-check-not='c"straight#' --implicit-check-not='c"irreducible#'
; RUN: %opt -passes='osr-point<where=loop-header:outer;callee=ho*;when=always>' -S %s | FileCheck %s --check-prefix=OUTER-HOT --implicit-check-not='c"nest#' --implicit-check-not='c"straight#' --implicit-check-not='c"irreducible#'
; RUN: %opt -passes='osr-point<where=loop-header:closest;callee=*;when=always>' -S %s | FileCheck %s --check-prefix=CLOSE-ANY --implicit-check-not='c"nest#' --implicit-check-not='c"straight#' --implicit-check-not='c"irreducible#'
; RUN: %opt -passes='osr-point<where=call;callee=c*;when=always>' -S %s | FileCheck %s --check-prefix=CALL-C --implicit-check-not='c"nest#' --implicit-check-not='c"straight#' --implicit-check-not='c"irreducible#'
; RUN: %opt -passes='osr-point<where=call;callee=none;when=always>' -S %s | FileCheck %s --check-prefix=NONE --implicit-check-not='c"nest#' --implicit-check-not='c"straight#' --implicit-check-not='c"irreducible#'
; RUN: %opt -passes='osr-point<where=all;when=always>' -S %s | FileCheck %s --check-prefix=ALL
; RUN: %opt -passes='osr-point<where=all;when=always;max-points=2>' -S %s | FileCheck %s --check-prefix=MOST --implicit-check-not='c"nest#'

; Once in each function, behind its static allocas.
; ENTRY: c"nest#0\00"
; ENTRY: c"straight#0\00"
; ENTRY: c"irreducible#0\00"
; In every natural loop; a loop with two entries has no header.
; HEADER: c"nest#1\00"
; HEADER: c"nest#2\00"
; HEADER: c"nest#4\00"
; McOSR's `outer`: of innermost loops the outermost one around them, and of loops with calls.
; OUTER: c"nest#1\00"
; McOSR's `closest`: the innermost loops, and those with a call in them (none is asked for, so all).
; INNER: c"nest#2\00"
; INNER: c"nest#4\00"
; Before calls.
; CALL: c"nest#2\00"
; CALL: c"nest#4\00"
; CALL: c"nest#14\00"
; CALL: c"straight#0\00"
; With a callee only loops with a call of it are of interest.
; CLOSE-HOT: c"nest#2\00"
; OUTER-HOT: c"nest#1\00"
; CLOSE-ANY: c"nest#2\00"
; CLOSE-ANY: c"nest#4\00"
; CALL-C: c"nest#4\00"
; CALL-C: c"nest#14\00"
; CALL-C: c"straight#0\00"
; A callee that nobody calls: nothing is inserted.
; NONE-NOT: osr.fire
; NONE: define void @nest(
; At every boundary: 16 + 2 + 7 points.
; ALL-COUNT-16: c"nest#
; ALL-COUNT-2: c"straight#
; ALL-COUNT-7: c"irreducible#
; At most two of a function, spread evenly.
; MOST: c"nest#4\00"
; MOST: c"nest#12\00"

declare void @hot()
declare void @cold(i32)

define void @nest(i32 %n) {
entry:
  %slot = alloca i32
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %i1, %outer.latch ]
  br label %middle
middle:
  %j = phi i32 [ 0, %outer ], [ %j1, %middle.latch ]
  call void @hot()
  br label %inner
inner:
  %k = phi i32 [ 0, %middle ], [ %k1, %inner ]
  call void @cold(i32 %k)
  %k1 = add i32 %k, 1
  %inner.again = icmp slt i32 %k1, %n
  br i1 %inner.again, label %inner, label %middle.latch
middle.latch:
  %j1 = add i32 %j, 1
  %middle.again = icmp slt i32 %j1, %n
  br i1 %middle.again, label %middle, label %outer.latch
outer.latch:
  %i1 = add i32 %i, 1
  %outer.again = icmp slt i32 %i1, %n
  br i1 %outer.again, label %outer, label %exit
exit:
  call void @cold(i32 0)
  ret void
}

define void @straight() {
  call void @cold(i32 1)
  ret void
}

define i32 @irreducible(i1 %c, i32 %n) {
entry:
  br i1 %c, label %a, label %b
a:
  %x = phi i32 [ 0, %entry ], [ %y1, %b ]
  %x1 = add i32 %x, 1
  br label %b
b:
  %y = phi i32 [ 1, %entry ], [ %x1, %a ]
  %y1 = add i32 %y, 1
  %more = icmp slt i32 %y1, %n
  br i1 %more, label %a, label %exit
exit:
  ret i32 %y1
}
