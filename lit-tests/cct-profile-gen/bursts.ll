; Where contexts are counted in bursts, a function has a copy for them, to which its entry jumps; each call is told of in
; both bodies, and no call in tail position has a slot.
; RUN: %opt -passes='cct-profile-gen<bursts;verify>' -S %s | FileCheck %s
; RUN: %opt -passes='cct-profile-gen<bursts;granularity=functions;verify>' -S %s | FileCheck %s --check-prefix=FUNCTIONS
; RUN: sed '/my_symbol/d' %s | %opt -passes='cct-profile-gen<bursts;verify>' -S | llc -O2 -relocation-model=pic | FileCheck %s --check-prefix=CODE
; RUN: sed '/my_symbol/d;s/x86_64/aarch64/' %s | %opt -passes='cct-profile-gen<bursts;verify>' -S | llc -O2 -relocation-model=pic | FileCheck %s --check-prefix=ARM
; RUN: not %opt -passes='cct-profile-gen<bursts;stage=early>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=EARLY
; RUN: not %opt -passes='cct-profile-gen<bursts;oracle>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=ORACLE
; RUN: sed 's/wchar_size/ThinLTO/;s/i32 4}/i32 0}/' %s | not %opt -passes='cct-profile-gen<bursts>' -disable-output 2>&1 | FileCheck %s --check-prefix=LTO
; EARLY: error: midflight: counting calling contexts in bursts: it can be done behind all optimizations alone, at stage=late
; ORACLE: error: midflight: counting calling contexts in bursts: the option oracle counts all of a run
; LTO: error: midflight: counting calling contexts in bursts: it cannot be done where the linker optimizes (-flto)
target triple = "x86_64-unknown-linux-gnu"

; The copy has a table of its own.
; CHECK-DAG: @table = internal constant [2 x ptr] [ptr blockaddress(@interpret, %add), ptr blockaddress(@interpret, %done)]
; CHECK-DAG: @[[TABLE:table[.0-9]*]] = internal constant [2 x ptr] [ptr blockaddress(@interpret.midflight.burst, %add), ptr blockaddress(@interpret.midflight.burst, %done)]
@table = internal constant [2 x ptr] [ptr blockaddress(@interpret, %add), ptr blockaddress(@interpret, %done)]
@known = constant ptr blockaddress(@labelled, %there)

declare void @outside(i32)

; CHECK-LABEL: define i32 @calls(i32 %x)
; CHECK-NEXT:    %[[BURST:.*]] = load atomic i32, ptr @midflight_context_burst monotonic, align 4
; CHECK-NEXT:    %[[NONE:.*]] = icmp eq i32 %[[BURST]], 0
; CHECK-NEXT:    br i1 %[[NONE]], label %body, label %midflight.burst, !prof
; CHECK:       {{^}}midflight.burst:
; CHECK-NEXT:    %[[RESULT:.*]] = musttail call i32 @calls.midflight.burst(i32 %x)
; CHECK-NEXT:    ret i32 %[[RESULT]]
; CHECK:       {{^}}body:
; CHECK-NEXT:    call void asm sideeffect "{{.*}}midflight_calls{{.*}}", "i,i"(ptr @[[RECORD:"?__midflight_contexts.calls.[0-9a-f]*"?]], i32 -2147483648)
; CHECK-NEXT:    call void @outside(i32 %x)
; CHECK-NEXT:    call void asm sideeffect "", "i"(i32 -2147483648)
; CHECK-NEXT:    call void asm sideeffect "{{.*}}midflight_calls{{.*}}", "i,i"(ptr @[[RECORD]], i32 1073741824)
; CHECK-NEXT:    %r = tail call i32 @last(i32 %x)
; CHECK-NEXT:    ret i32 %r
define i32 @calls(i32 %x) {
  call void @outside(i32 %x)
  %r = tail call i32 @last(i32 %x)
  ret i32 %r
}

define i32 @last(i32 %x) {
  ret i32 %x
}

define i32 @interpret(ptr %code) {
entry:
  %op = load i8, ptr %code
  %at = getelementptr [2 x ptr], ptr @table, i64 0, i8 %op
  %to = load ptr, ptr %at
  indirectbr ptr %to, [label %add, label %done]
add:
  call void @outside(i32 1)
  br label %done
done:
  ret i32 0
}

