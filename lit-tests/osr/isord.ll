; The running example of the thesis, 4.1.2: Fig. 4.4 is `isord`, which asks of an array whether it is
; in order. The base gets a hotness counter as in Fig. 4.5, the continuation is that of Fig. 4.7 but
; for the inlined comparator, and both are lowered as in Fig. 4.8.
; RUN: %opt -passes='osr-point<where=loop-header;when=count:1000>' -S %s -o %t.ll
; RUN: FileCheck %s --input-file=%t.ll
; RUN: llc -O2 %t.ll -o - | FileCheck %s --check-prefix=ASM

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

; Fig. 4.5: the counter is a phi of the loop's body, the check is at the body's head, and what fires
; calls the continuation with the four live values and returns what it returns.
; CHECK-LABEL: define i32 @isord(ptr %v, i64 %n, ptr %c)
; CHECK: loop.body:
; CHECK-DAG: [[LEFT:%p.osr[.0-9]*]] = phi i32 [ 1000, %entry ], [ [[NEXT:%.*]], %loop.header ]
; CHECK-DAG: %i = phi i64 [ %i1, %loop.header ], [ 1, %entry ]
; CHECK: [[NEXT]] = sub i32 [[LEFT]], 1
; CHECK-NEXT: [[FIRES:%.*]] = icmp eq i32 [[NEXT]], 0
; CHECK-NEXT: br i1 [[FIRES]], label %osr.fire, label %osr.cont, !prof [[UNLIKELY:![0-9]+]]
; CHECK: osr.cont:
; CHECK-NEXT: %t2 = getelementptr inbounds i64, ptr %v, i64 %i
; CHECK: exit:
; CHECK-NEXT: phi i32 [ 1, %entry ], [ 1, %loop.header ], [ 0, %osr.cont ]
; CHECK: osr.fire:
; CHECK: [[RESULT:%.*]] = tail call i32 @isord.osr.4(i64 %i, ptr %v, i64 %n, ptr %c)
; CHECK-NEXT: ret i32 [[RESULT]]

; Fig. 4.7: a new entry that jumps to the landing, a phi that takes the parameter, no old entry.
; CHECK-LABEL: define internal i32 @isord.osr.4(i64 %0, ptr %1, i64 %2, ptr %3)
; CHECK-NEXT: osr.entry:
; CHECK-NEXT: br label %loop.body
; CHECK-NOT: {{^}}entry:
; CHECK: loop.header:
; CHECK-NEXT: %t1 = icmp slt i64 %i1, %2
; CHECK: loop.body:
; CHECK-NEXT: %i = phi i64 [ %i1, %loop.header ], [ %0, %osr.entry ]
; CHECK-NEXT: %t2 = getelementptr inbounds i64, ptr %1, i64 %i
; CHECK: call i32 %3(
; CHECK: exit:
; CHECK-NEXT: phi i32 [ {{0, %loop.body|1, %loop.header}} ], [ {{0, %loop.body|1, %loop.header}} ]{{$}}
; CHECK: [[UNLIKELY]] = !{!"branch_weights", i32 1,

; Fig. 4.8: two instructions in the loop, here too with the counter fused with the index, and a jump
; to the continuation.
; ASM-LABEL: isord:
; ASM: # %loop.body
; ASM: {{(cmpl|cmpq) \$100[01]|decl|addl \$-1|incl}}
; ASM-NEXT: {{je|jne}}
; ASM: # %osr.fire
; ASM-NOT: call
; ASM: jmp isord.osr.4
; ASM-LABEL: {{^}}isord.osr.4:
; ASM-NOT: midflight
; ASM: retq

define i32 @isord(ptr %v, i64 %n, ptr %c) {
entry:
  %t0 = icmp sgt i64 %n, 1
  br i1 %t0, label %loop.body, label %exit

loop.header:
  %t1 = icmp slt i64 %i1, %n
  br i1 %t1, label %loop.body, label %exit

loop.body:
  %i = phi i64 [ %i1, %loop.header ], [ 1, %entry ]
  %t2 = getelementptr inbounds i64, ptr %v, i64 %i
  %t3 = add nsw i64 %i, -1
  %t4 = getelementptr inbounds i64, ptr %v, i64 %t3
  %t7 = tail call i32 %c(ptr %t4, ptr %t2)
  %t8 = icmp sgt i32 %t7, 0
  %i1 = add nuw nsw i64 %i, 1
  br i1 %t8, label %exit, label %loop.header

exit:
  %res = phi i32 [ 1, %entry ], [ 1, %loop.header ], [ 0, %loop.body ]
  ret i32 %res
}
