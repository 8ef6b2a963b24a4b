; Where times are taken, what has passed is the caller's on entry, and the function's own on each way out: before returns, and
; before calls in tail position.
; RUN: %opt -passes='cct-profile-gen<times;verify>' -S %s | FileCheck %s
; RUN: sed 's/x86_64/aarch64/' %s | %opt -passes='cct-profile-gen<times;verify>' -S | FileCheck %s --check-prefix=ARM
; RUN: not %opt -passes='cct-profile-gen<times;bursts>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=BURSTS
; RUN: sed 's/x86_64/riscv64/' %s | not %opt -passes='cct-profile-gen<times>' -disable-output 2>&1 | FileCheck %s --check-prefix=TARGET
; BURSTS: error: midflight: counting calling contexts in bursts: times are not taken of a part of a run
; TARGET: error: midflight: taking the times of calling contexts: there is no counter for it but on x86-64 and AArch64
target triple = "x86_64-unknown-linux-gnu"

; CHECK-LABEL: define i32 @leaf(i32 %x)
; CHECK:       {{^}}body:
; CHECK:         %[[NODE:midflight.node]] = phi ptr
; CHECK:         %[[UP:.*]] = getelementptr inbounds i8, ptr %[[NODE]], i64 24
; CHECK-NEXT:    %[[CALLER:.*]] = load atomic ptr, ptr %[[UP]] monotonic, align 8
; CHECK-NEXT:    %[[NOW:.*]] = call i64 @llvm.readcyclecounter()
; CHECK-NEXT:    %[[LAST:.*]] = load atomic i64, ptr getelementptr inbounds {{.*}}(i8, ptr @midflight_context_word, i64 32) monotonic, align 8
; CHECK-NEXT:    %[[LATER:.*]] = icmp sgt i64 %[[NOW]], %[[LAST]]
; CHECK-NEXT:    %[[PASSED:.*]] = sub i64 %[[NOW]], %[[LAST]]
; CHECK-NEXT:    %[[SPENT:.*]] = select i1 %[[LATER]], i64 %[[PASSED]], i64 0
; CHECK-NEXT:    %[[AT:.*]] = getelementptr inbounds i8, ptr %[[CALLER]], i64 -8
; CHECK-NEXT:    %[[OLD:.*]] = load atomic i64, ptr %[[AT]] monotonic, align 8
; CHECK-NEXT:    %[[NEW:.*]] = add i64 %[[OLD]], %[[SPENT]]
; CHECK-NEXT:    store atomic i64 %[[NEW]], ptr %[[AT]] monotonic, align 8
; CHECK-NEXT:    %[[LATEST:.*]] = select i1 %[[LATER]], i64 %[[NOW]], i64 %[[LAST]]
; CHECK-NEXT:    store atomic i64 %[[LATEST]], ptr getelementptr inbounds {{.*}}(i8, ptr @midflight_context_word, i64 32) monotonic, align 8
; CHECK:         call i64 @llvm.readcyclecounter()
; CHECK:         %[[OWN:.*]] = getelementptr inbounds i8, ptr %[[NODE]], i64 -8
; CHECK-NEXT:    load atomic i64, ptr %[[OWN]] monotonic, align 8
; CHECK:         ret i32 %x
; ARM-LABEL:   define i32 @leaf(i32 %x)
; ARM-COUNT-2:   call i64 asm sideeffect "mrs $0, cntvct_el0", "=r"()
; ARM:           ret i32 %x
define i32 @leaf(i32 %x) {
  ret i32 %x
}

declare void @outside()

; Once on entry, and once before the call in tail position.
; CHECK-LABEL: define void @leaves()
; CHECK:         call i64 @llvm.readcyclecounter()
; CHECK-NOT:     readcyclecounter
; CHECK:         call void @outside()
; CHECK-NOT:     call void @outside()
; CHECK:         call i64 @llvm.readcyclecounter()
; CHECK-NOT:     readcyclecounter
; CHECK:         tail call void @outside()
; CHECK-NEXT:    ret void
define void @leaves() {
  call void @outside()
  tail call void @outside()
  ret void
}

; The same where the callee puts the word back.
; CHECK-LABEL: define void @goes_on()
; CHECK-COUNT-2: call i64 @llvm.readcyclecounter()
; CHECK-NOT:     readcyclecounter
; CHECK:         tail call void @leaves()
; CHECK-NEXT:    ret void
define void @goes_on() {
  tail call void @leaves()
  ret void
}
