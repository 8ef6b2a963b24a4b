; Where recursion is folded an activation counts in the node that it finds, and goes on in the one that stands before it: there are its
; slots and its frame, which is stored before each call. The word is put back to what the node that was found says, and the frame to
; that of the activation before.
; RUN: %opt -passes='cct-profile-gen<recursion=folded;verify>' -S %s | FileCheck %s
; RUN: %opt -passes='cct-profile-gen<recursion=folded;times;verify>' -S %s | FileCheck %s --check-prefix=TIMES
; RUN: %opt -passes='cct-profile-gen<recursion=folded;granularity=functions;stage=early;verify>' -S %s | FileCheck %s --check-prefix=FUNCTIONS
; RUN: %opt -passes='cct-profile-gen' -S %s > %t.default && %opt -passes='cct-profile-gen<recursion=levels>' -S %s | diff %t.default -
; RUN: not %opt -passes='cct-profile-gen<recursion=none>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=CHOICE
; RUN: not %opt -passes='cct-profile-gen<recursion=folded;bursts>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=BURSTS
; RUN: not %opt -passes='cct-profile-gen<recursion=folded;oracle>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=ORACLE
; CHOICE: error: {{.*}}option 'recursion=none': it must be levels or folded
; BURSTS: error: midflight: counting calling contexts in bursts: recursion=folded counts all of a run
; ORACLE: error: midflight: folding the recursion of calling contexts: the option oracle tells levels of recursion apart
target triple = "x86_64-unknown-linux-gnu"

; CHECK-LABEL: define i32 @walk(i32 %n)
; CHECK:         %[[FRAME:.*]] = ptrtoint ptr %{{.*}} to i64
; CHECK:       {{^}}body:
; CHECK-NEXT:    %[[FOUND:.*]] = phi ptr [ %{{.*}}, %midflight.known ], [ %{{.*}}, %midflight.enter ]
; CHECK-NEXT:    load atomic i64, ptr %[[FOUND]] monotonic, align 8
; CHECK-NEXT:    add i64
; CHECK-NEXT:    store atomic i64 %{{.*}}, ptr %[[FOUND]] monotonic, align 8
; CHECK-NEXT:    %[[HEAD:.*]] = getelementptr inbounds i8, ptr %[[FOUND]], i64 -16
; CHECK-NEXT:    %[[NODE:.*]] = load atomic ptr, ptr %[[HEAD]] monotonic, align 8
; CHECK-NEXT:    %[[BEFORE_AT:.*]] = getelementptr inbounds i8, ptr %[[NODE]], i64 32
; CHECK-NEXT:    %[[BEFORE:.*]] = load atomic i64, ptr %[[BEFORE_AT]] monotonic, align 8
; CHECK-NEXT:    %[[BACK_AT:.*]] = getelementptr inbounds i8, ptr %[[FOUND]], i64 16
; CHECK-NEXT:    %[[BACK:.*]] = load atomic ptr, ptr %[[BACK_AT]] monotonic, align 8
; CHECK-NEXT:    %less = sub i32 %n, 1
; CHECK-NEXT:    %[[FRAME_AT:.*]] = getelementptr inbounds i8, ptr %[[NODE]], i64 32
; CHECK-NEXT:    store atomic i64 %[[FRAME]], ptr %[[FRAME_AT]] monotonic, align 8
; CHECK-NEXT:    %[[FIRST:.*]] = getelementptr inbounds i8, ptr %[[NODE]], i64 64
; CHECK-NEXT:    store atomic ptr %[[FIRST]], ptr @midflight_context_word monotonic, align 8
; CHECK-NEXT:    call i32 @walk(i32 %less)
; CHECK:         store atomic i64 %[[FRAME]], ptr %{{.*}} monotonic, align 8
; CHECK-NEXT:    %[[SECOND:.*]] = getelementptr inbounds i8, ptr %[[NODE]], i64 72
; CHECK-NEXT:    store atomic ptr %[[SECOND]], ptr @midflight_context_word monotonic, align 8
; CHECK-NEXT:    call i32 @walk(i32 %n)
; CHECK-NOT:     load
; CHECK:         store atomic ptr %[[BACK]], ptr @midflight_context_word monotonic, align 8
; CHECK-NEXT:    %[[AGAIN:.*]] = getelementptr inbounds i8, ptr %[[NODE]], i64 32
; CHECK-NEXT:    store atomic i64 %[[BEFORE]], ptr %[[AGAIN]] monotonic, align 8
; CHECK-NEXT:    ret i32
; What passes before the entry is the time of the node above that which was found; behind it, of the one in which it goes on.
; TIMES-LABEL: define i32 @walk(i32 %n)
; TIMES:         %[[FOUND:.*]] = phi ptr
; TIMES:         %[[HEAD:.*]] = getelementptr inbounds i8, ptr %[[FOUND]], i64 -16
; TIMES-NEXT:    %[[NODE:.*]] = load atomic ptr, ptr %[[HEAD]]
; TIMES:         %[[UP:.*]] = getelementptr inbounds i8, ptr %[[FOUND]], i64 24
; TIMES-NEXT:    %[[CALLER:.*]] = load atomic ptr, ptr %[[UP]]
; TIMES:         getelementptr inbounds i8, ptr %[[CALLER]], i64 -8
; TIMES:         getelementptr inbounds i8, ptr %[[NODE]], i64 -8
; FUNCTIONS-LABEL: define i32 @walk(i32 %n)
; FUNCTIONS:       %[[NODE:.*]] = load atomic ptr, ptr
; FUNCTIONS-COUNT-2: getelementptr inbounds i8, ptr %{{.*}}, i64 64
define i32 @walk(i32 %n) {
  %less = sub i32 %n, 1
  %left = call i32 @walk(i32 %less)
  %right = call i32 @walk(i32 %n)
  %sum = add i32 %left, %right
  ret i32 %sum
}

; A function without calls goes on nowhere, unless it takes time.
; CHECK-LABEL: define i32 @leaf(i32 %x)
; CHECK-NOT:     i64 -16
; CHECK:         ret i32 %x
; TIMES-LABEL: define i32 @leaf(i32 %x)
; TIMES:         i64 -16
; TIMES:         ret i32 %x
define i32 @leaf(i32 %x) {
  ret i32 %x
}

; No call in tail position has a slot.
; CHECK-LABEL: define i32 @last(i32 %x)
; CHECK:       {{^}}body:
; CHECK-NOT:     @midflight_context_word
; CHECK:         %result = tail call i32 @leaf(i32 %x)
; CHECK-NEXT:    ret i32 %result
define i32 @last(i32 %x) {
  %result = tail call i32 @leaf(i32 %x)
  ret i32 %result
}
