; Each reason why there is no point: print<osr-points> says it of each point, and osr-point tells it as
; a remark. Points of the same functions that stay eligible: behind what must not run again.
; RUN: %opt -passes='print<osr-points>' -disable-output %s 2>&1 | FileCheck %s
; RUN: %opt -passes='osr-point<where=all;when=always>' -pass-remarks-missed=midflight-osr -disable-output %s 2>&1 | FileCheck %s --check-prefix=REMARK
; RUN: %opt -passes='osr-point<where=all;when=always>' -pass-remarks-output=%t.yaml -disable-output %s
; RUN: FileCheck %s --input-file=%t.yaml --check-prefix=NAME
; RUN: %opt -passes='print<osr-points;build;summary>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=BUILD

; The names are for machines.
; NAME: --- !Missed
; NAME-NEXT: Pass: midflight-osr
; NAME-NEXT: Name: Naked
; NAME-NEXT: Function: naked

; BUILD: points of the module: {{.*}} built, 0 broken

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

declare i32 @setjmp(ptr) returns_twice
declare void @use(ptr)
declare i32 @callee(i32)
declare token @llvm.call.preallocated.setup(i32)
declare ptr @llvm.call.preallocated.arg(token, i32)
declare ptr @llvm.returnaddress(i32)
declare ptr @llvm.stacksave.p0()
declare void @llvm.stackrestore.p0(ptr)
declare void @llvm.va_start.p0(ptr)
declare void @unique() noduplicate
declare i32 @__gxx_personality_v0(...)
declare i32 @__CxxFrameHandler3(...)
declare i32 @personality_of_nobody(...)
declare void @takes_preallocated(ptr preallocated(i32))
declare x86_amx @llvm.x86.tilezero.internal(i16, i16)
declare void @llvm.x86.tilestored64.internal(i16, i16, ptr, i64, x86_amx)

; REMARK: remark: {{.*}}no OSR points{{.*}}: the function is naked: it has no frame
; REMARK-NEXT: remark: {{.*}}no OSR points{{.*}}: the function is a coroutine that is not split yet
; REMARK-NEXT: remark: {{.*}}no OSR points{{.*}}: the function's exception handling uses funclets
; REMARK-NEXT: remark: {{.*}}no OSR points{{.*}}: the function resolves an ifunc: it runs before relocation
; REMARK-NEXT: remark: {{.*}}no OSR points{{.*}}: the function returns twice or calls what does, as setjmp
; REMARK-NEXT: remark: {{.*}}no OSR points{{.*}}: the function returns twice or calls what does, as setjmp
; REMARK-NEXT: remark: {{.*}}no OSR points{{.*}}: a garbage collector knows the function's frames
; REMARK-NEXT: remark: {{.*}}no OSR points{{.*}}: a parameter depends on the frame (inalloca, preallocated, swifterror, swiftasync)
; REMARK-NEXT: remark: {{.*}}no OSR points{{.*}}: an alloca depends on the frame (inalloca, swifterror)
; REMARK-NEXT: remark: {{.*}}no OSR point here: a musttail call follows, which needs the function's prototype
; REMARK-NEXT: remark: {{.*}}no OSR point here: a musttail call follows, which needs the function's prototype
; REMARK-NEXT: remark: {{.*}}no OSR point here: it is between a call in tail position and its return
; REMARK-NEXT: remark: {{.*}}no OSR point here: va_start follows, and a continuation has no variable arguments
; REMARK-NEXT: remark: {{.*}}no OSR point here: va_start follows, and a continuation has no variable arguments
; REMARK-NEXT: remark: {{.*}}no OSR point here: a computed goto follows, whose addresses are of this version
; REMARK-NEXT: remark: {{.*}}no OSR point here: a call or assembly follows of which there may be one only
; REMARK-NEXT: remark: {{.*}}no OSR point here: a call or assembly follows of which there may be one only
; REMARK-NEXT: remark: {{.*}}no OSR point here: what follows asks for the address of the frame or its caller
; REMARK-NEXT: remark: {{.*}}no OSR point here: what follows resumes an exception in a way not known
; REMARK-NEXT: remark: {{.*}}no OSR point here: what follows resumes an exception in a way not known
; REMARK-NEXT: remark: {{.*}}no OSR point here: a token is live, which cannot be passed
; REMARK-NEXT: remark: {{.*}}no OSR point here: a token is live, which cannot be passed
; REMARK-NEXT: remark: {{.*}}no OSR point here: a saved stack pointer is live, which is of this frame
; REMARK-NEXT: remark: {{.*}}no OSR point here: a saved stack pointer is live, which is of this frame
; REMARK-NEXT: remark: {{.*}}no OSR point here: a saved stack pointer is live, which is of this frame
; REMARK-NEXT: remark: {{.*}}no OSR point here: a value is live whose type cannot be passed
; REMARK-NEXT: remark: {{.*}}no OSR point here: a value is live whose type cannot be passed

