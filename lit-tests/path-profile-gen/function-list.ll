; A list of functions to include or exclude.
; RUN: printf 'fun:hot_*\n!hot_not # excluded again\n' > %t.list
; RUN: %opt -passes='path-profile-gen<functions=%t.list>' -S %s | FileCheck %s

; CHECK-LABEL: define void @hot_loop()
; CHECK: midflight_enter
define void @hot_loop() {
  ret void
}

; CHECK-LABEL: define void @hot_not()
; CHECK-NEXT: ret void
define void @hot_not() {
  ret void
}

; CHECK-LABEL: define void @cold()
; CHECK-NEXT: ret void
define void @cold() {
  ret void
}
