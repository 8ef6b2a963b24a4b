; Bad options, and bundles that do not fit the schema, are one clear error each.
; RUN: sed 's/FRAME/i32 1/' %s | not %opt -passes='osr-deopt<sideways>' -disable-output 2>&1 | FileCheck %s --check-prefix=OPTION
; RUN: sed 's/FRAME/i32 1/' %s | not %opt -passes='osr-deopt<prepare;when=flag>' -disable-output 2>&1 | FileCheck %s --check-prefix=WHEN
; RUN: sed 's/FRAME/i32 1/' %s | not %opt -passes='osr-deopt<prepare>(dce)' -disable-output 2>&1 | FileCheck %s --check-prefix=BOTH
; RUN: sed 's/FRAME/i32 1/' %s | not %opt -passes='osr-deopt(globaldce)' -disable-output 2>&1 | FileCheck %s --check-prefix=PIPELINE
; OPTION: error: midflight: pass 'osr-deopt<sideways>': unknown option 'sideways'; known are prepare, when=CONDITION and verify
; WHEN: error: {{.*}}'prepare' and 'when' exclude each other
; BOTH: error: {{.*}}'prepare' and '(PIPELINE)' exclude each other
; PIPELINE: error: midflight: osr-deopt: 'globaldce' is no pipeline of function passes

; RUN: sed 's/FRAME/i32 1/' %s | not %opt -passes=osr-deopt -disable-output 2>&1 | FileCheck %s --check-prefix=SHORT
; SHORT: error: midflight: lowering the deoptimization of 'f': the call of llvm.experimental.deoptimize.i32: frame 1 of its "deopt" bundle needs 5 operands, and 1 are left of 1
; RUN: sed 's/FRAME//' %s | not %opt -passes=osr-deopt -disable-output 2>&1 | FileCheck %s --check-prefix=EMPTY
; EMPTY: its "deopt" bundle is empty
; RUN: sed 's/FRAME/ptr @base, i64 1, i32 0, i32 -1, i32 3, i32 %%a/' %s | not %opt -passes=osr-deopt -disable-output 2>&1 | FileCheck %s --check-prefix=VALUES
; VALUES: frame 1 of its "deopt" bundle needs 8 operands, and 6 are left of 6
; RUN: sed 's/FRAME/ptr @declared, i64 1, i32 0, i32 -1, i32 0/' %s | not %opt -passes=osr-deopt -disable-output 2>&1 | FileCheck %s --check-prefix=VERSION
; VERSION: frame 1 of its "deopt" bundle: the version is @declared; it must be a function with a body in this module
; RUN: sed 's/FRAME/ptr @base, i64 1, i32 2, i32 -1, i32 0/' %s | not %opt -passes=osr-deopt -disable-output 2>&1 | FileCheck %s --check-prefix=BEFORE
; BEFORE: the operand for before or after is i32 2; it must be 0 or 1
; RUN: sed 's/FRAME/ptr @base, i64 1, i32 0, i32 1, i32 1, i32 %%a/' %s | not %opt -passes=osr-deopt -disable-output 2>&1 | FileCheck %s --check-prefix=SLOT
; SLOT: the result slot is i32 1; it must be -1, or the number of a value
; RUN: sed 's/FRAME/ptr @base, i64 9, i32 0, i32 -1, i32 0/' %s | not %opt -passes=osr-deopt -disable-output 2>&1 | FileCheck %s --check-prefix=MARKER
; MARKER: frame 1 of its "deopt" bundle goes on at point 9 of 'base', which has 0 markers `call void (i64, ...) @midflight.landing(i64 9, ...)`; it must have one
; RUN: sed 's/FRAME/ptr @base, i64 2, i32 0, i32 -1, i32 0/' %s | not %opt -passes=osr-deopt -disable-output 2>&1 | FileCheck %s --check-prefix=TWICE
; TWICE: which has 2 markers
; RUN: sed 's/FRAME/ptr @base, i64 1, i32 0, i32 -1, i32 0/' %s | not %opt -passes=osr-deopt -disable-output 2>&1 | FileCheck %s --check-prefix=COUNT
; COUNT: frame 1 gives 0 values, and point 1 of 'base' takes 1
; RUN: sed 's/FRAME/ptr @base, i64 1, i32 0, i32 -1, i32 1, i64 7/' %s | not %opt -passes=osr-deopt -disable-output 2>&1 | FileCheck %s --check-prefix=TYPE
; TYPE: frame 1: value 0, i64 7, has not the type that it has at point 1 of 'base'
; RUN: sed 's/FRAME/ptr @base, i64 3, i32 0, i32 -1, i32 0/' %s | not %opt -passes=osr-deopt -disable-output 2>&1 | FileCheck %s --check-prefix=LIVE
; LIVE: %a of 'base' is live at point 3, and is no argument of the marker there; name it, and give its value in the frames
; RUN: sed 's/FRAME/ptr @other, i64 1, i32 0, i32 -1, i32 0/' %s | not %opt -passes=osr-deopt -disable-output 2>&1 | FileCheck %s --check-prefix=RESULT
; RESULT: 'other' returns another type than this function
; RUN: sed 's/FRAME/ptr @base, i64 1, i32 1, i32 0, i32 1, i32 %%a/' %s | not %opt -passes=osr-deopt -disable-output 2>&1 | FileCheck %s --check-prefix=AFTER
; AFTER: frame 1 goes on behind the call, and a deoptimization does not return
; RUN: sed 's/FRAME/ptr @base, i64 1, i32 0, i32 -1, i32 1, i32 %%a, ptr @base, i64 1, i32 0, i32 -1, i32 1, i32 %%a/' %s | not %opt -passes=osr-deopt -disable-output 2>&1 | FileCheck %s --check-prefix=INLINED
; INLINED: frame 1 is that of an inlined call, and does not go on behind it
; RUN: sed 's/FRAME/ptr @base, i64 1, i32 1, i32 -1, i32 1, i32 %%a, ptr @base, i64 1, i32 0, i32 -1, i32 1, i32 %%a/' %s | not %opt -passes=osr-deopt -disable-output 2>&1 | FileCheck %s --check-prefix=CALL
; CALL: point 1 of 'base' is the place of an inlined call, and its marker does not stand directly behind a call
; RUN: sed 's/FRAME/ptr @base, i64 1, i32 0, i32 -1, i32 1, i32 %%a/; s/^define i32 @f(i32 %%a)/& alwaysinline/' %s | not %opt -passes=osr-deopt -disable-output 2>&1 | FileCheck %s --check-prefix=ALWAYS
; ALWAYS: is in a function that must be inlined (alwaysinline)

