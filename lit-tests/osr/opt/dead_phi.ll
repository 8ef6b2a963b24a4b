; A phi of opt that nothing needs any more is gone from a continuation that lands behind it.
; RUN: %opt -passes='osr-opt(simplifycfg)' -verify-each -S %s | FileCheck %s
; RUN: %opt -passes='osr-opt<up=always;down=always;checked>(simplifycfg)' -verify-each -S %s -o /dev/null

declare i32 @move(ptr, i32)

; CHECK: define {{.*}}@leftmost.opt.osr(
define i32 @leftmost(ptr %p) {
entry:
  br label %head
head:
  %rc = phi i32 [ 0, %entry ], [ %again, %body ]
  %page = phi ptr [ undef, %entry ], [ %now, %body ]
  %ok = icmp eq i32 %rc, 0
  br i1 %ok, label %look, label %join
look:
  %loaded = load ptr, ptr %p, align 8
  %leaf = load i8, ptr %loaded, align 1
  %inner = icmp eq i8 %leaf, 0
  br label %join
join:
  %now = phi ptr [ %loaded, %look ], [ %page, %head ]
  %more = phi i1 [ false, %head ], [ %inner, %look ]
  br i1 %more, label %body, label %end
body:
  %child = getelementptr inbounds i8, ptr %now, i64 8
  %number = load i32, ptr %child, align 4
  %again = call i32 @move(ptr %p, i32 %number)
  br label %head
end:
  ret i32 %rc
}
