; Every kind of terminator, and where a path is emitted that ends on an edge that cannot be split.
; RUN: %opt -passes='path-profile-gen<verify>' -S %s | FileCheck %s
; RUN: %opt -passes='print<path-numbering>' -disable-output %s | FileCheck %s --check-prefix=PRINT

declare void @may_throw()
declare void @die() noreturn
declare i32 @__gxx_personality_v0(...)
declare i32 @setjmp(ptr) returns_twice

; An edge of an indirectbr cannot be split, so the loop's path ends at the head of its target, on
; whatever edge it came.
; PRINT-LABEL: paths of 'dispatch':
; PRINT: 0 -> 1: unsplittable
; PRINT: 1 -> 1: retreating
; CHECK-LABEL: define void @dispatch(
; CHECK:       op:
; CHECK-DAG:     %midflight.end = phi i32
; CHECK-DAG:     %midflight.path = phi i32
; CHECK:         call i64 %{{.*}}(i64 %{{.*}}, i32 %midflight.end, ptr %midflight.forest)
; CHECK:         indirectbr
define void @dispatch(ptr %p, ptr %q) {
entry:
  br label %op
op:
  %t = phi ptr [ %p, %entry ], [ %q, %op ]
  indirectbr ptr %t, [label %op, label %out]
out:
  ret void
}

; A landing pad in a loop that is the loop's own header.
; CHECK-LABEL: define void @catch_loop(
; CHECK:       pad:
; CHECK:         landingpad
; CHECK-NEXT:      cleanup
; CHECK:         call i64 %{{.*}}(i64 %{{.*}}, i32 %{{.*}}, ptr %midflight.forest)
; CHECK:         invoke void @may_throw()
define void @catch_loop() personality ptr @__gxx_personality_v0 {
entry:
  invoke void @may_throw() to label %out unwind label %pad
pad:
  %lp = landingpad { ptr, i32 } cleanup
  invoke void @may_throw() to label %rethrow unwind label %pad
rethrow:
  resume { ptr, i32 } %lp
out:
  ret void
}

; Before resume.
; CHECK-LABEL: define void @cleanup(
; CHECK:         monotonic
; CHECK:         resume
define void @cleanup() personality ptr @__gxx_personality_v0 {
  invoke void @may_throw() to label %out unwind label %pad
pad:
  %lp = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %lp
out:
  ret void
}

; Before a call that does not return.
; CHECK-LABEL: define void @dead_end(
; CHECK:         %midflight.forest = phi
; CHECK:         store atomic
; CHECK:         store atomic
; CHECK-NEXT:    call void @die()
; CHECK-NEXT:    unreachable
define void @dead_end() {
  call void @die()
  unreachable
}

; Before a call in tail position, which must stay there.
; CHECK-LABEL: define void @forward(
; CHECK:         store atomic
; CHECK:         store atomic
; CHECK-NEXT:    musttail call void @may_throw()
; CHECK-NEXT:    ret void
define void @forward() {
  musttail call void @may_throw()
  ret void
}

; Behind a call that returns twice the stream begins anew.
; PRINT-LABEL: paths of 'again':
; PRINT: 0 -> 1: restart
; CHECK-LABEL: define i32 @again(
; CHECK:         %[[START:.*]] = load atomic i64, ptr %midflight.forest monotonic, align 8
; CHECK:         %[[LAST:.*]] = getelementptr inbounds i8, ptr %midflight.forest, i64 1
; CHECK:         call i64 %{{.*}}(i64 %[[START]], i32 0, ptr %[[LAST]])
; CHECK:         %r = call i32 @setjmp(
; CHECK-NEXT:    br label %restart
; CHECK:       restart:
; CHECK:         call i64 %{{.*}}(i64 %[[START]], i32
; CHECK:         ret i32
define i32 @again(ptr %buffer) {
  %r = call i32 @setjmp(ptr %buffer) returns_twice
  %s = add i32 %r, 1
  ret i32 %s
}

; An asm goto whose indirect target is a loop header.
; CHECK-LABEL: define void @asm_goto(
; CHECK:         callbr void asm
; CHECK:       emit:
; CHECK:         call i64 %{{.*}}(i64 %{{.*}}, i32 %{{.*}}, ptr %midflight.forest)
define void @asm_goto() {
entry:
  br label %loop
loop:
  callbr void asm sideeffect "", "!i"() to label %out [label %loop]
out:
  ret void
}

; An irreducible loop: two entries, one retreating edge.
; PRINT-LABEL: paths of 'irreducible':
; PRINT: retreating
; CHECK-LABEL: define void @irreducible(
define void @irreducible(i1 %c) {
  br i1 %c, label %a, label %b
a:
  br i1 %c, label %b, label %out
b:
  br i1 %c, label %a, label %out
out:
  ret void
}

; A block that nothing reaches keeps its phi entries valid.
; CHECK-LABEL: define void @with_dead_block(
; CHECK:         phi i64 {{.*}}[ poison, %dead ]
define void @with_dead_block(i1 %c) {
  br i1 %c, label %x, label %y
dead:
  br label %y
x:
  br label %y
y:
  call void @may_throw()
  ret void
}

; A function that claims to have no effects does not any more.
; CHECK: define i32 @pure(i32 %x) #[[PURE:[0-9]+]]
define i32 @pure(i32 %x) memory(none) speculatable {
  ret i32 %x
}
; CHECK-LABEL: define i32 @calls_pure
; CHECK: call i32 @pure(i32 %x)
; CHECK-NOT: memory(none)
; CHECK: attributes #[[PURE]] = { "midflight-paths" }
define i32 @calls_pure(i32 %x) {
  %y = call i32 @pure(i32 %x) memory(none)
  %z = add i32 %y, 1
  ret i32 %z
}
