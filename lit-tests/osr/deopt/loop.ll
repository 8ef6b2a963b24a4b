; A version of an inlined callee goes on once. When the caller's version comes to the call again, it calls anew; and
; what the callee throws is caught by the caller's version.
; RUN: %opt -passes='osr-deopt<prepare>,cgscc(inline),osr-deopt<verify>,verify' -S %s -o %t.ll
; RUN: FileCheck %s < %t.ll
; RUN: %opt -passes='osr-deopt<prepare>,cgscc(inline),osr-deopt<verify>(default<O2>),verify' -S %s -disable-output

; CHECK-LABEL: define i32 @outer(
; CHECK: call i32 @outer.base.deopt.3(i32 %n, i32 %i, i32 %s, i32 poison, i32 %i)
; CHECK-LABEL: define internal i32 @outer.base.deopt.3(i32 %0, i32 %1, i32 %2, i32 %3, i32 %4)
; CHECK: osr.entry:
; CHECK: br label %[[INNER:.*]]
; CHECK: [[INNER]]:
; CHECK: invoke i32 @inner.base(i32 %4)
; CHECK-NEXT: to label %[[OK:.*]] unwind label %[[PAD:.*]]
; CHECK: invoke i32 @inner(
; CHECK-NEXT: to label %[[OK]] unwind label %[[PAD]]
; CHECK: [[PAD]]:
; CHECK: landingpad { ptr, i32 }

declare void @midflight.landing(i64, ...)
declare i32 @llvm.experimental.deoptimize.i32(...)
declare i32 @__gxx_personality_v0(...)
declare i32 @careful(i32)

define i32 @inner.base(i32 %a) noinline {
  %r = call i32 @careful(i32 %a)
  ret i32 %r
}
define i32 @inner(i32 %a) {
  %small = icmp slt i32 %a, 10
  br i1 %small, label %fast, label %deopt
fast:
  ret i32 %a
deopt:
  %d = call i32 (...) @llvm.experimental.deoptimize.i32() [ "deopt"(ptr @inner.base, i64 -1, i32 0, i32 -1, i32 1, i32 %a) ]
  ret i32 %d
}

define i32 @outer.base(i32 %n) personality ptr @__gxx_personality_v0 {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i1, %next ]
  %s = phi i32 [ 0, %entry ], [ %s1, %next ]
  %r = invoke i32 @inner(i32 %i)
          to label %ok unwind label %pad
ok:
  call void (i64, ...) @midflight.landing(i64 3, i32 %n, i32 %i, i32 %s, i32 %r)
  br label %next
pad:
  %lp = landingpad { ptr, i32 }
          catch ptr null
  br label %next
next:
  %v = phi i32 [ %r, %ok ], [ -1, %pad ]
  %s1 = add i32 %s, %v
  %i1 = add i32 %i, 1
  %more = icmp slt i32 %i1, %n
  br i1 %more, label %loop, label %done
done:
  ret i32 %s1
}
define i32 @outer(i32 %n) personality ptr @__gxx_personality_v0 {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i1, %next ]
  %s = phi i32 [ 0, %entry ], [ %s1, %next ]
  %r = invoke i32 @inner(i32 %i) [ "deopt"(ptr @outer.base, i64 3, i32 1, i32 3, i32 4, i32 %n, i32 %i, i32 %s, i32 poison) ]
          to label %next unwind label %pad
pad:
  %lp = landingpad { ptr, i32 }
          catch ptr null
  br label %next
next:
  %v = phi i32 [ %r, %loop ], [ -1, %pad ]
  %s1 = add i32 %s, %v
  %i1 = add i32 %i, 1
  %more = icmp slt i32 %i1, %n
  br i1 %more, label %loop, label %done
done:
  ret i32 %s1
}