; Who keeps an address may jump to it in an activation that runs the other body.
; CHECK-LABEL: define i32 @keeps(
; CHECK:         call ptr @midflight_context_visit(
@others = internal constant [1 x ptr] [ptr blockaddress(@keeps, %done)]
define i32 @keeps(ptr %to) {
entry:
  %op = load i8, ptr %to
  %at = getelementptr [1 x ptr], ptr @others, i64 0, i8 %op
  %label = load ptr, ptr %at
  store ptr %label, ptr %to
  indirectbr ptr %label, [label %done]
done:
  call void @outside(i32 1)
  ret i32 0
}

; There can be no copy: who knows the address of the block does not know which; memory of arguments is the frame's; and the
; assembly defines a symbol.
; CHECK-LABEL: define void @labelled(i1 %x)
; CHECK:         br i1 %{{.*}}, label %midflight.visit, label %body, !prof
; CHECK:       {{^}}midflight.visit:
; CHECK:         %[[NODE:.*]] = call ptr @midflight_context_visit(i64 %{{.*}}, ptr @{{.*}}__midflight_contexts.labelled
; CHECK-NEXT:    %[[COUNT:.*]] = load atomic i64, ptr %[[NODE]] monotonic, align 8
; CHECK:         br label %body
define void @labelled(i1 %x) {
  br i1 %x, label %there, label %end
there:
  call void @outside(i32 1)
  br label %end
end:
  ret void
}

; CHECK-LABEL: define void @in_memory(
; CHECK:         call ptr @midflight_context_visit(
define void @in_memory(ptr byval([9 x i64]) %x) {
  call void @outside(i32 1)
  ret void
}

; CHECK-LABEL: define void @symbol(
; CHECK:         call ptr @midflight_context_visit(
define void @symbol() {
  call void asm sideeffect "my_symbol:", ""()
  ret void
}

; CHECK-LABEL: define void @varies(i32 %n, ...)
; CHECK:         call ptr @midflight_context_visit(
define void @varies(i32 %n, ...) {
  call void @outside(i32 %n)
  ret void
}

; A call in tail position leaves the word as it was found: nobody would put it back.
; CHECK-LABEL: define internal i32 @calls.midflight.burst(i32 %x)
; CHECK-SAME:    !section_prefix
; CHECK:         %[[GONE:.*]] = icmp sle i64
; CHECK:         %[[ITS:.*]] = load atomic i64, ptr getelementptr{{.*}}@midflight_context_word, i64 24{{.*}} monotonic, align 8
; CHECK-NEXT:    %[[BURST:.*]] = load atomic i32, ptr @midflight_context_burst monotonic, align 4
; CHECK-NEXT:    %[[WIDE:.*]] = zext i32 %[[BURST]] to i64
; CHECK-NEXT:    %[[NEW:.*]] = icmp ne i64 %[[ITS]], %[[WIDE]]
; CHECK-NEXT:    %[[ASKS:.*]] = or i1 %[[GONE]], %[[NEW]]
; CHECK-NEXT:    br i1 %[[ASKS]], label %midflight.enter, label %body
; CHECK:         store atomic ptr %{{.*}}, ptr @midflight_context_word monotonic
; CHECK-NEXT:    call void asm sideeffect "{{.*}}midflight_calls{{.*}}", "i,i"(ptr @[[RECORD]], i32 0)
; CHECK-NEXT:    call void @outside(i32 %x)
; CHECK-NEXT:    call void asm sideeffect "", "i"(i32 0)
; CHECK:         store atomic ptr %{{.*}}, ptr @midflight_context_word monotonic
; CHECK-NEXT:    %r{{.*}} = tail call i32 @last(i32 %x)

; CHECK-LABEL: define internal i32 @interpret.midflight.burst(
; CHECK:         getelementptr [2 x ptr], ptr @[[TABLE]], i64 0, i8 %op

; FUNCTIONS-LABEL: define internal i32 @interpret.midflight.burst(
; FUNCTIONS:         call void asm sideeffect "{{.*}}midflight_calls{{.*}}", "i,i"(ptr @{{.*}}, i32 0)

; CODE-LABEL: {{^}}calls:
; CODE:         jmp calls.midflight.burst
; CODE:         .section midflight_calls,"ao",@progbits,[[LABEL:.Lmidflight_call_[0-9]+]]
; CODE:         .long [[LABEL]]-
; CODE:         .section .text.unlikely.{{.*}}"ax"

; ARM-LABEL: {{^}}calls:
; ARM:         b calls.midflight.burst

!llvm.module.flags = !{!0}
!0 = !{i32 1, !"wchar_size", i32 4}
