; A function without a cut edge counts in an array: no call but those that make the forest, which does not
; live across the function's own calls.
; RUN: %opt -passes='path-profile-gen<k=8;verify>' -S %s | FileCheck %s

; CHECK: @[[TABLE:"?__midflight_table.abs.[0-9a-f]*"?]] = private constant [{{.*}} x i8] c"{{.*}}", section "midflight_tables", align 8
; CHECK: @[[SLOT:"?__midflight_slot.abs.[0-9a-f]*"?]] = internal thread_local global ptr null

; CHECK-LABEL: define i32 @abs(i32 %x)
; CHECK:         %[[KNOWN:.*]] = load ptr, ptr @[[SLOT]]
; CHECK-NEXT:    %[[MISSING:.*]] = icmp eq ptr %[[KNOWN]], null
; CHECK-NEXT:    br i1 %[[MISSING]], label %midflight.enter, label %body, !prof
; CHECK:       midflight.enter:
; CHECK-NEXT:    %[[MADE:.*]] = call ptr @midflight_enter(ptr @[[TABLE]], ptr @[[SLOT]])
; CHECK:       body:
; CHECK-NEXT:    %midflight.forest = phi ptr [ %[[KNOWN]], {{.*}} ], [ %[[MADE]], %midflight.enter ]
; CHECK-NEXT:    getelementptr inbounds i8, ptr %midflight.forest, i64 8
; CHECK-NEXT:    load atomic i64, {{.*}} monotonic, align 8
; CHECK:         store atomic i64 {{.*}} monotonic, align 8
; CHECK:       {{^}}join:
; CHECK-NEXT:    %midflight.path = phi i64
; CHECK:         %z = call i32 @f()
; CHECK-NEXT:    %s = add
; CHECK-NEXT:    %[[AGAIN:.*]] = load ptr, ptr @[[SLOT]]
; CHECK-NEXT:    %[[LOST:.*]] = icmp eq ptr %[[AGAIN]], null
; CHECK-NEXT:    br i1 %[[LOST]], label %[[ENTER:.*]], label %midflight.found, !prof
; CHECK:       [[ENTER]]:
; CHECK-NEXT:    %[[MADE:.*]] = call ptr @midflight_enter(ptr @[[TABLE]], ptr @[[SLOT]])
; CHECK:       midflight.found:
; CHECK-NEXT:    %[[FOUND:.*]] = phi ptr [ %[[AGAIN]], %join ], [ %[[MADE]], %[[ENTER]] ]
; CHECK-NEXT:    %[[COUNTERS:.*]] = getelementptr inbounds i8, ptr %[[FOUND]], i64 40
; CHECK-NEXT:    getelementptr inbounds i64, ptr %[[COUNTERS]], i64 %midflight.path
; CHECK-NOT:     call
; CHECK:         ret i32
declare i32 @f()
define i32 @abs(i32 %x) {
  %neg = icmp slt i32 %x, 0
  br i1 %neg, label %flip, label %join
flip:
  %y = sub i32 0, %x
  br label %join
join:
  %r = phi i32 [ %x, %0 ], [ %y, %flip ]
  %z = call i32 @f()
  %s = add i32 %r, %z
  ret i32 %s
}

; Where two blocks count behind calls, the forest lives on.
; CHECK-LABEL: define i32 @both(i32 %x)
; CHECK:         load ptr, ptr @__midflight_slot.both
; CHECK:         %a = call i32 @f()
; CHECK-NOT:     @__midflight_slot.both
; CHECK:         store atomic i64
; CHECK-NOT:     @__midflight_slot.both
; CHECK:         store atomic i64
; CHECK-NOT:     @__midflight_slot.both
; CHECK:       declare
define i32 @both(i32 %x) {
  %a = call i32 @f()
  %neg = icmp slt i32 %a, 0
  br i1 %neg, label %one, label %other
one:
  ret i32 %x
other:
  ret i32 %a
}
