; Algorithm 4 as published: a cursor in the frame, which begins at each marker ∗, and a call for each path.
; Nothing is inlined, no rounds are counted, and no function has counters.
; RUN: %opt -passes='path-profile-gen<k=4;algorithm=published;verify>' -S %s | FileCheck %s

; The flags and the version of LLVM, behind the size and the version.
; CHECK: @__midflight_table.sum.{{[0-9a-f]+}} = private constant [{{[0-9]+}} x i8] c"{{.+}}\00\00\00\{{[0-9A-F][0-9A-F]}}\00\04\1{{[36]}}
; CHECK-LABEL: define i32 @sum(
; CHECK:         %midflight.cursor = alloca [3 x i64], align 8
; CHECK-NEXT:    %{{.*}} = load ptr, ptr @__midflight_slot
; CHECK:       {{^}}body:
; CHECK:         store i64 0, ptr %midflight.cursor
; CHECK:         %[[TAU:.*]] = getelementptr inbounds i8, ptr %midflight.cursor, i64 8
; CHECK-NEXT:    store ptr null, ptr %[[TAU]]
; CHECK-NOT:     midflight.rounds
; CHECK-NOT:     midflight.state
; CHECK:       {{^}}loop:
; CHECK:         call void @midflight_published_step(ptr %midflight.cursor, i32 %{{.*}}, ptr %midflight.forest)
; CHECK:       {{^}}done:
; CHECK:         call void @midflight_published_step(ptr %midflight.cursor, i32 %{{.*}}, ptr %midflight.forest)
; CHECK-NEXT:    ret i32
define i32 @sum(i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret i32 %next
}

; A function without a loop has no counters either.
; CHECK-LABEL: define i32 @choose(
; CHECK:         %midflight.path = phi i32
; CHECK:         call void @midflight_published_step(ptr %midflight.cursor, i32 %midflight.path, ptr %midflight.forest)
; CHECK-NEXT:    ret i32
define i32 @choose(i1 %c) {
entry:
  br i1 %c, label %left, label %right
left:
  br label %join
right:
  br label %join
join:
  %r = phi i32 [ 1, %left ], [ 2, %right ]
  ret i32 %r
}

; Behind each return of a call that returns twice the stream begins anew.
; CHECK-LABEL: define i32 @twice(
; CHECK:         call void @midflight_published_step(
; CHECK-NEXT:    %r = call i32 @setjmp(
; CHECK-NEXT:    br label %[[REST:.*]]
; CHECK:       {{^}}[[REST]]:
; CHECK-NEXT:    store i64 0, ptr %midflight.cursor
; CHECK-NEXT:    %[[AGAIN:.*]] = getelementptr inbounds i8, ptr %midflight.cursor, i64 8
; CHECK-NEXT:    store ptr null, ptr %[[AGAIN]]
; CHECK:         call void @midflight_published_step(
; CHECK-NEXT:    ret i32 %r
declare i32 @setjmp(ptr) returns_twice
define i32 @twice(ptr %buffer) {
  %r = call i32 @setjmp(ptr %buffer) returns_twice
  ret i32 %r
}

; CHECK-NOT: midflight_step
; CHECK-NOT: midflight_run
; CHECK: declare void @midflight_published_step(ptr, i32, ptr)
; CHECK-NOT: midflight_step
; CHECK-NOT: midflight_run
