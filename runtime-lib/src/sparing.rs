//! Functions that emitted code jumps to where it has no frame yet.

/// Defines a function that is jumped to with arguments in `rax` and `r10`, and in `r11` where to go
/// on with its result in `rax`. All other general registers are kept, `xmm0` to `xmm15` too, and so
/// are the 128 bytes below the stack pointer, which belong to functions that call no other.
///
/// `calls` the function that does it, `with` its arguments; `unless` code that is run first, with
/// nothing on the stack but these bytes, has gone on already.
macro_rules! sparing {
    (
        $(#[$doc:meta])*
        $name:ident calls $function:ident with [$($move:literal),*]
        unless { $($first:literal,)* }
        $($operands:tt)*
    ) => {
        $(#[$doc])*
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                ".cfi_startproc",
                ".cfi_def_cfa rsp, 0",
                ".cfi_register rip, r11",
                "endbr64",
                "lea rsp, [rsp - 128]",
                ".cfi_def_cfa_offset 128",
                $($first,)*
                "push r11",
                ".cfi_def_cfa_offset 136",
                ".cfi_offset rip, -136",
                "push rbp",
                ".cfi_def_cfa_offset 144",
                ".cfi_offset rbp, -144",
                "mov rbp, rsp",
                ".cfi_def_cfa_register rbp",
                ".irp kept, rcx, rdx, rsi, rdi, r8, r9, r10, r10",
                "push \\kept",
                ".endr",
                // Whatever is below: the stack may be aligned to 8 only.
                "and rsp, -16",
                "sub rsp, 256",
                ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
                "movaps [rsp + 16 * \\n], xmm\\n",
                ".endr",
                $($move,)*
                "call {function}",
                ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
                "movaps xmm\\n, [rsp + 16 * \\n]",
                ".endr",
                "lea rsp, [rbp - 64]",
                ".irp kept, r10, r10, r9, r8, rdi, rsi, rdx, rcx",
                "pop \\kept",
                ".endr",
                "pop rbp",
                ".cfi_restore rbp",
                ".cfi_def_cfa rsp, 136",
                "pop r11",
                ".cfi_def_cfa_offset 128",
                ".cfi_register rip, r11",
                "lea rsp, [rsp + 128]",
                ".cfi_def_cfa_offset 0",
                "jmp r11",
                ".cfi_endproc",
                function = sym $function,
                $($operands)*
            )
        }
    };
}

pub(crate) use sparing;
