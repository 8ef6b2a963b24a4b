; A function of which paths are profiled, too, has its forest in the head of its node: it is loaded from there, and the runtime gets
; that slot plus 1. One of which they are not is as ever.
; RUN: echo counted > %t.list
; RUN: %opt -passes='path-profile-gen<k=2;stage=late;functions=%t.list;verify>,cct-profile-gen<context-paths;verify>' -S %s -o %t.ll
; RUN: FileCheck %s < %t.ll
; RUN: llc -O2 %t.ll -o /dev/null
; RUN: not %opt -passes='cct-profile-gen<context-paths;bursts>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=BURSTS
; RUN: not %opt -passes='cct-profile-gen<context-paths;recursion=folded>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=FOLDED
; FOLDED: error: midflight: folding the recursion of calling contexts: paths are counted for each level (context-paths)
; BURSTS: error: midflight: counting calling contexts in bursts: paths are not counted for contexts of a part of a run
target triple = "x86_64-unknown-linux-gnu"

; CHECK-LABEL: define i32 @counted(i32 %x)
; CHECK:         %[[NODE:midflight.node]] = phi ptr
; CHECK:         %[[HEAD:.*]] = getelementptr inbounds i8, ptr %[[NODE]], i64 -24
; CHECK-NEXT:    %[[SLOT:.*]] = getelementptr inbounds i8, ptr %[[NODE]], i64 -23
; CHECK-NOT:     @__midflight_slot
; CHECK:         load ptr, ptr %[[HEAD]]
; CHECK-NOT:     @__midflight_slot
; CHECK:         asm sideeffect {{.*}}midflight_enter_sparing{{.*}}(ptr %[[SLOT]],
; CHECK-NOT:     @__midflight_slot
; CHECK:         ret i32
define i32 @counted(i32 %x) {
entry:
  %is = icmp slt i32 %x, 5
  br i1 %is, label %less, label %rest
less:
  ret i32 1
rest:
  ret i32 2
}

; CHECK-LABEL: define i32 @other(i32 %x)
; CHECK-NOT:     i64 -24
; CHECK:         ret i32
define i32 @other(i32 %x) {
  ret i32 %x
}
