; What sccp and reassociate make of values is proved to be the same where that cannot be seen from one
; instruction: constants of constants, what branches say of ranges, edges to where nothing goes on, and
; expressions in which the order of operations is another.
; RUN: %opt -passes='print<osr-map>(sccp)' -disable-output %s | FileCheck %s
; RUN: %opt -passes='print<osr-map>(reassociate)' -disable-output %s | FileCheck %s --check-prefix=ORDER
; RUN: %opt -passes='osr-opt<up=always;down=always;checked>(sccp,reassociate)' -verify-each -S %s -o /dev/null

@table = internal constant [4 x i8] c"\07\1E\00\01"

; What is loaded is constant, and neither poison nor undefined.
; CHECK: "name":"loaded"
; CHECK-SAME: "base_to_opt":{"total":[[N:[0-9]+]],{{[^}]*}}"avail":[[N]],
; CHECK-SAME: "unproved":[]
define void @loaded(ptr %p) {
  %byte = load i8, ptr getelementptr inbounds ([4 x i8], ptr @table, i64 0, i64 1)
  %wide = zext i8 %byte to i64
  %at = getelementptr i32, ptr %p, i64 %wide
  store i64 %wide, ptr %at
  ret void
}

; So it is where the address is made of what is well defined and what need not be.
; CHECK: "name":"loaded_behind"
; CHECK-SAME: "base_to_opt":{"total":[[N:[0-9]+]],{{[^}]*}}"avail":[[N]],
; CHECK-SAME: "unproved":[]
define void @loaded_behind(ptr %p, i1 %c) {
  %zero = sext i32 0 to i64
  %two = add nsw i32 1, 1
  %wide = sext i32 %two to i64
  %row = getelementptr inbounds [4 x i8], ptr @table, i64 %zero
  %entry = getelementptr inbounds i8, ptr %row, i64 %wide
  %byte = load i8, ptr %entry
  %index = zext i8 %byte to i64
  %at = getelementptr i32, ptr %p, i64 %index
  store i64 %index, ptr %at
  ret void
}

; Where %x is below 1 it is 0, and neither poison nor undefined: that would be decided by.
; CHECK: "name":"below"
; CHECK-SAME: "base_to_opt":{"total":[[N:[0-9]+]],{{[^}]*}}"avail":[[N]],
; CHECK-SAME: "unproved":[]
define i32 @below(i32 %x, ptr %p) {
entry:
  %is.zero = icmp ult i32 %x, 1
  br i1 %is.zero, label %zero, label %done
zero:
  store i32 %x, ptr %p
  br label %done
done:
  %r = phi i32 [ %x, %zero ], [ 5, %entry ]
  ret i32 %r
}

; Of the four numbers that it can be, each has its case: opt ends where it has none.
; CHECK: "name":"cases"
; CHECK-SAME: "base_to_opt":{"total":[[N:[0-9]+]],{{[^}]*}}"avail":[[N]],
; CHECK-SAME: "unproved":[]
define i32 @cases(i1 %a, i1 %b) {
  %one = select i1 %a, i32 0, i32 1
  %two = select i1 %b, i32 0, i32 2
  %which = add i32 %one, %two
  switch i32 %which, label %none [ i32 0, label %l0
                                   i32 1, label %l1
                                   i32 2, label %l2
                                   i32 3, label %l3 ]
none:
  br label %done
l0:
  %r0 = call i32 @take(i32 10)
  br label %done
l1:
  %r1 = call i32 @take(i32 11)
  br label %done
l2:
  %r2 = call i32 @take(i32 12)
  br label %done
l3:
  %r3 = call i32 @take(i32 13)
  br label %done
done:
  %r = phi i32 [ 1, %none ], [ %r0, %l0 ], [ %r1, %l1 ], [ %r2, %l2 ], [ %r3, %l3 ]
  %s = call i32 @take(i32 %r)
  ret i32 %s
}

; If %x is poison, so is what base stores, and opt stores 0.
; CHECK: "name":"poisoned"
; CHECK-SAME: "unproved":[{"cause":"Operand"
define void @poisoned(i32 %x, ptr %p) {
  %r = urem i32 %x, 1
  store i32 %r, ptr %p
  ret void
}

; ORDER: "name":"masked"
; ORDER-SAME: "base_to_opt":{"total":[[N:[0-9]+]],{{[^}]*}}"avail":[[N]],
; ORDER-SAME: "unproved":[]
define i32 @masked(ptr %p, ptr %q) {
  %a = load i16, ptr %p
  %b = load i16, ptr %q
  %wide.a = zext i16 %a to i32
  %wide.b = zext i16 %b to i32
  %both = and i32 %wide.a, %wide.b
  %bit = and i32 %both, 4
  %is = icmp ne i32 %bit, 0
  br i1 %is, label %one, label %two
one:
  %x = call i32 @take(i32 %bit)
  ret i32 %x
two:
  ret i32 0
}

declare i32 @take(i32)
