; What a branch says of a value holds of the values congruent with it.
; RUN: %opt -passes='print<osr-map>(early-cse)' -disable-output %s | FileCheck %s --check-prefix=CSE
; RUN: %opt -passes='print<osr-map>(lcssa)' -disable-output %s | FileCheck %s --check-prefix=LCSSA

; What is loaded again is what was compared to 0.
; CSE: "name":"loaded"
; CSE-SAME: "refused":{"base_to_opt":{},"opt_to_base":{}}
define void @loaded(ptr %p) {
entry:
  %first = load i32, ptr %p, align 4
  %is.zero = icmp eq i32 %first, 0
  br i1 %is.zero, label %zero, label %done

zero:
  %second = load i32, ptr %p, align 4
  %sum = add i32 %second, 1
  store i32 %sum, ptr %p, align 4
  br label %done

done:
  ret void
}

; Behind the loop %v has another name.
; LCSSA: "name":"behind"
; LCSSA-SAME: "refused":{"base_to_opt":{},"opt_to_base":{}}
; LCSSA: "name":"merged"
; LCSSA-SAME: "refused":{"base_to_opt":{},"opt_to_base":{}}
define i32 @behind(i32 %n) {
entry:
  br label %head

head:
  %v = call i32 @get()
  %more = icmp ult i32 %v, %n
  br i1 %more, label %head, label %exit

exit:
  %is.five = icmp eq i32 %v, 5
  br i1 %is.five, label %five, label %six

five:
  br label %done

six:
  br label %done

done:
  %r = phi i32 [ %v, %five ], [ 6, %six ]
  call void @use(i32 %r)
  ret i32 %r
}

; What comes in is %v on both ways, though one of them says that it is 0.
define i32 @merged(i32 %n) {
entry:
  br label %head

head:
  %v = call i32 @get()
  %is.zero = icmp eq i32 %v, 0
  br i1 %is.zero, label %exit, label %latch

latch:
  %more = icmp ult i32 %v, %n
  br i1 %more, label %head, label %exit

exit:
  call void @use(i32 %v)
  ret i32 %v
}

declare i32 @get()
declare void @use(i32)
