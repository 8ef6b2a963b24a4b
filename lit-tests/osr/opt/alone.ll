; One version by itself, for measuring: without the flags that values lose that are taken for each
; other, or with them.
; DEFINE: %{passes} = early-cse,instcombine<no-verify-fixpoint>
; DEFINE: %{check} = FileCheck %s --implicit-check-not=@f.opt --implicit-check-not=midflight
; RUN: %opt -passes='osr-opt<alone=base;verify>(%{passes})' -S < %s \
; RUN:   | %{check} --check-prefixes=CHECK,BASE,BASE-DROPPED
; RUN: %opt -passes='osr-opt<alone=base:flags;verify>(%{passes})' -S < %s \
; RUN:   | %{check} --check-prefixes=CHECK,BASE,BASE-KEPT
; RUN: %opt -passes='osr-opt<alone=opt;verify>(%{passes})' -S < %s \
; RUN:   | %{check} --check-prefixes=CHECK,OPT,OPT-DROPPED
; RUN: %opt -passes='osr-opt<alone=opt:flags;verify>(%{passes})' -S < %s \
; RUN:   | %{check} --check-prefixes=CHECK,OPT,OPT-KEPT
; RUN: not %opt -passes='osr-opt<alone=both>(adce)' -disable-output %s 2>&1 \
; RUN:   | FileCheck %s --check-prefix=VALUE
; RUN: not %opt -passes='osr-opt<alone=opt;up=entry>(adce)' -disable-output %s 2>&1 \
; RUN:   | FileCheck %s --check-prefix=POINTS
; VALUE: error: {{.*}}option 'alone=both': it must be base, base:flags, opt or opt:flags
; POINTS: error: {{.*}}'alone' and 'up' exclude each other

@table = internal constant [2 x ptr] [ptr blockaddress(@goto, %one), ptr blockaddress(@goto, %two)]

; early-cse makes one sum of both, which may not be poison.
; CHECK-LABEL: define void @f(i32 %x){{.*}} !dbg
; BASE-DROPPED: %a = add i32 %x, 1
; BASE-KEPT: %a = add nsw i32 %x, 1
; OPT: %a = add i32 %x, 1
; CHECK: #dbg_value(i32 %x,
; CHECK: call void @use(i32 %a)
; BASE: call void @use(i32 %b)
; OPT: call void @use(i32 %a)
define void @f(i32 %x) !dbg !4 {
  %a = add nsw i32 %x, 1, !dbg !8
    #dbg_value(i32 %x, !7, !DIExpression(), !8)
  call void @use(i32 %a), !dbg !8
  %b = add i32 %x, 1, !dbg !8
  call void @use(i32 %b), !dbg !8
  ret void, !dbg !8
}

; instcombine sees that a byte and one do not wrap.
; CHECK-LABEL: define void @g(
; BASE: %s = add i32 %w, 1
; OPT-DROPPED: %s = add i32 %w, 1
; OPT-KEPT: %s = add nuw nsw i32 %w, 1
define void @g(i8 %x) {
  %w = zext i8 %x to i32
  %s = add i32 %w, 1
  call void @use(i32 %s)
  ret void
}

; The table has addresses of base's blocks.
; CHECK-LABEL: define void @goto(
; CHECK: %y = add i32 0, 1
define void @goto(i64 %which) {
  %y = add i32 0, 1
  %at = getelementptr [2 x ptr], ptr @table, i64 0, i64 %which
  %to = load ptr, ptr %at
  indirectbr ptr %to, [label %one, label %two]

one:
  call void @use(i32 %y)
  ret void

two:
  ret void
}

declare void @use(i32)

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: "a.c", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!4 = distinct !DISubprogram(name: "f", file: !1, line: 1, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!5 = !DISubroutineType(types: !6)
!6 = !{null, !3}
!7 = !DILocalVariable(name: "x", arg: 1, scope: !4, file: !1, line: 1, type: !3)
!8 = !DILocation(line: 1, scope: !4)
