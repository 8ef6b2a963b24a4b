; What instcombine rewrites is proved to be the same: conditions that are inverted, comparisons and
; switches of narrower values, signed operations that became unsigned, loads and operations that moved
; over phis, copies of memory that became stores. Flags that only one version has go in both.
; RUN: %opt -passes='print<osr-map>(instcombine<no-verify-fixpoint>)' -disable-output %s | FileCheck %s
; RUN: %opt -passes='osr-opt<up=always;down=always;checked>(instcombine<no-verify-fixpoint>)' -verify-each -S %s -o /dev/null

; CHECK: "name":"inverted"
; CHECK-SAME: "base_to_opt":{"total":[[N:[0-9]+]],{{[^}]*}}"avail":[[N]],
; CHECK-SAME: "unproved":[]
define i32 @inverted(i32 %a, i32 %b) {
  %c = icmp ne i32 %a, 0
  br i1 %c, label %one, label %two
one:
  %x = call i32 @take(i32 %a)
  ret i32 %x
two:
  %y = call i32 @take(i32 %b)
  ret i32 %y
}

; CHECK: "name":"narrow"
; CHECK-SAME: "base_to_opt":{"total":[[N:[0-9]+]],{{[^}]*}}"avail":[[N]],
; CHECK-SAME: "unproved":[]
define i32 @narrow(ptr %p) {
  %l = load i8, ptr %p
  %w = zext i8 %l to i32
  switch i32 %w, label %other [ i32 3, label %one
                                i32 200, label %two ]
one:
  %x = call i32 @take(i32 1)
  ret i32 %x
two:
  %y = call i32 @take(i32 2)
  ret i32 %y
other:
  %m = and i32 %w, 8
  %c = icmp ne i32 %m, 0
  br i1 %c, label %one, label %two
}

; The index starts at 0 and steps without overflow.
; CHECK: "name":"counted"
; CHECK-SAME: "base_to_opt":{"total":[[N:[0-9]+]],{{[^}]*}}"avail":[[N]],
; CHECK-SAME: "unproved":[]
define void @counted(ptr %p, i32 %n) {
  br label %head
head:
  %i = phi i32 [ 0, %0 ], [ %next, %body ]
  %c = icmp slt i32 %i, 100
  br i1 %c, label %body, label %exit
body:
  %index = sext i32 %i to i64
  %at = getelementptr inbounds i32, ptr %p, i64 %index
  store i32 %n, ptr %at
  %next = add nsw i32 %i, 1
  br label %head
exit:
  ret void
}

; CHECK: "name":"list"
; CHECK-SAME: "base_to_opt":{"total":[[N:[0-9]+]],{{[^}]*}}"avail":[[N]],
; CHECK-SAME: "unproved":[]
define i32 @list(ptr %p) {
  %first = load ptr, ptr %p
  br label %head
head:
  %q = phi ptr [ %first, %0 ], [ %next, %body ]
  %c = icmp ne ptr %q, null
  br i1 %c, label %body, label %exit
body:
  %x = call i32 @take(i32 1)
  %link = getelementptr inbounds { i64, ptr }, ptr %q, i32 0, i32 1
  %next = load ptr, ptr %link
  br label %head
exit:
  ret i32 0
}

; CHECK: "name":"copied"
; CHECK-SAME: "base_to_opt":{"total":[[N:[0-9]+]],{{[^}]*}}"avail":[[N]],
; CHECK-SAME: "unproved":[]
define i32 @copied(ptr %p, ptr %q) {
  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 8, i1 false)
  call void @llvm.memset.p0.i64(ptr %q, i8 1, i64 4, i1 false)
  %x = call i32 @take(i32 1)
  ret i32 %x
}

; A division is no total operation, and one version does not divide.
; CHECK: "name":"guarded"
; CHECK-SAME: "unproved":[{"cause":"
define i32 @guarded(i32 %a, i32 %b) {
  %z = icmp eq i32 %b, 0
  br i1 %z, label %zero, label %divide
zero:
  ret i32 0
divide:
  %q = sdiv i32 %a, %b
  %m = mul i32 %q, %b
  %r = sub i32 %a, %m
  %x = call i32 @take(i32 %r)
  ret i32 %x
}

declare i32 @take(i32)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
