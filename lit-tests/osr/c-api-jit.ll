; A JIT has its points registered, arms them, and has them counted.
; RUN: clang -I%llvm_root/include -I%plugin_include -I%runtime_include %S/Inputs/c-api-jit.c -o %t %plugin \
; RUN:   -L%llvm_root/lib -lLLVM-%llvm -Wl,-rpath,%llvm_root/lib -Wl,-rpath,%plugin_dir %runtime
; RUN: %t %s | FileCheck %s

; CHECK: telling the runtime of a module's points by 'sum': the module has this name already
; CHECK-NEXT: unknown: 0
; CHECK-NEXT: unarmed: 45 0
; CHECK-NEXT: armed: 1 45 1
; CHECK-NEXT: flag: 45 1
; CHECK-NEXT: gone: 0 1

define i64 @sum(i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi i64 [ 0, %entry ], [ %total, %loop ]
  %total = add i64 %s, %i
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret i64 %total
}

define i64 @copy(i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi i64 [ 0, %entry ], [ %total, %loop ]
  %total = add i64 %s, %i
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret i64 %total
}
