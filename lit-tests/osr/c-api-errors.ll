; A wrong call of the C API is a message that names point and value, and changes nothing.
; RUN: clang -I%llvm_root/include -I%plugin_include %S/Inputs/c-api-errors.c -o %t %plugin \
; RUN:   -L%llvm_root/lib -lLLVM-%llvm -Wl,-rpath,%llvm_root/lib -Wl,-rpath,%plugin_dir
; RUN: %t %s | FileCheck %s

; CHECK: (nil)
; CHECK-NEXT: (nil)
; CHECK-NEXT: mapping a function to its copy: one of them is no function with a body
; CHECK-NEXT: inserting OSR point 'hot': there is no state map
; CHECK-NEXT: inserting OSR point 'hot': the state map leads to 'to', which has no body in the module of the point
; CHECK-NEXT: mapping %m of 'to' to %n of 'from': the first is to be a value of 'from', and the second one of 'to'
; CHECK-NEXT: mapping %n of 'from' to i64 1: a constant is the same in both functions
; CHECK-NEXT: mapping null to %m of 'to': the first is to be a value of 'from'
; CHECK-NEXT: inserting OSR point 'hot': what it is to be before is no instruction of a function
; CHECK-NEXT: inserting OSR point 'hot': a patch point needs x86-64 or AArch64, and the module is for ''
; CHECK-NEXT: inserting OSR point 'hot': %1 of 'to' is live at the landing
; CHECK-NEXT: inserting OSR point 'hot': the compensation code for %1 of 'to' gives no value
; CHECK-NEXT: inserting OSR point 'hot': the compensation code for %1 of 'to' gives %2 of 'from', which does not exist in the continuation
; CHECK-NEXT: inserting OSR point 'hot': the compensation code for %1 of 'to' gives a value of another type
; CHECK-NEXT: inserting OSR point 'hot': the compensation code for %1 of 'to' needs %2 of 'from', which is not available at the point
; CHECK-NEXT: inserting OSR point 'hot': a landing is no instruction of a function
; CHECK-NEXT: unchanged

define i64 @from(i64 %n) {
  %1 = mul i64 %n, 2
  %2 = add i64 %1, %n
  ret i64 %2
}

define i64 @to(i64 %m) {
  %1 = shl i64 %m, 1
  %2 = add i64 %1, %m
  ret i64 %2
}
