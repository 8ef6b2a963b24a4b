; Exceptions.
; RUN: %opt -passes='osr-point<where=call;when=always;callee=stop>' -S %s | FileCheck %s
; RUN: %opt -passes='osr-fuzz<verify>' -disable-output %s

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

@_ZTIi = external constant ptr
@_ZTIl = external constant ptr

declare void @stop()
declare void @may_throw()
declare i32 @__gxx_personality_v0(...)
declare i32 @llvm.eh.typeid.for.p0(ptr)

; A selector is a number in the table of the function that caught the exception, and another version may
; have another table. So what travels is a number of the type alone: behind the landing pad it is chosen,
; questions compare with it, and before `resume` it becomes the function's own again.
; CHECK-LABEL: define i32 @catches(
; CHECK: %e = landingpad
; CHECK: [[OWN:%.*]] = extractvalue { ptr, i32 } %e, 1
; CHECK: [[INT:%.*]] = call i32 @llvm.eh.typeid.for.p0(ptr @_ZTIi)
; CHECK: [[IS_INT:%.*]] = icmp eq i32 [[OWN]], [[INT]]
; CHECK: select i1 [[IS_INT]], i32 [[NUMBER:1[0-9]+]], i32 [[OWN]]
; CHECK: [[PORTABLE:%.*]] = insertvalue { ptr, i32 } %e,
; CHECK: br i1 true, label %osr.fire, label %osr.cont
; CHECK: extractvalue { ptr, i32 } [[PORTABLE]], 1
; CHECK: icmp eq i32 %selector, [[NUMBER]]
; CHECK: [[BACK:%.*]] = insertvalue { ptr, i32 } [[PORTABLE]],
; CHECK: resume { ptr, i32 } [[BACK]]
; CHECK: call i32 @catches.osr.2({ ptr, i32 } [[PORTABLE]])
define i32 @catches() personality ptr @__gxx_personality_v0 {
entry:
  invoke void @may_throw() to label %normal unwind label %pad
normal:
  ret i32 0
pad:
  %e = landingpad { ptr, i32 } catch ptr @_ZTIi catch ptr @_ZTIl
  call void @stop()
  %selector = extractvalue { ptr, i32 } %e, 1
  %int = call i32 @llvm.eh.typeid.for.p0(ptr @_ZTIi)
  %is.int = icmp eq i32 %selector, %int
  br i1 %is.int, label %caught, label %other
caught:
  ret i32 1
other:
  %long = call i32 @llvm.eh.typeid.for.p0(ptr @_ZTIl)
  %is.long = icmp eq i32 %selector, %long
  br i1 %is.long, label %caught.long, label %unwind
caught.long:
  ret i32 2
unwind:
  resume { ptr, i32 } %e
}

; A function that asks for no type needs no such numbers.
; CHECK-LABEL: define void @cleans(
; CHECK: %e = landingpad
; CHECK-NEXT: cleanup
; CHECK-NEXT: br i1 true
; CHECK: call void @cleans.osr.2({ ptr, i32 } %e)
define void @cleans() personality ptr @__gxx_personality_v0 {
entry:
  invoke void @may_throw() to label %normal unwind label %pad
normal:
  ret void
pad:
  %e = landingpad { ptr, i32 } cleanup
  call void @stop()
  resume { ptr, i32 } %e
}

define i32 @in_try(i32 %n) personality ptr @__gxx_personality_v0 {
entry:
  call void @stop()
  invoke void @may_throw() to label %normal unwind label %pad
normal:
  ret i32 %n
pad:
  %e = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %e
}

; In a continuation there may be a `resume` that no landing pad of its own leads to, which the backend
; takes for unreachable: it is the call that it means. The handler is searched again, for the personality
; may remember a landing pad of the version that caught the exception.
; CHECK-LABEL: define internal i32 @catches.osr.2({ ptr, i32 } %0){{.*}} personality ptr @__gxx_personality_v0
; CHECK-NOT: landingpad
; CHECK: extractvalue { ptr, i32 } %0, 1
; CHECK: icmp eq i32 %selector, [[NUMBER]]
; CHECK-NOT: resume
; CHECK: call i32 @_Unwind_Resume_or_Rethrow(
; CHECK-NEXT: call void @llvm.trap()
; CHECK-NEXT: unreachable
; CHECK-LABEL: define internal void @cleans.osr.2({ ptr, i32 } %0)
; CHECK: [[EXCEPTION:%.*]] = extractvalue { ptr, i32 } %0, 0
; CHECK-NEXT: call i32 @_Unwind_Resume_or_Rethrow(ptr [[EXCEPTION]])
; CHECK-NEXT: call void @llvm.trap()
; CHECK-NEXT: unreachable

; A continuation that lands inside a `try` has the handlers too, and what it caught itself it resumes.
; CHECK-LABEL: define internal i32 @in_try.osr.0(i32 %0){{.*}} personality ptr @__gxx_personality_v0
; CHECK: invoke void @may_throw()
; CHECK: landingpad
; CHECK: call void @_Unwind_Resume(
; CHECK-NEXT: unreachable
