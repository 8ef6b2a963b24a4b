; Each call has a slot, which the word has during the call; what is no call has none. The word is put back
; where the function is left.
; RUN: %opt -passes='cct-profile-gen<verify>' -S %s | FileCheck %s
target triple = "x86_64-unknown-linux-gnu"

declare void @f()
declare i32 @g(ptr)
declare i32 @__gxx_personality_v0(...)
declare i32 @setjmp(ptr) returns_twice
declare void @stop() noreturn

; CHECK-LABEL: define i32 @calls(
; CHECK:         %midflight.node = phi ptr
; CHECK-NEXT:    load atomic i64, ptr %midflight.node
; CHECK-NEXT:    add i64
; CHECK-NEXT:    store atomic i64 {{.*}}, ptr %midflight.node monotonic
; CHECK-NEXT:    %[[AT:.*]] = getelementptr inbounds i8, ptr %midflight.node, i64 32
; CHECK-NEXT:    store atomic i64 %{{.*}}, ptr %[[AT]] monotonic, align 8
; CHECK-NEXT:    %[[FIRST:.*]] = getelementptr inbounds i8, ptr %midflight.node, i64 64
; CHECK-NEXT:    store atomic ptr %[[FIRST]], ptr @midflight_context_word monotonic, align 8
; CHECK-NEXT:    call void @f()
; CHECK-NEXT:    %c = icmp eq i32 %n, 0
; CHECK-NEXT:    br i1 %c, label %then, label %else
; CHECK:       {{^}}then:
; CHECK-NEXT:    %[[SECOND:.*]] = getelementptr inbounds i8, ptr %midflight.node, i64 72
; CHECK-NEXT:    store atomic ptr %[[SECOND]], ptr @midflight_context_word monotonic, align 8
; CHECK-NEXT:    %a = call i32 %p(ptr null)
; CHECK-NEXT:    br label %else
; CHECK:       {{^}}else:
; CHECK-NEXT:    %r = phi i32 [ %a, %then ], [ 7, %body ]
; CHECK-NEXT:    %[[BACK:.*]] = getelementptr inbounds i8, ptr %midflight.node, i64 16
; CHECK-NEXT:    %[[WAS:.*]] = load atomic ptr, ptr %[[BACK]] monotonic, align 8
; CHECK-NEXT:    store atomic ptr %[[WAS]], ptr @midflight_context_word monotonic, align 8
; CHECK-NEXT:    ret i32 %r
define i32 @calls(i32 %n, ptr %p) {
  call void @f()
  %c = icmp eq i32 %n, 0
  br i1 %c, label %then, label %else
then:
  %a = call i32 %p(ptr null)
  br label %else
else:
  %r = phi i32 [ %a, %then ], [ 7, %0 ]
  ret i32 %r
}

; CHECK-LABEL: define i32 @invokes(
; CHECK:         %[[FIRST:.*]] = getelementptr inbounds i8, ptr %midflight.node, i64 64
; CHECK-NEXT:    store atomic ptr %[[FIRST]], ptr @midflight_context_word monotonic
; CHECK-NEXT:    invoke void @f()
; CHECK:       {{^}}ok:
; CHECK-NEXT:    %[[SECOND:.*]] = getelementptr inbounds i8, ptr %midflight.node, i64 72
; CHECK-NEXT:    store atomic ptr %[[SECOND]], ptr @midflight_context_word monotonic
; CHECK-NEXT:    %r = invoke i32 @g(ptr null)
; CHECK:       {{^}}fine:
; CHECK-NEXT:    getelementptr inbounds i8, ptr %midflight.node, i64 16
; CHECK-NEXT:    %[[WAS:.*]] = load atomic ptr
; CHECK-NEXT:    store atomic ptr %[[WAS]], ptr @midflight_context_word monotonic
; CHECK-NEXT:    ret i32 %r
; CHECK:       {{^}}cleanup:
; CHECK-NEXT:    %pad = landingpad
; CHECK-NEXT:    cleanup
; CHECK-NEXT:    %[[THIRD:.*]] = getelementptr inbounds i8, ptr %midflight.node, i64 80
; CHECK-NEXT:    store atomic ptr %[[THIRD]], ptr @midflight_context_word monotonic
; CHECK-NEXT:    call void @f()
; CHECK-NEXT:    getelementptr inbounds i8, ptr %midflight.node, i64 16
; CHECK-NEXT:    %[[WAS:.*]] = load atomic ptr
; CHECK-NEXT:    store atomic ptr %[[WAS]], ptr @midflight_context_word monotonic
; CHECK-NEXT:    resume
define i32 @invokes() personality ptr @__gxx_personality_v0 {
  invoke void @f() to label %ok unwind label %cleanup
ok:
  %r = invoke i32 @g(ptr null) to label %fine unwind label %cleanup
fine:
  ret i32 %r
cleanup:
  %pad = landingpad { ptr, i32 } cleanup
  call void @f()
  resume { ptr, i32 } %pad
}

; Intrinsics, assembly and markers are no calls, even those that become one; nor is code that nothing leads to.
; CHECK-LABEL: define void @no_calls(
; CHECK:         %midflight.node = phi ptr
; CHECK-NOT:     @midflight_context_word
; CHECK:         unreachable
define void @no_calls(ptr %p, i1 %c, i64 %n) {
  call void @llvm.lifetime.start.p0(i64 8, ptr %p)
  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr null, i64 %n, i1 false)
  call void asm sideeffect "nop", ""()
  call void @llvm.assume(i1 %c)
  call void @llvm.trap()
  unreachable
dead:
  call void @f()
  ret void
}
declare void @llvm.lifetime.start.p0(i64, ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.assume(i1)
declare void @llvm.trap()

; A call that does not return, and one that returns twice.
; CHECK-LABEL: define void @twice(
; CHECK:         store atomic ptr %{{.*}}, ptr @midflight_context_word
; CHECK-NEXT:    %x = call i32 @setjmp(ptr %p)
; CHECK:         %[[LAST:.*]] = getelementptr inbounds i8, ptr %midflight.node, i64 72
; CHECK-NEXT:    store atomic ptr %[[LAST]], ptr @midflight_context_word
; CHECK-NEXT:    call void @stop()
; CHECK-NEXT:    unreachable
define void @twice(ptr %p) {
  %x = call i32 @setjmp(ptr %p) returns_twice
  %c = icmp eq i32 %x, 0
  br i1 %c, label %out, label %ending
out:
  ret void
ending:
  call void @stop()
  unreachable
}

; What it does is more than what its attributes say.
; CHECK-LABEL: define i32 @pure(i32 %x)
; CHECK-NOT:     memory(none)
; CHECK:         {{^}}}
define i32 @pure(i32 %x) memory(none) nosync nofree willreturn {
  %y = call i32 @pure(i32 %x)
  %z = add i32 %x, %y
  ret i32 %z
}
; CHECK-NOT: attributes {{.*}}memory(none){{.*}}"midflight-contexts"
