; A call whose block goes to one that only returns is in tail position in the code that LLVM makes: such blocks return
; themselves.
; RUN: %opt -passes='cct-profile-gen<verify>' -S %s | FileCheck %s
target triple = "x86_64-unknown-linux-gnu"

define internal i32 @leaf(i32 %x) {
  ret i32 %x
}
declare i32 @g(i32)
declare void @f()

; CHECK-LABEL: define i32 @all(
; CHECK:       {{^}}one:
; CHECK:         store atomic ptr %{{.*}}, ptr @midflight_context_word
; CHECK-NEXT:    %r = tail call i32 @leaf(
; CHECK-NEXT:    ret i32 %r
; CHECK:       {{^}}other:
; CHECK:         store atomic ptr %{{.*}}, ptr @midflight_context_word
; CHECK-NEXT:    %s = tail call i32 @g(
; CHECK-NEXT:    ret i32 %s
; CHECK-NOT:   phi
; CHECK:       {{^}}}
define i32 @all(i32 %x, i1 %c) {
  br i1 %c, label %one, label %other
one:
  %r = tail call i32 @leaf(i32 %x)
  br label %done
other:
  %s = tail call i32 @g(i32 %x)
  br label %done
done:
  %t = phi i32 [ %r, %one ], [ %s, %other ]
  ret i32 %t
}

; Where only one may, the others go there as ever.
; CHECK-LABEL: define i32 @some(
; CHECK:       {{^}}one:
; CHECK:         %r = tail call i32 @g(
; CHECK-NEXT:    ret i32 %r
; CHECK:       {{^}}other:
; CHECK:         %s = call i32 @g(
; CHECK-NEXT:    br label %done
; CHECK:       {{^}}done:
; CHECK-NEXT:    %t = phi i32 [ {{3|%s}}, %{{.*}} ], [ {{3|%s}}, %{{.*}} ]
; CHECK-NEXT:    getelementptr inbounds i8, ptr %midflight.node, i64 16
; CHECK:         ret i32 %t
define i32 @some(i32 %x, i32 %way) {
  switch i32 %way, label %done [ i32 1, label %one i32 2, label %other ]
one:
  %r = tail call i32 @g(i32 %x)
  br label %done
other:
  %s = call i32 @g(i32 %x)
  br label %done
done:
  %t = phi i32 [ %r, %one ], [ %s, %other ], [ 3, %0 ]
  ret i32 %t
}

; Another value, another way out of the block, or a return that does something: nothing is changed.
; CHECK-LABEL: define i32 @none(
; CHECK:       {{^}}one:
; CHECK:         %r = tail call i32 @g(
; CHECK-NEXT:    br label %done
; CHECK:       {{^}}other:
; CHECK:         tail call void @f()
; CHECK-NEXT:    br i1 %c, label %done, label %more
define i32 @none(i32 %x, i1 %c) {
  br i1 %c, label %one, label %other
one:
  %r = tail call i32 @g(i32 %x)
  br label %done
other:
  tail call void @f()
  br i1 %c, label %done, label %more
more:
  ret i32 0
done:
  %t = phi i32 [ %x, %one ], [ 1, %other ]
  ret i32 %t
}

; CHECK-LABEL: define i32 @stores(
; CHECK:       {{^}}one:
; CHECK:         %r = tail call i32 @g(
; CHECK-NEXT:    br label %done
define i32 @stores(i32 %x, i1 %c, ptr %p) {
  br i1 %c, label %one, label %done
one:
  %r = tail call i32 @g(i32 %x)
  br label %done
done:
  %t = phi i32 [ %r, %one ], [ 1, %0 ]
  store i32 1, ptr %p
  ret i32 %t
}
