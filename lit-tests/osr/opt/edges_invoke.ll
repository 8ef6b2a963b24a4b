; What an `invoke` gives is live at the head of a loop behind it, which is rotated: it is there on all ways.
; RUN: %opt -passes='osr-opt<up=always;down=always;verify>(loop-simplify,lcssa,loop(loop-rotate))' -verify-each -S %s -o /dev/null
; RUN: %opt -passes='print<osr-map>(loop-simplify,lcssa,loop(loop-rotate))' -disable-output %s | FileCheck %s
declare i32 @make()
declare i32 @take(i32)
declare i32 @personality(...)

; CHECK: "headers":{"total":1,"avail":1}
define i32 @loop() personality ptr @personality {
entry:
  %v = invoke i32 @make() to label %head unwind label %pad
head:
  %i = phi i32 [ 0, %entry ], [ %next, %body ]
  %more = icmp slt i32 %i, %v
  br i1 %more, label %body, label %end
body:
  %x = call i32 @take(i32 %i)
  %next = add i32 %i, 1
  br label %head
end:
  ret i32 %i
pad:
  %exception = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %exception
}