; CHECK: available_externally#0 ret: AvailableExternally: the function's body here is a copy for inlining only
define available_externally i32 @available_externally() {
  ret i32 0
}

; CHECK: naked#0 unreachable: Naked: the function is naked: it has no frame
define void @naked() naked {
  unreachable
}

; CHECK: coroutine#0 ret: Coroutine: the function is a coroutine that is not split yet
define void @coroutine() presplitcoroutine {
  ret void
}

; CHECK: funclets#0 ret: FuncletPersonality: the function's exception handling uses funclets
define void @funclets() personality ptr @__CxxFrameHandler3 {
  ret void
}

@ifunc = ifunc void (), ptr @ifunc_resolver
; CHECK: ifunc_resolver#0 ret: IfuncResolver: the function resolves an ifunc: it runs before relocation
define ptr @ifunc_resolver() {
  ret ptr null
}

; CHECK: returns_twice#0 call: ReturnsTwice: the function returns twice or calls what does, as setjmp
; CHECK-NEXT: returns_twice#1 ret: ReturnsTwice: the function returns twice or calls what does, as setjmp
define i32 @returns_twice(ptr %buffer) {
  %r = call i32 @setjmp(ptr %buffer) returns_twice
  ret i32 %r
}

; CHECK: is_setjmp#0 ret: ReturnsTwice: the function returns twice or calls what does, as setjmp
define i32 @is_setjmp(ptr %buffer) returns_twice {
  ret i32 0
}

; CHECK: collected#0 ret: GarbageCollected: a garbage collector knows the function's frames
define void @collected() gc "shadow-stack" {
  ret void
}

; CHECK: parameter#0 ret: UnsupportedParameter: a parameter depends on the frame (inalloca, preallocated, swifterror, swiftasync)
define void @parameter(ptr swifterror %e) {
  ret void
}

; CHECK: alloca#0 ret: UnsupportedAlloca: an alloca depends on the frame (inalloca, swifterror)
define void @alloca() {
  %e = alloca swifterror ptr
  ret void
}

; CHECK: processed#0 ret: Processed: the function has points already, or is a continuation
define void @processed() "midflight-osr" {
  ret void
}

; CHECK: must_tail#0 add: MustTail: a musttail call follows, which needs the function's prototype
; CHECK-NEXT: must_tail#1 call: MustTail: a musttail call follows, which needs the function's prototype
; CHECK-NEXT: must_tail#2 ret: TailPosition: it is between a call in tail position and its return
define i32 @must_tail(i32 %a) {
  %b = add i32 %a, 1
  %r = musttail call i32 @callee(i32 %b)
  ret i32 %r
}

; CHECK: va_start#0 add: VaStart: va_start follows, and a continuation has no variable arguments
; CHECK-NEXT: va_start#1 call: VaStart: va_start follows, and a continuation has no variable arguments
; CHECK-NEXT: va_start#2 call: {{[{]}}%list, %b}
; CHECK-NEXT: va_start#3 ret: {{[{]}}%b}
define i32 @va_start(i32 %a, ...) {
  %list = alloca [24 x i8]
  %b = add i32 %a, 1
  call void @llvm.va_start.p0(ptr %list)
  call void @use(ptr %list)
  ret i32 %b
}