; Frames of a function that a collector knows are for its own compiler: they stay, and a warning says so.
; RUN: sed 's/FRAME/i32 1/; s/^define i32 @f(i32 %%a)/& gc "statepoint-example"/' %s | %opt -passes=osr-deopt -S 2>&1 | FileCheck %s --check-prefix=GC
; GC: warning: midflight: the deoptimization of 'f' is left as it is: a garbage collector knows the function's frames [GarbageCollected]
; GC: call i32 (...) @llvm.experimental.deoptimize.i32() [ "deopt"(i32 1) ]

declare void @midflight.landing(i64, ...)
declare i32 @llvm.experimental.deoptimize.i32(...)
declare i32 @declared(i32)
define i64 @other() {
  call void (i64, ...) @midflight.landing(i64 1)
  ret i64 0
}
define i32 @base(i32 %a) {
  call void (i64, ...) @midflight.landing(i64 1, i32 %a)
  call void (i64, ...) @midflight.landing(i64 2)
  call void (i64, ...) @midflight.landing(i64 2)
  call void (i64, ...) @midflight.landing(i64 3)
  ret i32 %a
}
define i32 @f(i32 %a) {
  %d = call i32 (...) @llvm.experimental.deoptimize.i32() [ "deopt"(FRAME) ]
  ret i32 %d
}
