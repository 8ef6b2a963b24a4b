; An alloca is a part of the frame that made it: its address is passed on, and it is never made again.
; RUN: %opt -passes='osr-point<where=call;when=always;callee=stop>' -S %s | FileCheck %s
; RUN: %opt -passes='osr-point<where=call;when=always;callee=stop;form=multi;chain>' -S %s | FileCheck %s --check-prefix=CHAIN

declare void @use(ptr)
declare void @stop()
declare void @llvm.lifetime.start.p0(i64, ptr)
declare void @llvm.lifetime.end.p0(i64, ptr)

; What is in memory when the point fires is passed by its address. Lifetime markers would say of it that
; it is dead, so there are none any more. The call is not marked `tail`: the frame stays.
; CHECK-LABEL: define i32 @static(
; CHECK-NOT: lifetime
; CHECK: {{^ +%[0-9]+}} = call i32 @static.osr.1(ptr %slot)
define i32 @static(i32 %n) {
entry:
  %slot = alloca i32
  call void @llvm.lifetime.start.p0(i64 4, ptr %slot)
  store i32 %n, ptr %slot
  call void @stop()
  call void @use(ptr %slot)
  %v = load i32, ptr %slot
  call void @llvm.lifetime.end.p0(i64 4, ptr %slot)
  ret i32 %v
}

; So is what will be used later only.
; CHECK-LABEL: define i32 @later(
; CHECK: {{^ +%[0-9]+}} = call i32 @later.osr.0(ptr %slot, i32 %n)
define i32 @later(i32 %n) {
entry:
  %slot = alloca i32
  call void @stop()
  store i32 %n, ptr %slot
  call void @use(ptr %slot)
  %v = load i32, ptr %slot
  ret i32 %v
}

; A dynamic alloca that comes behind the landing is made by the continuation.
; CHECK-LABEL: define void @dynamic(
; CHECK: {{^ +}}call void @dynamic.osr.1(i64 %n)
; CHECK: {{^ +}}call void @dynamic.osr.3(ptr %m)
define void @dynamic(i64 %n) {
entry:
  br label %head
head:
  call void @stop()
  %m = alloca i8, i64 %n
  call void @stop()
  call void @use(ptr %m)
  ret void
}

; Without allocas the frame may go.
; CHECK-LABEL: define void @none(
; CHECK: tail call void @none.osr.0()
define void @none(i32 %n) {
  call void @stop()
  ret void
}

; CHECK-LABEL: define internal i32 @static.osr.1(ptr %0)
; CHECK-NOT: alloca
; CHECK-LABEL: define internal i32 @later.osr.0(ptr %0, i32 %1)
; CHECK-NOT: alloca
; CHECK: store i32 %1, ptr %0
; CHECK-LABEL: define internal void @dynamic.osr.1(i64 %0)
; CHECK: call void @stop()
; CHECK: alloca i8, i64 %0
; CHECK-LABEL: define internal void @dynamic.osr.3(ptr %0)
; CHECK-NOT: alloca
; CHECK: call void @use(ptr %0)
; CHECK-LABEL: define internal void @none.osr.0(

; A continuation that has made an alloca cannot leave its frame by musttail, so behind it there is no
; point any more (OwnAlloca).
; CHAIN-LABEL: define internal void @dynamic.osr(i32 %0, ptr %1, i64 %2)
; CHAIN: alloca i8, i64 %2
; CHAIN-NOT: musttail
; CHAIN-LABEL: define internal void @none.osr(