; CHECK: computed_goto#0 indirectbr: ComputedGoto: a computed goto follows, whose addresses are of this version
; CHECK-NEXT: computed_goto#1 ret: {{[{]}}}
; CHECK-NEXT: computed_goto#2 ret: {{[{]}}}
define i32 @computed_goto(ptr %where) {
entry:
  indirectbr ptr %where, [label %a, label %b]
a:
  ret i32 1
b:
  ret i32 2
}

; CHECK: no_duplicate#0 call: NoDuplicate: a call or assembly follows of which there may be one only
; CHECK-NEXT: no_duplicate#1 ret: {{[{]}}}
define void @no_duplicate() {
  call void @unique()
  ret void
}

; CHECK: symbol#0 call: NoDuplicate: a call or assembly follows of which there may be one only
; CHECK-NEXT: symbol#1 ret: {{[{]}}}
define void @symbol() {
  call void asm sideeffect "only_one_of_me:\0A nop", ""()
  ret void
}

; CHECK: reads_frame#0 call: ReadsFrame: what follows asks for the address of the frame or its caller
; CHECK-NEXT: reads_frame#1 ret: {{[{]}}%a}
define ptr @reads_frame() {
  %a = call ptr @llvm.returnaddress(i32 0)
  ret ptr %a
}

; CHECK: resume#0 invoke: UnknownResume: what follows resumes an exception in a way not known
; CHECK-NEXT: resume#1 ret: {{[{]}}%r}
; CHECK-NEXT: resume#2 resume: UnknownResume: what follows resumes an exception in a way not known
define i32 @resume(i32 %a) personality ptr @personality_of_nobody {
entry:
  %r = invoke i32 @callee(i32 %a) to label %normal unwind label %pad
normal:
  ret i32 %r
pad:
  %e = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %e
}

; CHECK: token#0 call: {{[{]}}}
; CHECK-NEXT: token#1 call: LiveToken: a token is live, which cannot be passed
; CHECK-NEXT: token#2 call: LiveToken: a token is live, which cannot be passed
; CHECK-NEXT: token#3 ret: {{[{]}}}
define void @token() {
  %t = call token @llvm.call.preallocated.setup(i32 1)
  %a = call ptr @llvm.call.preallocated.arg(token %t, i32 0) preallocated(i32)
  call void @takes_preallocated(ptr preallocated(i32) %a) [ "preallocated"(token %t) ]
  ret void
}

; CHECK: stack_save#0 call: {{[{]}}%n}
; CHECK-NEXT: stack_save#1 alloca: LiveStackSave: a saved stack pointer is live, which is of this frame
; CHECK-NEXT: stack_save#2 call: LiveStackSave: a saved stack pointer is live, which is of this frame
; CHECK-NEXT: stack_save#3 call: LiveStackSave: a saved stack pointer is live, which is of this frame
; CHECK-NEXT: stack_save#4 ret: {{[{]}}}
define void @stack_save(i64 %n) {
  %s = call ptr @llvm.stacksave.p0()
  %m = alloca i8, i64 %n
  call void @use(ptr %m)
  call void @llvm.stackrestore.p0(ptr %s)
  ret void
}

; CHECK: opaque#0 call: {{[{]}}%p}
; CHECK-NEXT: opaque#1 call: LiveOpaque: a value is live whose type cannot be passed
; CHECK-NEXT: opaque#2 ret: {{[{]}}}
define void @opaque(ptr %p) {
  %t = call x86_amx @llvm.x86.tilezero.internal(i16 8, i16 8)
  call void @llvm.x86.tilestored64.internal(i16 8, i16 8, ptr %p, i64 64, x86_amx %t)
  ret void
}

; CHECK: after_callbr#0 callbr: {{[{]}}%a}
; CHECK-NEXT: after_callbr#1 add: LiveOpaque: a value is live whose type cannot be passed
; CHECK-NEXT: after_callbr#2 ret: {{[{]}}%x}
; CHECK-NEXT: after_callbr#3 ret: {{[{]}}}
define i32 @after_callbr(i32 %a) {
entry:
  %r = callbr i32 asm sideeffect "", "=r,r,!i"(i32 %a) to label %direct [label %indirect]
direct:
  %x = add i32 %r, 1
  ret i32 %x
indirect:
  ret i32 0
}
