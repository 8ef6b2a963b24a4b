; Base is taken behind mem2reg or sroa, so that what a pipeline begins with need not be mapped.
; RUN: %opt -passes='osr-opt<mem2reg;up=always;down=always;verify>(sroa,early-cse)' -S %s | FileCheck %s --check-prefix=REGISTERS
; RUN: %opt -passes='osr-opt<sroa;up=always;down=always;verify>(sroa,early-cse)' -S %s | FileCheck %s --check-prefix=STRUCTURES
; RUN: not %opt -passes='osr-opt<sroa;mem2reg>(early-cse)' -disable-output %s 2>&1 | FileCheck %s --check-prefix=ERROR

; REGISTERS-LABEL: define i32 @f(
; REGISTERS: %pair = alloca
; STRUCTURES-LABEL: define i32 @f(
; STRUCTURES-NOT: alloca
; STRUCTURES: define internal i32 @f.base.osr(
; STRUCTURES: define internal i32 @f.opt.osr(
; STRUCTURES-NOT: alloca
; ERROR: 'sroa' and 'mem2reg' exclude each other

declare i32 @take(i32)

define i32 @f(i32 %a, i32 %n) {
entry:
  %pair = alloca { i32, i32 }
  %one = getelementptr { i32, i32 }, ptr %pair, i32 0, i32 0
  %two = getelementptr { i32, i32 }, ptr %pair, i32 0, i32 1
  store i32 %a, ptr %one
  store i32 0, ptr %two
  br label %head
head:
  %i = load i32, ptr %two
  %sum = load i32, ptr %one
  %x = call i32 @take(i32 %sum)
  %more.sum = add i32 %sum, %x
  store i32 %more.sum, ptr %one
  %next = add i32 %i, 1
  store i32 %next, ptr %two
  %more = icmp slt i32 %next, %n
  br i1 %more, label %head, label %end
end:
  %result = load i32, ptr %one
  ret i32 %result
}
