; Bad options and pipelines are one clear error of the compiler.
; RUN: not %opt -passes='osr-opt(nonsense)' -disable-output %s 2>&1 | FileCheck %s --check-prefix=PIPELINE
; RUN: not %opt -passes='osr-opt(globaldce)' -disable-output %s 2>&1 | FileCheck %s --check-prefix=MODULE
; RUN: not %opt -passes='osr-opt<sideways>(adce)' -disable-output %s 2>&1 | FileCheck %s --check-prefix=OPTION
; RUN: not %opt -passes='osr-opt<up-at=nowhere>(adce)' -disable-output %s 2>&1 | FileCheck %s --check-prefix=PLACE
; RUN: not %opt -passes='osr-opt<down=often>(adce)' -disable-output %s 2>&1 | FileCheck %s --check-prefix=CONDITION
; RUN: not %opt -passes='osr-opt<fuzz;up=always>(adce)' -disable-output %s 2>&1 | FileCheck %s --check-prefix=FUZZ
; FUZZ: error: midflight: pass 'osr-opt<fuzz;up=always>': 'fuzz' and 'up' exclude each other
; RUN: not %opt -passes='osr-opt<max-points=0>(adce)' -disable-output %s 2>&1 | FileCheck %s --check-prefix=MOST
; RUN: not %opt -passes='osr-opt<functions=%t.missing>(adce)' -disable-output %s 2>&1 | FileCheck %s --check-prefix=LIST
; RUN: not %opt -passes='osr-opt<maps=file>(adce)' -disable-output %s 2>&1 | FileCheck %s --check-prefix=MAPS
; RUN: not %opt -passes='print<osr-map;max-points=0>(adce)' -disable-output %s 2>&1 | FileCheck %s --check-prefix=MOST
; RUN: not %opt -passes='osr-licm<down=often>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=SHORT
; RUN: not %opt -passes='print<osr-map>(nonsense)' -disable-output %s 2>&1 | FileCheck %s --check-prefix=PRINT
; RUN: not %opt -passes='print<osr-map;sideways>(adce)' -disable-output %s 2>&1 | FileCheck %s --check-prefix=PRINT-OPTION
; RUN: not %opt -passes='print<osr-map;function=g>(adce)' -disable-output %s 2>&1 | FileCheck %s --check-prefix=PRINT-FUNCTION
; PIPELINE: error: midflight: osr-opt: 'nonsense' is no pipeline of function passes: unknown function pass 'nonsense'
; MODULE: error: midflight: osr-opt: 'globaldce' is no pipeline of function passes: {{.*}}'globaldce'
; OPTION: error: midflight: pass 'osr-opt<sideways>': unknown option 'sideways'; known are up=CONDITION|entry[:CONDITION], up-at=PLACE, down=CONDITION, down-at=PLACE, fuzz, checked, unchecked, passes=PIPELINE, max-points=N, keep=PERCENT, functions=FILE, maps=section|none
; PLACE: error: {{.*}}option 'up-at': unknown place 'nowhere'
; CONDITION: error: {{.*}}option 'down': unknown condition 'often'
; MOST: error: {{.*}}option 'max-points=0': it must be a whole number from 1 to 4294967295
; MAPS: error: {{.*}}option 'maps=file': it must be section or none
; LIST: error: {{.*}}reading the list of functions '{{.*}}.missing': No such file
; SHORT: error: midflight: pass 'osr-licm<down=often>': {{.*}}unknown condition 'often'
; PRINT: error: midflight: running the passes 'nonsense': unknown function pass 'nonsense'
; PRINT-OPTION: error: {{.*}}unknown option 'sideways'; known are file=FILE, detail
; PRINT-FUNCTION: error: midflight: printing OSR mappings: there is no function 'g' with a body

; A defect inside the plugin is an ordinary error that names the function.
; RUN: not %opt -passes='osr-opt<debug-panic-at=f>(adce)' -disable-output %s 2>&1 | FileCheck %s --check-prefix=PANIC
; PANIC: error: midflight: internal error while making versions of 'f': {{.*}}please report it
; PANIC-NOT: backtrace

; In clang the pipeline is an option.
; RUN: not clang -cc1 -load %plugin -fpass-plugin=%plugin -mllvm '-midflight=osr-opt;passes=nonsense' -emit-obj -o %t.o -x ir %s 2>&1 | FileCheck %s --check-prefix=PIPELINE

define void @f() {
  ret void
}
