; Where the address of a block is taken, it is one of this version's: no continuation may give another. Its
; blocks move all the same when a continuation is made of a copy.
; RUN: %opt -passes='osr-fuzz<verify>,verify' -S %s -o %t.ll
; RUN: FileCheck %s <%t.ll
; RUN: opt -passes='default<O2>' -disable-output %t.ll
; RUN: %opt -passes='osr-point<where=all;when=flag;verify>,verify' -disable-output %s
; RUN: %opt -passes='osr-opt<fuzz;verify>(simplifycfg,early-cse),verify' -disable-output %s
; RUN: %opt -passes='print<osr-points;build>' -disable-output %s
; RUN: %opt -passes='print<osr-points>' -disable-output %s | FileCheck %s --check-prefix=POINTS

target triple = "x86_64-unknown-linux-gnu"

; CHECK-LABEL: define i32 @jumps(
; CHECK: blockaddress(@jumps, %goes)
; CHECK-LABEL: define internal i32 @jumps.osr(
; CHECK-NOT: blockaddress
; CHECK: {{^}$}}
define i32 @jumps() {
  br label %lands
lands:
  %address = ptrtoint ptr blockaddress(@jumps, %goes) to i64
  br label %ends
ends:
  ret i32 0
goes:
  indirectbr ptr null, [label %goes, label %ends]
}

; An interpreter that gives its labels to a table in one call, and jumps in another.
; POINTS: gives#0 br: ComputedGoto
; POINTS: gives#1 store: ComputedGoto
; POINTS: gives#2 ret: {}
; POINTS: gives#3 {{.*}}: ComputedGoto
define void @gives(ptr %table, i1 %begin) {
  br i1 %begin, label %fill, label %run
fill:
  store i64 add (i64 ptrtoint (ptr blockaddress(@gives, %one) to i64), i64 0), ptr %table
  ret void
run:
  %to = load ptr, ptr %table
  indirectbr ptr %to, [label %one]
one:
  ret void
}
