; On entry an activation finds its node by the word, if the node is of the function and the caller's frame is
; still there; else the runtime is asked. A function without calls neither keeps its frame nor touches the word.
; RUN: %opt -passes='cct-profile-gen<verify>' -S %s | FileCheck %s
; RUN: %opt -passes='cct-profile-gen<stage=late;granularity=sites;verify>' -S %s | FileCheck %s
; RUN: %opt -passes='cct-profile-gen<stage=inlined;verify>' -S %s | FileCheck %s --check-prefix=EARLY
; RUN: sed 's/wchar_size/ThinLTO/;s/i32 4}/i32 0}/' %s | %opt -passes='cct-profile-gen<verify>' -S | FileCheck %s --check-prefix=EARLY
; RUN: sed 's/+sse2/+avx/' %s | %opt -passes='cct-profile-gen<verify>' -S | FileCheck %s --check-prefix=WIDE
; RUN: sed 's/x86_64/aarch64/;s/+sse2/+neon/' %s | %opt -passes='cct-profile-gen<verify>' -S | FileCheck %s --check-prefix=ARM
; RUN: %opt -passes='cct-profile-gen<verify>' -S %s | llc -O2 | FileCheck %s --check-prefix=CODE
target triple = "x86_64-unknown-linux-gnu"

; CHECK:      @[[RECORD:"?__midflight_contexts.leaf.[0-9a-f]*"?]] = private constant [{{.*}} x i8] c"{{.*}}", section "midflight_tables", align 8
; CHECK:      @midflight_context_word = external thread_local({{.*}}) global ptr

; CHECK-LABEL: define i32 @leaf(i32 %x)
; CHECK-NEXT:    %[[AT:.*]] = call ptr @llvm.addressofreturnaddress.p0()
; CHECK-NEXT:    %[[FRAME:.*]] = ptrtoint ptr %[[AT]] to i64
; CHECK-NEXT:    %[[SLOT:.*]] = load atomic ptr, ptr @midflight_context_word monotonic, align 8
; CHECK-NEXT:    %[[FOUND:.*]] = load atomic ptr, ptr %[[SLOT]] monotonic, align 8
; CHECK-NEXT:    %[[ITS:.*]] = getelementptr inbounds i8, ptr %[[FOUND]], i64 8
; CHECK-NEXT:    %[[WHOSE:.*]] = load ptr, ptr %[[ITS]]
; CHECK-NEXT:    %[[OTHER:.*]] = icmp ne ptr %[[WHOSE]], @[[RECORD]]
; CHECK-NEXT:    br i1 %[[OTHER]], label %midflight.enter, label %midflight.known, !prof ![[UNLIKELY:.*]]
; CHECK:       {{^}}midflight.known:
; CHECK-NEXT:    %[[UP:.*]] = getelementptr inbounds i8, ptr %[[FOUND]], i64 24
; CHECK-NEXT:    %[[PARENT:.*]] = load ptr, ptr %[[UP]]
; CHECK-NEXT:    %[[FRAME_AT:.*]] = getelementptr inbounds i8, ptr %[[PARENT]], i64 32
; CHECK-NEXT:    %[[ITS_FRAME:.*]] = load i64, ptr %[[FRAME_AT]]
; CHECK-NEXT:    %[[GONE:.*]] = icmp sle i64 %[[ITS_FRAME]], %[[FRAME]]
; CHECK-NEXT:    br i1 %[[GONE]], label %midflight.enter, label %body, !prof ![[UNLIKELY]]
; CHECK:       {{^}}midflight.enter:
; CHECK:         %[[ENTERED:.*]] = call ptr asm sideeffect "{{.*}}midflight_context_enter_sparing@GOTPCREL{{.*}}"(ptr {{.*}}, ptr @[[RECORD]])
; CHECK-NEXT:    br label %body
; CHECK:       {{^}}body:
; CHECK-NEXT:    %[[NODE:.*]] = phi ptr [ %[[FOUND]], %midflight.known ], [ %[[ENTERED]], %midflight.enter ]
; CHECK-NEXT:    %[[COUNT:.*]] = load atomic i64, ptr %[[NODE]] monotonic, align 8
; CHECK-NEXT:    %[[MORE:.*]] = add i64 %[[COUNT]], 1
; CHECK-NEXT:    store atomic i64 %[[MORE]], ptr %[[NODE]] monotonic, align 8
; CHECK-NEXT:    ret i32 %x

; Where functions may still be inlined, the frame may be the parent's own, and a call does no harm.
; EARLY-LABEL: define i32 @leaf(i32 %x)
; EARLY:         %[[FRAME:.*]] = ptrtoint ptr %{{.*}} to i64
; EARLY:         %[[ITS_FRAME:.*]] = load i64, ptr
; EARLY-NEXT:    %[[GONE:.*]] = icmp sgt i64 %[[FRAME]], %[[ITS_FRAME]]
; EARLY-NEXT:    br i1 %[[GONE]], label %midflight.enter, label %body, !prof
; EARLY:         call ptr @midflight_context_enter(i64 %[[FRAME]], ptr @

; Registers that the entry does not keep: a call.
; WIDE-LABEL: define i32 @leaf(i32 %x)
; WIDE:         icmp sle i64
; WIDE:         call ptr @midflight_context_enter(i64

; ARM-LABEL: define i32 @leaf(i32 %x)
; ARM:         icmp ne ptr {{.*}}, @__midflight_contexts.leaf
; ARM:         icmp sle i64
; ARM:         call ptr @midflight_context_enter(i64
; ARM:         ret i32 %x

; No frame is made for it.
; CODE-LABEL: leaf:
; CODE-NOT:     push
; CODE-NOT:     call
; CODE:         midflight_context_word@
; CODE-NOT:     push
; CODE-NOT:     call
; CODE:         incq
; CODE-NOT:     push
; CODE-NOT:     call
; CODE:         jmpq *midflight_context_enter_sparing@GOTPCREL(%rip)
; CODE:         .cfi_endproc
define i32 @leaf(i32 %x) "target-features"="+sse2" {
  ret i32 %x
}

!llvm.module.flags = !{!0}
!0 = !{i32 1, !"wchar_size", i32 4}
