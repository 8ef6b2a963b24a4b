; Points are instruction boundaries behind the phis of a block; each is eligible or has a reason.
; RUN: %opt -passes='print<osr-points>' -disable-output %s 2>&1 | FileCheck %s
; RUN: %opt -passes='print<osr-points;build;summary>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=BUILD
; RUN: not %opt -passes='print<osr-points;all>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=UNKNOWN

; UNKNOWN: error: midflight: pass 'print<osr-points;all>': unknown option 'all'; known are build and summary

declare void @use(ptr)
declare i32 @may_throw(i32)
declare i32 @__gxx_personality_v0(...)

; No boundary: inside a group of phis, before a static alloca.
; CHECK: loop#0 br: {%n}
; CHECK-NEXT: loop#1 mul: {%n, %i, %s}
; CHECK-NEXT: loop#2 add: {%n, %i, %s1}
; CHECK-NEXT: loop#3 icmp: {%n, %s1, %i1}
; CHECK-NEXT: loop#4 br: {%n, %s1, %i1, %more}
; CHECK-NEXT: loop#5 ret: {%s1}
; CHECK-NEXT: points of 'loop': 6 points, 6 eligible, 0 refused{{$}}
; BUILD: points of 'loop': 6 points, 6 eligible, 0 refused, 6 built, 0 broken
define i32 @loop(i32 %n) {
entry:
  %slot = alloca i32
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %i1, %head ]
  %s = phi i32 [ 1, %entry ], [ %s1, %head ]
  %s1 = mul i32 %s, %i
  %i1 = add i32 %i, 1
  %more = icmp slt i32 %i1, %n
  br i1 %more, label %head, label %exit
exit:
  ret i32 %s1
}

; A landing pad is no landing, what is behind it is one.
; CHECK: pad#1 ret: {%r}
; CHECK-NEXT: pad#2 call: {%e}
; CHECK-NEXT: pad#3 resume: {%e}
; BUILD: points of 'pad': 4 points, 4 eligible, 0 refused, 4 built, 0 broken
define i32 @pad(i32 %a) personality ptr @__gxx_personality_v0 {
entry:
  %r = invoke i32 @may_throw(i32 %a) to label %normal unwind label %pad
normal:
  ret i32 %r
pad:
  %e = landingpad { ptr, i32 } cleanup
  call void @use(ptr null)
  resume { ptr, i32 } %e
}

; After a dynamic alloca of its own a continuation's frame must stay.
; CHECK: dynamic#1 alloca: {%n}
; CHECK-NEXT: dynamic#2 call: {%m}
; CHECK-NEXT: dynamic#3 ret: {}
; CHECK-NEXT: points of 'dynamic': 4 points, 4 eligible (2 not for further transitions), 0 refused
; BUILD: points of 'dynamic': 4 points, 4 eligible (2 not for further transitions), 0 refused, 4 built, 0 broken
define void @dynamic(i64 %n) {
entry:
  br label %head
head:
  %m = alloca i8, i64 %n
  call void @use(ptr %m)
  ret void
}

; A function that is refused has points too: each has the function's reason.
; CHECK: naked#0 ret: Naked: the function is naked: it has no frame
; CHECK-NEXT: points of 'naked': 1 points, 0 eligible, 1 refused (Naked 1)
; CHECK-NEXT: points of the module: 15 points, 14 eligible (2 not for further transitions), 1 refused (Naked 1){{$}}
; BUILD-NOT: naked#0
; BUILD: points of the module: 15 points, 14 eligible (2 not for further transitions), 1 refused (Naked 1), 14 built, 0 broken
define void @naked() naked {
  ret void
}
