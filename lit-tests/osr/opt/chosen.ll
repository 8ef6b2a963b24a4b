; What a branch has decided is in a phi of constants; instcombine decides by the branch's condition again.
; RUN: %opt -passes='print<osr-map>(instcombine<no-verify-fixpoint>)' -disable-output %s | FileCheck %s
; RUN: %opt -passes='osr-opt<up=always;down=always;checked>(instcombine<no-verify-fixpoint>)' -verify-each -S %s -o /dev/null
; RUN: %opt -passes='print<osr-map>(simplifycfg)' -disable-output %s | FileCheck %s --check-prefix=MERGED

declare void @f(i32)
declare void @init(ptr)

; CHECK: "name":"decided"
; CHECK-SAME: "base_to_opt":{"total":[[N:[0-9]+]],{{[^}]*}}"avail":[[N]],
; CHECK-SAME: "opt_to_base":{"total":[[M:[0-9]+]],{{[^}]*}}"avail":[[M]],
; CHECK-SAME: "unproved":[]
define void @decided(i32 %x) {
entry:
  %is = icmp eq i32 %x, 3
  br i1 %is, label %yes, label %join
yes:
  call void @f(i32 1)
  br label %join
join:
  %flag = phi i32 [ 0, %yes ], [ 1, %entry ]
  %again = icmp ne i32 %flag, 0
  br i1 %again, label %one, label %two
one:
  call void @f(i32 2)
  br label %done
two:
  call void @f(i32 3)
  br label %done
done:
  ret void
}

; A block without effects became a part of the block behind it, which goes with the block of base that
; begins with the same call.
; MERGED: "name":"merged"
; MERGED-SAME: "base_to_opt":{"total":[[N:[0-9]+]],{{[^}]*}}"avail":[[N]],
; MERGED-SAME: "unproved":[]
define void @merged(i32 %x) {
entry:
  %a = alloca i32
  call void @init(ptr %a)
  br label %head
head:
  %v = phi i32 [ %x, %entry ], [ %w, %join ]
  %big = icmp sgt i32 %v, 9
  br i1 %big, label %less, label %join
less:
  %l = load i32, ptr %a
  %m = sub i32 %l, %x
  br label %join
join:
  %w = phi i32 [ %m, %less ], [ %v, %head ]
  call void @f(i32 %w)
  %again = icmp ne i32 %w, 5
  br i1 %again, label %head, label %out
out:
  call void @f(i32 3)
  ret void
}
