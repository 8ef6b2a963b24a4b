# The functions of the unwinder, for who asks for them by `midflight_unwinder`: the runtime itself only
# uses what is there. Which library has them the linker is told by the compiler's driver.
    .section .data.rel.ro.midflight_unwinder, "aw", %progbits
    .p2align 3
    .globl midflight_unwinder
    .type midflight_unwinder, %object
midflight_unwinder:
    .8byte _Unwind_Backtrace
    .8byte _Unwind_GetCFA
    .8byte _Unwind_GetRegionStart
    .8byte _Unwind_FindEnclosingFunction
    .8byte _Unwind_GetGR
    .8byte _Unwind_GetIP
    .size midflight_unwinder, 48
    .section .note.GNU-stack, "", %progbits
