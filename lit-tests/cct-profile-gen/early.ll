; Before LLVM has marked the calls that may give up the frame, each that only a return follows is taken for one. Variables
; in memory are promoted first, so that nothing stands between.
; RUN: %opt -passes='cct-profile-gen<stage=early;verify>' -S %s | FileCheck %s
; RUN: %opt -passes='cct-profile-gen<stage=inlined;verify>' -S %s | FileCheck %s
; RUN: %opt -passes='cct-profile-gen<stage=late;verify>' -S %s | FileCheck %s --check-prefix=LATE
target triple = "x86_64-unknown-linux-gnu"

declare i32 @g(i32)

; CHECK-LABEL: define i32 @unmarked(
; CHECK-NOT:     alloca
; CHECK:         icmp sgt i64
; CHECK-NOT:     ptr @midflight_context_word
; CHECK:         %x = call i32 @g(i32 %n)
; CHECK-NEXT:    ret i32 %x
; LATE-LABEL: define i32 @unmarked(
; LATE:         %v = alloca i32
; LATE:         icmp sle i64
; LATE:         store atomic ptr %{{.*}}, ptr @midflight_context_word
; LATE-NEXT:    %x = call i32 @g(i32 %n)
; LATE:         ret i32 %y
define i32 @unmarked(i32 %n) {
  %v = alloca i32
  %x = call i32 @g(i32 %n)
  store i32 %x, ptr %v
  %y = load i32, ptr %v
  ret i32 %y
}

; Some will never be.
; CHECK-LABEL: define i32 @never(
; CHECK:         store atomic ptr %{{.*}}, ptr @midflight_context_word
; CHECK-NEXT:    %x = notail call i32 @g(i32 %n)
; CHECK-NEXT:    getelementptr inbounds i8, ptr %midflight.node, i64 16
; CHECK:         ret i32 %x
define i32 @never(i32 %n) {
  %x = notail call i32 @g(i32 %n)
  ret i32 %x
}

; What is not optimized is left as it is; its calls are marked already.
; CHECK-LABEL: define i32 @plain(
; CHECK:         %v = alloca i32
; CHECK:         store atomic ptr %{{.*}}, ptr @midflight_context_word
; CHECK-NEXT:    %x = call i32 @g(i32 %n)
; CHECK:         getelementptr inbounds i8, ptr %midflight.node, i64 16
; CHECK:         ret i32 %y
define i32 @plain(i32 %n) noinline optnone {
  %v = alloca i32
  %x = call i32 @g(i32 %n)
  store i32 %x, ptr %v
  %y = load i32, ptr %v
  ret i32 %y
}

; The callee is inlined with its own code, and its record.
; RUN: %opt -passes='cct-profile-gen<stage=early;verify>,always-inline,verify' -S %s | FileCheck %s --check-prefix=INLINED
; INLINED-LABEL: define i32 @outer(
; INLINED:        @__midflight_contexts.outer.
; INLINED:        @__midflight_contexts.inner.
; INLINED:        call i32 @g(
define i32 @outer(i32 %n) {
  %x = call i32 @inner(i32 %n)
  %y = add i32 %x, 1
  ret i32 %y
}
define internal i32 @inner(i32 %n) alwaysinline {
  %x = call i32 @g(i32 %n)
  %y = add i32 %x, 1
  ret i32 %y
}
