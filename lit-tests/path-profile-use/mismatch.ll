; A function with another control flow than in the profile, or none there, gets a remark and no weights.
; RUN: %opt -passes='path-profile-use<file=%S/Inputs/weights.json;verify>' -pass-remarks-missed=midflight -S %s 2>%t.remarks | FileCheck %s
; RUN: FileCheck %s --check-prefix=REMARK < %t.remarks

source_filename = "other.c"

; REMARK: no counts: its control flow (hash {{[0-9a-f]+}}) is not that of the profile
; CHECK-LABEL: define i32 @loop(i32 %n) {
; CHECK-NEXT: entry:
; CHECK: br i1 %c, label %a, label %b{{$}}
define i32 @loop(i32 %n) {
entry:
  %c = icmp eq i32 %n, 0
  br i1 %c, label %a, label %b
a:
  ret i32 1
b:
  ret i32 2
}

; REMARK: no counts: the profile has no function of this name
; CHECK-LABEL: define void @stranger() {
define void @stranger() {
  ret void
}

; The local function of another unit is not this one.
; REMARK: no counts: the profile has no function of this name
; CHECK-LABEL: define internal void @local() {
define internal void @local() {
  ret void
}
