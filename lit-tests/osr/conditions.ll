; When a point fires: the check of each condition, and what the record says of it (the last two numbers
; of a site: OSR_ALWAYS is 0, and so on, and N).
; RUN: %opt -mtriple=x86_64-unknown-linux-gnu -passes='osr-point<where=loop-header;when=always>' -S %s | FileCheck %s --check-prefixes=CHECK,ALWAYS
; RUN: %opt -mtriple=x86_64-unknown-linux-gnu -passes='osr-point<where=loop-header;when=never>' -S %s | FileCheck %s --check-prefixes=CHECK,NEVER
; RUN: %opt -mtriple=x86_64-unknown-linux-gnu -passes='osr-point<where=loop-header;when=count:7>' -S %s | FileCheck %s --check-prefixes=CHECK,COUNT
; RUN: %opt -mtriple=x86_64-unknown-linux-gnu -passes='osr-point<where=loop-header;when=every:7>' -S %s | FileCheck %s --check-prefixes=CHECK,EVERY
; RUN: %opt -mtriple=x86_64-unknown-linux-gnu -passes='osr-point<where=loop-header;when=flag>' -S %s | FileCheck %s --check-prefixes=CHECK,FLAG
; RUN: %opt -mtriple=x86_64-unknown-linux-gnu -passes='osr-point<where=loop-header>' -S %s | FileCheck %s --check-prefixes=CHECK,FLAG
; RUN: %opt -mtriple=x86_64-unknown-linux-gnu -passes='osr-point<where=loop-header;when=patch>' -S %s | FileCheck %s --check-prefixes=CHECK,PATCH
; A patchable point is a flag where code cannot be patched, which is said.
; RUN: %opt -mtriple=riscv64-unknown-linux-gnu -passes='osr-point<where=loop-header;when=patch>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=OTHER
; RUN: %opt -passes='osr-point<where=loop-header;when=patch>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=NONE
; RUN: %opt -passes='osr-opt<down=patch>(early-cse)' -disable-output %s 2>&1 | FileCheck %s --check-prefix=NONE
; RUN: %opt -mtriple=x86_64-unknown-linux-gnu -passes='osr-point<where=loop-header;when=patch>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=QUIET --allow-empty
; OTHER: warning: midflight: patch points need x86-64 or AArch64, and the module is for riscv64-unknown-linux-gnu: they become flag points
; NONE: warning: midflight: patch points need x86-64 or AArch64, and the module has no target triple: they become flag points
; QUIET-NOT: {{warning|error}}
; RUN: %opt -mtriple=riscv64-unknown-linux-gnu -passes='osr-point<where=loop-header;when=patch>' -S %s | FileCheck %s --check-prefixes=CHECK,FLAG

; What always fires needs no check.
; RUN: %opt -mtriple=x86_64-unknown-linux-gnu -passes='osr-point<where=loop-header;when=always>,function(simplifycfg)' -S %s | FileCheck %s --check-prefix=OPT-ALWAYS

; ALWAYS: i32 0, i32 0, i32 0, i32 0 }], align 8
; NEVER: i32 0, i32 0, i32 1, i32 0 }], align 8
; COUNT: i32 0, i32 0, i32 2, i32 7 }], align 8
; EVERY: i32 0, i32 0, i32 3, i32 7 }], align 8
; FLAG: i32 0, i32 0, i32 4, i32 0 }], align 8
; PATCH: i32 0, i32 0, i32 5, i32 0 }], align 8

; The countdown of every:N begins with N in the record.
; EVERY: @midflight.osr = {{.*}}i32 0, i32 7, i64 0, i64 0
; CHECK: section "midflight_osr"

; CHECK-LABEL: define i32 @f(i32 %n)
; CHECK: {{^}}loop:
; ALWAYS: br i1 true, label %osr.fire, label %osr.cont
; NEVER: [[ARMED:%.*]] = load atomic i32, ptr getelementptr {{.*}} @midflight.osr, i64 40) monotonic
; NEVER-NEXT: [[FIRES:%.*]] = icmp ne i32 [[ARMED]], 0
; NEVER-NEXT: br i1 [[FIRES]], label %osr.fire, label %osr.cont
; COUNT: phi i32 [ 7, %entry ], [ [[LEFT:%.*]], %osr.cont ]
; COUNT: [[LEFT]] = sub i32 {{%.*}}, 1
; COUNT-NEXT: [[FIRES:%.*]] = icmp eq i32 [[LEFT]], 0
; COUNT-NEXT: br i1 [[FIRES]], label %osr.fire, label %osr.cont
; EVERY: [[OLD:%.*]] = load atomic i32, ptr getelementptr {{.*}} @midflight.osr, i64 44) monotonic
; EVERY-NEXT: [[LEFT:%.*]] = sub i32 [[OLD]], 1
; EVERY-NEXT: store atomic i32 [[LEFT]], ptr getelementptr {{.*}} @midflight.osr, i64 44) monotonic
; EVERY-NEXT: [[FIRES:%.*]] = icmp eq i32 [[LEFT]], 0
; EVERY-NEXT: br i1 [[FIRES]], label %osr.fire, label %osr.cont
; FLAG: [[ARMED:%.*]] = load atomic i32, ptr getelementptr {{.*}} @midflight.osr, i64 40) monotonic
; FLAG-NEXT: [[FIRES:%.*]] = icmp ne i32 [[ARMED]], 0
; FLAG-NEXT: br i1 [[FIRES]], label %osr.fire, label %osr.cont
; PATCH: callbr void asm sideeffect ".p2align 3,,4{{.*}}.byte 0x0f,0x1f,0x44,0x00,0x00{{.*}}pushsection midflight_osr_patch{{.*}}", "i,!i"(i64 {{-?[0-9]+}})
; PATCH-NEXT: to label %osr.cont [label %osr.fire]

; Each transition is counted; every:N begins again before.
; CHECK: {{^}}osr.fire:
; EVERY: store atomic i32 7, ptr getelementptr {{.*}} @midflight.osr, i64 44) monotonic
; CHECK: [[MADE:%.*]] = load atomic i64, ptr getelementptr {{.*}} @midflight.osr, i64 56) monotonic
; CHECK-NEXT: [[MORE:%.*]] = add i64 [[MADE]], 1
; CHECK-NEXT: store atomic i64 [[MORE]], ptr getelementptr {{.*}} @midflight.osr, i64 56) monotonic
; CHECK-NEXT: call i32 @f.osr.1(i32 %i, i32 %n)

; OPT-ALWAYS-LABEL: define i32 @f(
; OPT-ALWAYS-NOT: br i1
; OPT-ALWAYS: tail call i32 @f.osr.1(i32 0, i32 %n)
; OPT-ALWAYS: ret i32
define i32 @f(i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i1, %loop ]
  %i1 = add i32 %i, 1
  %more = icmp slt i32 %i1, %n
  br i1 %more, label %loop, label %exit
exit:
  ret i32 %i1
}
