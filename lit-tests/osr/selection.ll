; Which functions get points.
; RUN: printf 'fun:*\n!fun:left_out\n' > %t.list
; RUN: %opt -passes='osr-point<where=entry;when=flag;functions=%t.list>' -pass-remarks-missed=midflight-osr -S %s 2>&1 | FileCheck %s --check-prefix=LIST --implicit-check-not=remark
; A function is changed once, whatever comes again.
; RUN: %opt -passes='osr-point<where=entry;when=flag>,osr-fuzz' -S %s | FileCheck %s --check-prefix=ONCE --implicit-check-not=midflight_osr_fuel
; With mem2reg, allocas become values that travel.
; RUN: %opt -passes='osr-point<where=call;callee=use;when=flag;mem2reg>' -S %s | FileCheck %s --check-prefix=MEM2REG
; RUN: %opt -passes='osr-point<where=call;callee=use;when=flag>' -S %s | FileCheck %s --check-prefix=MEMORY
; Only targets with pointers of 64 bits.
; RUN: not %opt -mtriple=i386-unknown-linux-gnu -data-layout='e-m:e-p:32:32' -passes='osr-fuzz' -disable-output %s 2>&1 | FileCheck %s --check-prefix=NARROW
; A module without functions is left alone.
; RUN: echo 'declare void @f()' | %opt -passes='osr-fuzz' -S - | FileCheck %s --check-prefix=EMPTY

; LIST: c"promoted#0\00"
; LIST: c"inline#0\00"
; LIST-NOT: c"left_out#0\00"
; ONCE-COUNT-3: section "midflight_osr"
; ONCE-NOT: section "midflight_osr"
; NARROW: error: midflight: inserting OSR points: only targets with 64-bit pointers are supported
; EMPTY-NOT: midflight

declare void @use(i32)

; MEM2REG-LABEL: define i32 @promoted(i32 %n)
; MEM2REG-NOT: alloca
; MEM2REG: call {{.*}}i32 @promoted.osr.{{[0-9]+}}(i32 %n)
; MEMORY-LABEL: define i32 @promoted(i32 %n)
; MEMORY: alloca
; MEMORY: call {{.*}}i32 @promoted.osr.{{[0-9]+}}({{.*}}ptr %slot{{.*}})
define i32 @promoted(i32 %n) {
  %slot = alloca i32
  store i32 %n, ptr %slot
  %a = load i32, ptr %slot
  call void @use(i32 %a)
  %b = load i32, ptr %slot
  ret i32 %b
}

define void @left_out() {
  ret void
}

; A continuation is a symbol of its module alone, also if the function is in many.
; ONCE-LABEL: define linkonce_odr hidden i32 @inline() {{.*}}comdat
; ONCE-LABEL: define internal {{.*}}i32 @inline.osr.0()
; ONCE-NOT: comdat
; ONCE: ret i32
$inline = comdat any
define linkonce_odr hidden i32 @inline() comdat {
  ret i32 1
}
