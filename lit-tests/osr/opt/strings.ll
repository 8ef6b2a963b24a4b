; Where only matters whether a string is a constant one, instcombine compares bytes.
; RUN: %opt -passes='print<osr-map>(instcombine<no-verify-fixpoint>)' -disable-output %s | FileCheck %s
; RUN: %opt -passes='osr-opt<up=always;down=always;checked>(instcombine<no-verify-fixpoint>)' -verify-each -S %s -o /dev/null

@make = external global [64 x i8]
@nikon = private constant [6 x i8] c"Nikon\00"

declare i32 @strcmp(ptr noundef, ptr noundef) nounwind willreturn memory(read)
declare i32 @strncmp(ptr noundef, ptr noundef, i64 noundef) nounwind willreturn memory(read)
declare void @f(i32)

; CHECK: "name":"strings"
; CHECK-SAME: "base_to_opt":{"total":[[N:[0-9]+]],{{[^}]*}}"avail":[[N]],
; CHECK-SAME: "opt_to_base":{"total":[[M:[0-9]+]],{{[^}]*}}"avail":[[M]],
; CHECK-SAME: "unproved":[]
define void @strings() {
entry:
  %whole = call i32 @strcmp(ptr noundef @make, ptr noundef @nikon)
  %is = icmp eq i32 %whole, 0
  br i1 %is, label %one, label %other
one:
  call void @f(i32 1)
  br label %other
other:
  %part = call i32 @strncmp(ptr noundef @make, ptr noundef @nikon, i64 noundef 3)
  %begins = icmp ne i32 %part, 0
  br i1 %begins, label %two, label %done
two:
  call void @f(i32 2)
  br label %done
done:
  ret void
}
