declare void @midflight.landing(i64, ...)
declare i32 @llvm.experimental.deoptimize.i32(...)
declare i32 @llvm.sadd.sat.i32(i32, i32)
declare { i32, i1 } @llvm.sadd.with.overflow.i32(i32, i32)

define i32 @add.base(i32 %a, i32 %b) {
  call void (i64, ...) @midflight.landing(i64 1, i32 %a, i32 %b)
  %sum = call i32 @llvm.sadd.sat.i32(i32 %a, i32 %b)
  ret i32 %sum
}

define i32 @add(i32 %a, i32 %b) {
  %both = call { i32, i1 } @llvm.sadd.with.overflow.i32(i32 %a, i32 %b)
  %sum = extractvalue { i32, i1 } %both, 0
  %overflows = extractvalue { i32, i1 } %both, 1
  br i1 %overflows, label %leave, label %go
leave:
  %rest = call i32 (...) @llvm.experimental.deoptimize.i32() [ "deopt"(ptr @add.base, i64 1, i32 0, i32 -1, i32 2, i32 %a, i32 %b) ]
  ret i32 %rest
go:
  ret i32 %sum
}
