; LICM keeps %p in a register. What base stores in the loop is pending in opt: it is stored on the way
; back, and read on the way there.
; RUN: %opt -passes='osr-opt<up=always;down=always;verify>(loop-simplify,lcssa,loop-mssa(licm))' -S %s | FileCheck %s
; RUN: %opt -passes='osr-opt<up=always;down=always;verify;debug-mutant=store>(loop-simplify,lcssa,loop-mssa(licm))' -S %s | FileCheck %s --check-prefix=MUTANT
; RUN: %opt -passes='print<osr-map;maps;detail>(loop-simplify,lcssa,loop-mssa(licm))' -disable-output %s | FileCheck %s --check-prefix=MAPS

; CHECK-LABEL: define internal i32 @f.base.osr(
; CHECK: osr.entry:
; CHECK-NEXT: store i32 %{{.*}}, ptr %{{.*}}, align 4
; CHECK-LABEL: define internal i32 @f.opt.osr(
; CHECK: osr.entry:
; CHECK-NEXT: load i32, ptr %{{.*}}, align 4
; CHECK: done:
; CHECK: store i32

; MUTANT-LABEL: define internal i32 @f.base.osr(
; MUTANT: osr.entry:
; MUTANT-NOT: store
; MUTANT: loop:

; MAPS: "maps":
; MAPS-SAME: "content":4,"address":
; MAPS-SAME: "stores":[{"store":4,"value":{{[0-9]+}},"address":{{[0-9]+}}}],"differs":true
; MAPS-SAME: "detail":
; MAPS-SAME: "compensation":["memory'{{[0-9]+}} = load %p"
; MAPS-SAME: "compensation":["store %{{[^,]*}}, %p"
define i32 @f(ptr %p, i32 %n) {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %old = load i32, ptr %p
  %new = add i32 %old, %i
  store i32 %new, ptr %p
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %done

done:
  ret i32 %next
}
