; Bad options are one clear error of the compiler.
; RUN: not %opt -passes='osr-point<where=somewhere>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=PLACE
; RUN: not %opt -passes='osr-point<where=loop-header:inner>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=STRATEGY
; RUN: not %opt -passes='osr-point<where=x.c:0>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=LINE
; RUN: not %opt -passes='osr-point<where=:3>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=NOFILE
; RUN: not %opt -passes='osr-point<when=often>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=CONDITION
; RUN: not %opt -passes='osr-point<when=count:0>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=COUNT
; RUN: not %opt -passes='osr-point<when=every:4294967296>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=EVERY
; RUN: not %opt -passes='osr-point<when=always:3>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=ALWAYS
; RUN: not %opt -passes='osr-point<form=many>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=FORM
; RUN: not %opt -passes='osr-point<exit=host;chain>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=CHAIN
; RUN: not %opt -passes='osr-point<exit=host;form=multi>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=MULTI
; RUN: not %opt -passes='osr-point<exit=>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=EXIT
; RUN: not %opt -passes='osr-point<max-points=0>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=MOST
; RUN: not %opt -passes='osr-point<k=4>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=UNKNOWN
; RUN: not %opt -passes='osr-point<functions=%t.missing>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=LIST
; RUN: not %opt -passes='osr-point<stage=middle>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=STAGE
; RUN: not %opt -passes='osr-fuzz<when=always>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=FUZZ
; PLACE: error: midflight: pass 'osr-point<where=somewhere>': option 'where': unknown place 'somewhere'; there are entry, loop-header, loop-header:outer, loop-header:closest, call, all, marker and FILE:LINE
; STRATEGY: error: {{.*}}unknown place 'loop-header:inner'
; LINE: error: {{.*}}unknown place 'x.c:0'
; NOFILE: error: {{.*}}unknown place ':3'
; CONDITION: error: {{.*}}option 'when': unknown condition 'often'; there are always, never, count:N, every:N, flag and patch, with N from 1 to 4294967295
; COUNT: error: {{.*}}unknown condition 'count:0'
; EVERY: error: {{.*}}unknown condition 'every:4294967296'
; ALWAYS: error: {{.*}}unknown condition 'always:3'
; FORM: error: {{.*}}option 'form=many': it must be single or multi
; CHAIN: error: {{.*}}'exit' and 'chain' exclude each other
; MULTI: error: {{.*}}'exit' and 'form=multi' exclude each other
; EXIT: error: {{.*}}option 'exit=': it must have a value
; MOST: error: {{.*}}option 'max-points=0': it must be a whole number from 1 to 4294967295
; UNKNOWN: error: {{.*}}unknown option 'k=4'; known are where=PLACE, when=CONDITION
; LIST: error: {{.*}}reading the list of functions '{{.*}}.missing': No such file
; STAGE: error: {{.*}}option 'stage=middle': it must be early or late
; FUZZ: error: {{.*}}unknown option 'when=always'; known are form=single|multi

; A line without code is an error in the module of that file, with the nearest lines that have code.
; RUN: not %opt -passes='osr-point<where=x.c:5>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=BETWEEN
; RUN: not %opt -passes='osr-point<where=x.c:99>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=BEHIND
; RUN: not %opt -passes='osr-point<where=dir/x.c:1>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=BEFORE
; BETWEEN: error: midflight: inserting an OSR point at x.c:5: no code is there; the nearest lines with code are 3 and 7
; BEHIND: error: {{.*}}no code is there; the nearest lines with code are 7
; BEFORE: error: {{.*}}no code is there; the nearest lines with code are 3

; In another file's module it is a remark: a build passes the same option to all.
; RUN: %opt -passes='osr-point<where=y.c:5>' -pass-remarks-missed=midflight-osr -disable-output %s 2>&1 | FileCheck %s --check-prefix=OTHER
; OTHER: remark: {{.*}}no OSR point: nothing here is from y.c

; Without line numbers the error says what to do.
; RUN: opt -passes=strip -S %s -o %t.stripped.ll
; RUN: not %opt -passes='osr-point<where=x.c:3>' -disable-output %t.stripped.ll 2>&1 | FileCheck %s --check-prefix=STRIPPED
; STRIPPED: error: {{.*}}no code is there; the file has no line numbers; compile it with -g or -gline-tables-only

; A defect inside the plugin is an ordinary error that names the function.
; RUN: not %opt -passes='osr-fuzz<debug-panic-at=f>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=PANIC
; PANIC: error: midflight: internal error while inserting OSR points into 'f': {{.*}}asked for by debug-panic-at{{.*}}please report it
; PANIC-NOT: backtrace

source_filename = "dir/x.c"

declare void @use()

define void @f() !dbg !4 {
  call void @use(), !dbg !6
  call void @use(), !dbg !7
  ret void, !dbg !7
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}
!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "dir/x.c", directory: "/src")
!2 = !{i32 7, !"Dwarf Version", i32 5}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = distinct !DISubprogram(name: "f", file: !1, line: 2, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!5 = !DISubroutineType(types: !{})
!6 = !DILocation(line: 3, scope: !4)
!7 = !DILocation(line: 7, scope: !4)
