// System V AMD64 ABI: rbx, rbp, r12 to r15 and rsp belong to the caller.
#if defined(__x86_64__)
        .text
        .globl  sennit_switch_context
        .type   sennit_switch_context, @function
        .p2align 4
// void* sennit_switch_context(void** save /*rdi*/, void* target /*rsi*/, void* value /*rdx*/)
sennit_switch_context:
        .cfi_startproc
        endbr64
        pushq   %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbp, 0
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbx, 0
        pushq   %r12
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r12, 0
        pushq   %r13
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r13, 0
        pushq   %r14
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r14, 0
        pushq   %r15
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r15, 0
        movq    %rsp, (%rdi)
        movq    %rsi, %rsp
        popq    %r15
        .cfi_adjust_cfa_offset -8
        .cfi_restore r15
        popq    %r14
        .cfi_adjust_cfa_offset -8
        .cfi_restore r14
        popq    %r13
        .cfi_adjust_cfa_offset -8
        .cfi_restore r13
        popq    %r12
        .cfi_adjust_cfa_offset -8
        .cfi_restore r12
        popq    %rbx
        .cfi_adjust_cfa_offset -8
        .cfi_restore rbx
        popq    %rbp
        .cfi_adjust_cfa_offset -8
        .cfi_restore rbp
        movq    %rdx, %rax
        popq    %rcx
        .cfi_adjust_cfa_offset -8
        .cfi_register rip, rcx
        jmp     *%rcx
        .cfi_endproc
        .size   sennit_switch_context, .-sennit_switch_context

        .globl  sennit_context_start
        .type   sennit_context_start, @function
        .p2align 4
// The first thing a new context runs: the entry function is in rbx, its value in rax. Unwinders
// stop here, as there is no caller.
sennit_context_start:
        .cfi_startproc
        .cfi_undefined rip
        endbr64
        movq    %rax, %rdi
        xorl    %ebp, %ebp
        callq   *%rbx
        ud2
        .cfi_endproc
        .size   sennit_context_start, .-sennit_context_start
#endif
        .section .note.GNU-stack, "", @progbits
