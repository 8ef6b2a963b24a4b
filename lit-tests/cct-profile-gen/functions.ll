; With granularity=functions all calls share one slot, and the record has no call sites.
; RUN: %opt -passes='cct-profile-gen<granularity=functions;verify>' -S %s | FileCheck %s
; RUN: %opt -passes='cct-profile-gen<verify>' -S %s | FileCheck %s --check-prefix=SITES
target triple = "x86_64-unknown-linux-gnu"

; A record has its size, the interface, flags, LLVM, the key, a hash, and how many slots there are.
; CHECK: @__midflight_contexts.calls.{{.*}} = private constant {{.*}} c"{{.*}}\01\00\00\00\05calls\00\01
; SITES: @__midflight_contexts.calls.{{.*}} = private constant {{.*}} c"{{.*}}\02\00\00\00\05calls\00\01

declare void @f()

; CHECK-LABEL: define void @calls(
; CHECK:         %[[ONE:.*]] = getelementptr inbounds i8, ptr %midflight.node, i64 64
; CHECK-NEXT:    store atomic ptr %[[ONE]], ptr @midflight_context_word monotonic
; CHECK-NEXT:    call void @f()
; CHECK-NEXT:    %[[TWO:.*]] = getelementptr inbounds i8, ptr %midflight.node, i64 64
; CHECK-NEXT:    store atomic ptr %[[TWO]], ptr @midflight_context_word monotonic
; CHECK-NEXT:    call void @f()
; SITES-LABEL: define void @calls(
; SITES:         ptr %midflight.node, i64 72
define void @calls() {
  call void @f()
  call void @f()
  ret void
}
