; The API for compiler writers, from C: insert, remove, compensation code, a clear message.
; RUN: clang -I%llvm_root/include -I%plugin_include %S/Inputs/c-api.c -o %t %plugin \
; RUN:   -L%llvm_root/lib -lLLVM-%llvm -Wl,-rpath,%llvm_root/lib -Wl,-rpath,%plugin_dir
; RUN: %t %s >%t.ll 2>%t.err
; RUN: FileCheck %s --check-prefix=SAYS <%t.err
; RUN: FileCheck %s <%t.ll
; RUN: %llvm_root/bin/lli %t.ll | FileCheck %s --check-prefix=RUNS

; SAYS: live at the point: 3
; SAYS: inserting OSR point 'hot': the state map has no landing for it; use map_landing

; CHECK-LABEL: define i64 @sum(
; CHECK: [[COUNTER:%p.osr[.0-9]*]] = phi i32 [ 4, %entry ]
; CHECK: tail call i64 @fast.osr(i64 %i, i64 %s, i64 %n)
; CHECK-NOT: osr.fire{{[0-9]}}
; CHECK-LABEL: define internal i64 @fast.osr(
; CHECK: load i64, ptr @moves
; CHECK: [[DOUBLE:%double[0-9]*]] = add i64 [[I:%[0-9]]], [[I]]

; RUNS: 328350 1 328350 2 5 2
@moves = global i64 0
@text = constant [11 x i8] c"%ld %ld %s\00"
@plain = constant [9 x i8] c"%ld %ld \00"
declare i32 @printf(ptr, ...)

define i64 @sum(i64 %n) {
entry:
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %loop, label %done
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi i64 [ 0, %entry ], [ %total, %loop ]
  %square = mul i64 %i, %i
  %total = add i64 %s, %square
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  %r = phi i64 [ 0, %entry ], [ %total, %loop ]
  ret i64 %r
}

define i64 @fast(i64 %m) {
begin:
  %some = icmp sgt i64 %m, 0
  br i1 %some, label %body, label %end
body:
  %double = phi i64 [ 0, %begin ], [ %double.next, %body ]
  %acc = phi i64 [ 0, %begin ], [ %acc.next, %body ]
  %half = lshr i64 %double, 1
  %sq = mul i64 %half, %half
  %acc.next = add i64 %acc, %sq
  %double.next = add i64 %double, 2
  %limit = shl i64 %m, 1
  %again = icmp slt i64 %double.next, %limit
  br i1 %again, label %body, label %end
end:
  %res = phi i64 [ 0, %begin ], [ %acc.next, %body ]
  ret i64 %res
}

define i32 @main() {
  br label %twice
twice:
  %round = phi i32 [ 0, %0 ], [ %after, %twice ]
  %result = call i64 @sum(i64 100)
  %moves = load i64, ptr @moves
  call i32 (ptr, ...) @printf(ptr @plain, i64 %result, i64 %moves)
  %after = add i32 %round, 1
  %again = icmp slt i32 %after, 2
  br i1 %again, label %twice, label %out
out:
  ; Too short to move.
  %short = call i64 @sum(i64 3)
  %still = load i64, ptr @moves
  call i32 (ptr, ...) @printf(ptr @plain, i64 %short, i64 %still)
  ret i32 0
}
