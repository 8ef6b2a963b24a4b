; What is frozen is one value for as long as the function runs, whatever the solver makes of what was
; frozen: with 200, %x is poison.
; RUN: %opt -passes='osr-opt<fuzz;verify>(sccp)' -S %s -o %t.ll
; RUN: clang -w -O0 %t.ll -o %t %runtime
; RUN: env MIDFLIGHT_OSR_FIRE=at:flags#5 %t >%t.flags
; RUN: FileCheck %s --check-prefix=FLAGS <%t.flags
; RUN: %opt -passes='print<osr-map>(sccp)' -disable-output %s | FileCheck %s --check-prefix=MAP

; FLAGS: [[VALUE:[01]]]
; FLAGS-NEXT: [[VALUE]]
; FLAGS-NEXT: [[VALUE]]

; Behind the first use the versions have parted: opt was given a value of its own.
; MAP: "name":"flags"
; MAP-SAME: "refused":{"base_to_opt":{"Unmatched":3}
; MAP: "name":"undefined"
; MAP-SAME: "refused":{"base_to_opt":{"Unmatched":
; MAP: "name":"branch"
; MAP-NOT: NeverReached
; MAP: "name":"defined"
; MAP-SAME: "refused":{"base_to_opt":{},"opt_to_base":{}}
; MAP: "name":"vanishes"
; MAP-SAME: "refused":{"base_to_opt":{"Unmatched":

@format = constant [4 x i8] c"%d\0A\00"
declare i32 @printf(ptr, ...)

define void @use(i32 %value) noinline {
  ret void
}

define void @flags(i8 %a) noinline {
  %x = add nuw i8 %a, 100
  %c = icmp ult i8 %x, 100
  %z = zext i1 %c to i32
  %f = freeze i32 %z
  %1 = call i32 (ptr, ...) @printf(ptr @format, i32 %f)
  %2 = call i32 (ptr, ...) @printf(ptr @format, i32 %f)
  %3 = call i32 (ptr, ...) @printf(ptr @format, i32 %f)
  ret void
}

; The solver takes what is undefined for 5.
define void @undefined(i1 %some) {
entry:
  br i1 %some, label %five, label %join

five:
  br label %join

join:
  %u = phi i32 [ 5, %five ], [ undef, %entry ]
  %f = freeze i32 %u
  call void @use(i32 %f)
  call void @use(i32 %f)
  ret void
}

; Both sides of a branch on what is frozen may be taken.
define void @branch(i8 %a) {
entry:
  %x = add nuw i8 %a, 100
  %c = icmp ult i8 %x, 100
  %f = freeze i1 %c
  br i1 %f, label %small, label %large

small:
  call void @use(i32 1)
  ret void

large:
  call void @use(i32 2)
  ret void
}

; What is frozen and is well defined is what it was.
define void @defined(i8 noundef %a) {
  %x = and i8 %a, 3
  %c = icmp ult i8 %x, 4
  %z = zext i1 %c to i32
  %f = freeze i32 %z
  call void @use(i32 %f)
  call void @use(i32 %f)
  ret void
}

; What may be poison does not become a constant: memory would not be the same.
define void @vanishes(i8 %a, ptr %p) {
  %x = add nuw i8 %a, 100
  %c = icmp ult i8 %x, 100
  %z = zext i1 %c to i32
  store i32 %z, ptr %p
  call void @use(i32 1)
  store i32 0, ptr %p
  ret void
}

define i32 @main() {
  call void @flags(i8 200)
  ret i32 0
}
