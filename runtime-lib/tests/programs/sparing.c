/* Entering the runtime without a call: all registers but rax and r11 are kept, those of SSE too, and what is
 * below the stack pointer, however the stack is aligned. */
#include "emitted.h"
#include <stdio.h>
#include <string.h>

FUNCTION(first, 1, 1, 2, COUNTING);
FUNCTION(second, 2, 1, 2, COUNTING);

/* What the registers rcx, rdx, rbx, rbp, rsi, rdi, r8 to r10 and r12 to r15, the stack pointer and the 16 words below
 * it are behind the entry, and before it. */
enum { REGISTERS = 14, BELOW = 16, VECTORS = 16 };

struct seen {
    uint64_t registers[REGISTERS], below[BELOW];
    struct forest *forest;
    uint64_t unused;
    uint64_t vectors[VECTORS][2];
};

/* rdi: where to store what is seen, rsi: the record, rdx: the slot, rcx: by how much to move the stack. */
void look(struct seen *seen, const struct record *record, struct forest **slot, uint64_t offset);

__asm__(".text\n"
        "look:\n"
        "  push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
        "  mov %rsp, %rbx\n"
        "  sub %rcx, %rsp\n"
        "  push %rbx; push %rdi\n"
        "  mov %rdx, %rax\n"
        "  mov %rsi, %r10\n"
        "  mov $1, %ecx; mov $2, %edx; mov $3, %ebx; mov $4, %ebp; mov $5, %esi; mov $6, %edi; mov $7, %r8d\n"
        "  mov $8, %r9d; mov $9, %r12d; mov $10, %r13d; mov $11, %r14d; mov $12, %r15d\n"
        "  .set word, 1\n"
        "  .rept 16\n"
        "  movq $(100 + word), -8 * word(%rsp)\n"
        "  .set word, word + 1\n"
        "  .endr\n"
        "  .irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
        "  mov $(1000 + \\number), %r11\n"
        "  movq %r11, %xmm\\number\n"
        "  punpcklqdq %xmm\\number, %xmm\\number\n"
        "  .endr\n"
        "  lea 1f(%rip), %r11\n"
        "  jmp midflight_enter_sparing\n"
        "1: mov (%rsp), %r11\n"
        "  mov %rcx, (%r11); mov %rdx, 8(%r11); mov %rbx, 16(%r11); mov %rbp, 24(%r11); mov %rsi, 32(%r11)\n"
        "  mov %rdi, 40(%r11); mov %r8, 48(%r11); mov %r9, 56(%r11); mov %r12, 64(%r11); mov %r13, 72(%r11)\n"
        "  mov %r14, 80(%r11); mov %r15, 88(%r11); mov %r10, 96(%r11); mov %rsp, 104(%r11)\n"
        "  .set word, 1\n"
        "  .rept 16\n"
        "  mov -8 * word(%rsp), %rcx\n"
        "  mov %rcx, 112 + 8 * (word - 1)(%r11)\n"
        "  .set word, word + 1\n"
        "  .endr\n"
        "  mov %rax, 112 + 128(%r11)\n"
        "  .irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
        "  movdqu %xmm\\number, 256 + 16 * \\number(%r11)\n"
        "  .endr\n"
        "  pop %rdi; pop %rsp\n"
        "  pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
        "  ret\n");

static int check(const struct record *record, struct forest **slot, uint64_t offset)
{
    struct seen seen;
    memset(&seen, 0, sizeof seen);
    look(&seen, record, slot, offset);
    for (int i = 0; i < 12; i++)
        if (seen.registers[i] != (uint64_t)i + 1)
            return printf("register %d is %llx\n", i, (unsigned long long)seen.registers[i]);
    if (seen.registers[12] != (uintptr_t)record)
        return printf("r10 is another\n");
    for (int i = 0; i < BELOW; i++)
        if (seen.below[i] != 101 + (uint64_t)i)
            return printf("word %d below is %llx\n", i, (unsigned long long)seen.below[i]);
    for (int i = 0; i < VECTORS; i++)
        if (seen.vectors[i][0] != 1000 + (uint64_t)i || seen.vectors[i][1] != 1000 + (uint64_t)i)
            return printf("xmm%d is another\n", i);
    if (!seen.forest || seen.forest != *slot)
        return printf("the forest is another\n");
    add_one(&seen.forest->entries);
    add_one((uint64_t *)(seen.forest + 1) + 1);
    return 0;
}

int main(void)
{
    return check(&first_record, &first_slot, 0) || check(&second_record, &second_slot, 8) ||
           check(&first_record, &first_slot, 8);
}
