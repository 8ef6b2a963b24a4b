; A function goes on in continuations of its own that are optimized as a whole, and these lead down to what they were.
; RUN: %opt -passes='osr-opt<up=entry:count:3;down=always;verify>(early-cse),verify' -S %s -o %t.ll
; RUN: FileCheck %s < %t.ll
; RUN: clang -w -O1 %t.ll %runtime -o %t && env MIDFLIGHT_OSR_LOG=%t.json %t | FileCheck %s --check-prefix=OUT
; RUN: FileCheck %s --check-prefix=LOG < %t.json

; From the head of an inner loop: the loop around it would be entered in the middle, so that the continuation ends at
; its head, in one that begins there.
; RUN: %opt -passes='osr-opt<up=entry:count:3;up-at=loop-header;down=never;verify>(loop-simplify,lcssa,loop(loop-rotate)),verify' -S %s -o %t.inner.ll
; RUN: FileCheck %s --check-prefix=INNER < %t.inner.ll
; RUN: clang -w -O1 %t.inner.ll %runtime -o %t.inner && env MIDFLIGHT_OSR_LOG=%t.inner.json %t.inner | FileCheck %s --check-prefix=OUT
; RUN: FileCheck %s --check-prefix=INNER-LOG < %t.inner.json

; A level is all that LLVM does at it to a function, vectorizers included, for the target that the host knows.
; RUN: %opt -passes='osr-opt<up=entry:count:3;verify>(default<O3>),verify' -S %s -o %t.3.ll
; RUN: FileCheck %s --check-prefix=VECTOR < %t.3.ll
; RUN: clang -w -O1 %t.3.ll %runtime -o %t.3 && %t.3 | FileCheck %s --check-prefix=OUT
; All points of the continuations, fired:
; RUN: %opt -passes='osr-opt<fuzz;up=entry;verify>(early-cse,gvn),verify' -S %s -o %t.fuzz.ll
; RUN: clang -w -O1 %t.fuzz.ll %runtime -o %t.fuzz && env MIDFLIGHT_OSR_FIRE=every:2 %t.fuzz | FileCheck %s --check-prefix=OUT

; RUN: not %opt -passes='osr-opt<up=entry;keep=90>(dce)' -disable-output %s 2>&1 | FileCheck %s --check-prefix=KEEP
; RUN: not %opt -passes='osr-opt<up=entry;maps=section>(dce)' -disable-output %s 2>&1 | FileCheck %s --check-prefix=MAPS
; RUN: not %opt -passes='osr-opt<up=entry:often>(dce)' -disable-output %s 2>&1 | FileCheck %s --check-prefix=OFTEN
; RUN: not %opt -passes='osr-opt<up=entryway>(dce)' -disable-output %s 2>&1 | FileCheck %s --check-prefix=WAY
; RUN: not %opt -passes='osr-opt<fuzz;up=entry:always>(dce)' -disable-output %s 2>&1 | FileCheck %s --check-prefix=FUZZ
; KEEP: 'up=entry' and 'keep' exclude each other
; MAPS: 'up=entry' and 'maps=section' exclude each other
; OFTEN: option 'up': unknown condition 'often'
; WAY: option 'up': unknown condition 'entryway'
; FUZZ: 'fuzz' and 'up' exclude each other

; CHECK-LABEL: define i32 @sum(
; CHECK: call i32 @sum.osr.[[N:[0-9]+]].opt(
; CHECK: define internal i32 @sum.osr.[[N]].opt(
; CHECK: call i32 @sum.osr.[[N]].opt.base.osr(
; OUT: 4985010 1337
; LOG: "point":"sum#[[N:[0-9]+]]"{{.*}}"to":"sum.osr.[[N]]
; LOG: "point":"sum.osr.[[N]].opt#{{.*}}"to":"sum.osr.[[N]].opt.base.osr","transitions":1
; INNER-LABEL: define i32 @nest(
; INNER: call i32 @nest.osr.[[A:[0-9]+]].opt(
; INNER: call i32 @nest.osr.[[B:[0-9]+]].opt(
; INNER: define internal i32 @nest.osr.[[B]].opt(
; INNER: call i32 @nest.osr.[[A]].opt(
; INNER-LOG: "point":"nest#[[B:[0-9]+]]","file":{{.*}}"from":"nest","to":"nest.osr.[[B]]","transitions":1
; Nobody has asked for the end of a continuation: it is not counted.
; INNER-LOG-NOT: "from":"nest.osr
; VECTOR: define internal i32 @sum.osr.{{[0-9]+}}.opt(
; VECTOR: add <4 x i32>

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
@format = private constant [7 x i8] c"%d %d\0A\00"
@values = global [1000 x i32] zeroinitializer
declare i32 @printf(ptr, ...)

define i32 @sum(ptr %p, i32 %n, i32 %k) noinline {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i1, %body ]
  %s = phi i32 [ 0, %entry ], [ %s1, %body ]
  %c = icmp slt i32 %i, %n
  br i1 %c, label %body, label %done
body:
  %at = getelementptr i32, ptr %p, i32 %i
  %v = load i32, ptr %at
  %w = mul i32 %v, %k
  %again = mul i32 %v, %k
  %x = add i32 %w, %again
  %s1 = add i32 %s, %x
  %i1 = add i32 %i, 1
  br label %loop
done:
  ret i32 %s
}

define i32 @nest(i32 %n) noinline {
entry:
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %i1, %latch ]
  %s = phi i32 [ 0, %entry ], [ %u, %latch ]
  %c = icmp slt i32 %i, %n
  br i1 %c, label %inner, label %done
inner:
  %j = phi i32 [ 0, %outer ], [ %j1, %body ]
  %u = phi i32 [ %s, %outer ], [ %u1, %body ]
  %d = icmp slt i32 %j, %i
  br i1 %d, label %body, label %latch
body:
  %p = mul i32 %i, %j
  %q = urem i32 %p, 7
  %u1 = add i32 %u, %q
  %j1 = add i32 %j, 1
  br label %inner
latch:
  %i1 = add i32 %i, 1
  br label %outer
done:
  ret i32 %s
}

define i32 @main() {
entry:
  br label %fill
fill:
  %i = phi i32 [ 0, %entry ], [ %i1, %fill ]
  %at = getelementptr i32, ptr @values, i32 %i
  %v = sub i32 %i, 0
  store i32 %v, ptr %at
  %i1 = add i32 %i, 1
  %more = icmp slt i32 %i1, 1000
  br i1 %more, label %fill, label %go
go:
  %a = call i32 @sum(ptr @values, i32 999, i32 5)
  %b = call i32 @nest(i32 33)
  %r = call i32 (ptr, ...) @printf(ptr @format, i32 %a, i32 %b)
  ret i32 0
}
