//! The way into the kernel.

/// Takes the number of a system call and up to six arguments.
#[cfg(target_arch = "x86_64")]
#[unsafe(no_mangle)]
#[unsafe(naked)]
unsafe extern "C" fn syscall() {
    core::arch::naked_asm!(
        "movq %rdi, %rax",
        "movq %rsi, %rdi",
        "movq %rdx, %rsi",
        "movq %rcx, %rdx",
        "movq %r8, %r10",
        "movq %r9, %r8",
        "movq 8(%rsp), %r9",
        "syscall",
        // The last 4095 values are errors.
        "cmpq $-4095, %rax",
        "jae 1f",
        "retq",
        "1:",
        "negl %eax",
        "pushq %rax",
        "callq __errno_location@PLT",
        "popq %rcx",
        "movl %ecx, (%rax)",
        "movq $-1, %rax",
        "retq",
        options(att_syntax),
    )
}

/// The same.
#[cfg(target_arch = "aarch64")]
#[unsafe(no_mangle)]
#[unsafe(naked)]
unsafe extern "C" fn syscall() {
    core::arch::naked_asm!(
        "mov x8, x0",
        "mov x0, x1",
        "mov x1, x2",
        "mov x2, x3",
        "mov x3, x4",
        "mov x4, x5",
        "mov x5, x6",
        "svc #0",
        // The last 4095 values are errors.
        "cmn x0, #4095",
        "b.hs 1f",
        "ret",
        "1:",
        "neg w0, w0",
        "stp x30, x0, [sp, #-16]!",
        "bl __errno_location",
        "ldp x30, x1, [sp], #16",
        "str w1, [x0]",
        "mov x0, #-1",
        "ret",
    )
}
