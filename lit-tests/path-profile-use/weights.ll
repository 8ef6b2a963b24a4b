; Weights, entry counts, the summary, and marks of loops; what the source expects gives way to what was counted.
; RUN: %opt -passes='path-profile-use<file=%S/Inputs/weights.json;verify>' -S %s | FileCheck %s
; The frequencies are those of the counts.
; RUN: %opt -passes='path-profile-use<file=%S/Inputs/weights.json>,print<branch-prob>,print<block-freq>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=PROB

source_filename = "unit.c"

; CHECK-LABEL: define i32 @loop(
; CHECK-SAME: !prof ![[ENTRY:[0-9]+]]
; CHECK-NOT: llvm.expect
; CHECK: br i1 %is, label %then, label %next, !prof ![[THEN:[0-9]+]]
; Two cases lead to one block, and share its count.
; CHECK: switch i32 %i, label %latch [
; CHECK: ], !prof ![[SWITCH:[0-9]+]]
; CHECK: br i1 %more, label %body, label %done, !prof ![[LATCH:[0-9]+]], !llvm.loop ![[LOOP:[0-9]+]]
; PROB-LABEL: 'Branch Probability Analysis' for function 'loop'
; PROB: edge %body -> %then probability is {{.*}} = 25.00%
; PROB: edge %latch -> %body probability is {{.*}} = 99.00%
; PROB: block-frequency-info: loop
; PROB: body: float = 100.0, int = {{[0-9]+}}, count = 1000
; PROB: then: float = 25.0, int = {{[0-9]+}}, count = 250
define i32 @loop(i32 %n) {
entry:
  br label %body

body:
  %i = phi i32 [ 0, %entry ], [ %i.next, %latch ]
  %bit = and i32 %i, 1
  %is = icmp ne i32 %bit, 0
  %odd = call i1 @llvm.expect.i1(i1 %is, i1 true)
  br i1 %odd, label %then, label %next

then:
  br label %next

next:
  switch i32 %i, label %latch [
    i32 1, label %case
    i32 2, label %case
  ]

case:
  br label %latch

latch:
  %i.next = add i32 %i, 1
  %more = icmp slt i32 %i.next, %n
  br i1 %more, label %body, label %done

done:
  ret i32 %i
}

declare i1 @llvm.expect.i1(i1, i1)
; CHECK-LABEL: define void @never()
; CHECK-SAME: #[[COLD:[0-9]+]] !prof ![[ZERO:[0-9]+]]
define void @never() {
  ret void
}

; CHECK-LABEL: define internal void @local()
; CHECK-SAME: !prof ![[LOCAL:[0-9]+]]
define internal void @local() {
  ret void
}

; CHECK: attributes #[[COLD]] = { cold }
; CHECK: !"ProfileSummary"
; CHECK: !"MaxFunctionCount", i64 50
; CHECK-DAG: ![[ENTRY]] = !{!"function_entry_count", i64 10}
; CHECK-DAG: ![[THEN]] = !{!"branch_weights", i32 250, i32 750}
; CHECK-DAG: ![[SWITCH]] = !{!"branch_weights", i32 900, i32 50, i32 50}
; CHECK-DAG: ![[LATCH]] = !{!"branch_weights", i32 990, i32 10}
; CHECK-DAG: ![[LOOP]] = distinct !{![[LOOP]], ![[MARK:[0-9]+]]}
; CHECK-DAG: ![[MARK]] = !{!"midflight.unroll", i32 4}
; CHECK-DAG: ![[ZERO]] = !{!"function_entry_count", i64 0}
; CHECK-DAG: ![[LOCAL]] = !{!"function_entry_count", i64 50}
