; Calls that leave the process without destructors write the profile first, and functions that show
; what is done about signals are replaced.
; RUN: %opt -passes='path-profile-gen<k=2>' -S %s | FileCheck %s
; RUN: %opt -passes='path-profile-gen<k=2>,path-profile-gen<k=2>' -S %s | FileCheck %s
; RUN: echo 'fun:main' > %t.main && echo 'fun:nobody' > %t.nobody
; RUN: %opt -passes='path-profile-gen<k=2;functions=%t.main>' -S %s | FileCheck %s --check-prefix=LISTED
; RUN: %opt -passes='path-profile-gen<k=2;functions=%t.nobody>' -S %s | FileCheck %s --check-prefix=NONE

@table = global ptr @signal

declare void @_exit(i32) noreturn
declare i32 @execve(ptr, ptr, ptr)
declare i32 @execl(ptr, ptr, ...)
declare i32 @sigaction(i32, ptr, ptr)
declare ptr @signal(i32, ptr)
declare void @__sysv_signal(ptr)

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
