; Calls that leave the process without destructors write the profile first, and functions that show
; what is done about signals are replaced.
; RUN: %opt -passes='path-profile-gen<k=2>' -S %s | FileCheck %s
; RUN: %opt -passes='path-profile-gen<k=2>,path-profile-gen<k=2>' -S %s | FileCheck %s
; RUN: echo 'fun:main' > %t.main && echo 'fun:nobody' > %t.nobody
; RUN: %opt -passes='path-profile-gen<k=2;functions=%t.main>' -S %s | FileCheck %s --check-prefix=LISTED
; RUN: %opt -passes='path-profile-gen<k=2;functions=%t.nobody>' -S %s | FileCheck %s --check-prefix=NONE
; RUN: sed 's/x86_64/aarch64/' %s > %t.arm.ll
; RUN: %opt -passes='path-profile-gen<k=2>' -S %t.arm.ll | FileCheck %s --check-prefix=ARM
; RUN: sed 's/x86_64/riscv64/' %s > %t.unknown.ll
; RUN: %opt -passes='path-profile-gen<k=2>' -S %t.unknown.ll | FileCheck %s --check-prefix=UNKNOWN

target triple = "x86_64-unknown-linux-gnu"

@table = global ptr @signal

declare void @_exit(i32) noreturn
declare i32 @execve(ptr, ptr, ptr)
declare i32 @execl(ptr, ptr, ...)
declare i32 @sigaction(i32, ptr, ptr)
declare ptr @signal(i32, ptr)
declare void @__sysv_signal(ptr)
declare ptr @sysv_signal(i32, ptr)
declare ptr @bsd_signal(i32, ptr)
declare ptr @ssignal(i32, ptr)
declare ptr @sigset(i32, ptr)
declare i32 @sigaltstack(ptr, ptr)
declare i32 @daemon(i32, i32)
declare i64 @syscall(i64, ...)

; CHECK: @table = global ptr @midflight_signal

; CHECK-LABEL: define i32 @main(
; CHECK: call ptr @midflight_signal(i32 15, ptr null)
; CHECK: call i32 @midflight_sigaction(i32 15, ptr null, ptr %p)
; A function of another type is not libc's.
; CHECK: call void @__sysv_signal(ptr %p)
; CHECK-NOT: midflight_before_end
; CHECK: call void @midflight_before_end()
; CHECK-NEXT: call i32 @execve(
; CHECK-NOT: midflight_before_end
; CHECK: call void @midflight_before_end()
; CHECK-NEXT: call i32 (ptr, ptr, ...) @execl(
; CHECK-NOT: midflight_before_end
; CHECK: call void @midflight_before_end()
; CHECK-NEXT: call void @_exit(
define i32 @main(ptr %p) {
  %a = call ptr @signal(i32 15, ptr null)
  %b = call i32 @sigaction(i32 15, ptr null, ptr %p)
  call void @__sysv_signal(ptr %p)
  %c = call i32 @execve(ptr %p, ptr %p, ptr %p)
  %d = call i32 (ptr, ptr, ...) @execl(ptr %p, ptr %p, ptr null)
  call void @_exit(i32 1)
  unreachable
}

; Functions that lead out of the process within libc, or show what is done about signals.
; CHECK-LABEL: define i32 @within(
; CHECK: call i32 @midflight_daemon(i32 0, i32 0)
; CHECK: call i32 @midflight_sigaltstack(ptr null, ptr %p)
; CHECK: call ptr @midflight_sigset(i32 15, ptr null)
; CHECK: call ptr @midflight_signal(i32 15, ptr null)
; CHECK: call ptr @midflight_signal(i32 15, ptr null)
; CHECK: call ptr @midflight_sysv_signal(i32 15, ptr null)
define i32 @within(ptr %p) {
  %a = call i32 @daemon(i32 0, i32 0)
  %b = call i32 @sigaltstack(ptr null, ptr %p)
  %c = call ptr @sigset(i32 15, ptr null)
  %d = call ptr @bsd_signal(i32 15, ptr null)
  %e = call ptr @ssignal(i32 15, ptr null)
  %f = call ptr @sysv_signal(i32 15, ptr null)
  ret i32 %b
}

; System calls that end the process are known by their numbers, those of the target.
; CHECK-LABEL: define void @calls(
; CHECK-NOT: midflight_before_end
; CHECK: call i64 (i64, ...) @syscall(i64 39)
; CHECK-NOT: midflight_before_end
; CHECK: call i64 (i64, ...) @syscall(i64 %n)
; CHECK: call void @midflight_before_end()
; CHECK-NEXT: call i64 (i64, ...) @syscall(i64 59,
; CHECK: call void @midflight_before_end()
; CHECK-NEXT: call i64 (i64, ...) @syscall(i64 322,
; CHECK: call void @midflight_before_end()
; CHECK-NEXT: call i64 (i64, ...) @syscall(i64 231,
; CHECK-NOT: midflight_before_end
; CHECK: call i64 (i64, ...) @syscall(i64 94,
; ARM-LABEL: define void @calls(
; ARM-NOT: midflight_before_end
; ARM: call i64 (i64, ...) @syscall(i64 231,
; ARM: call void @midflight_before_end()
; ARM-NEXT: call i64 (i64, ...) @syscall(i64 94,
; UNKNOWN-LABEL: define void @calls(
; UNKNOWN-NOT: midflight_before_end
; UNKNOWN: ret void
define void @calls(i64 %n) {
  %a = call i64 (i64, ...) @syscall(i64 39)
  %b = call i64 (i64, ...) @syscall(i64 %n)
  %c = call i64 (i64, ...) @syscall(i64 59, i64 0, i64 0, i64 0)
  %d = call i64 (i64, ...) @syscall(i64 322, i64 0, i64 0, i64 0, i64 0, i64 0)
  %e = call i64 (i64, ...) @syscall(i64 231, i64 1)
  %f = call i64 (i64, ...) @syscall(i64 94, i64 1)
  ret void
}

; A function that is not counted may end the process all the same.
; CHECK-LABEL: define void @other(
; LISTED-LABEL: define void @other(
; LISTED: call void @midflight_before_end()
; LISTED-NEXT: call void @_exit(
; NONE-NOT:    @midflight
define void @other() memory(none) {
  call void @_exit(i32 2)
  unreachable
}

; CHECK-LABEL: define void @unprofiled(
; CHECK-NOT: midflight
; CHECK: call void @_exit(
define void @unprofiled() noprofile {
  call void @_exit(i32 3)
  unreachable
}
