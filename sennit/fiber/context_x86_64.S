#if defined(__x86_64__)
        .text
        .globl  sennit_context_start
        .type   sennit_context_start, @function
        .p2align 4
// The first thing a new context runs: the entry function is in rbx, its arguments, the context and
// the value, where a function expects them. Unwinders stop here, as there is no caller.
sennit_context_start:
        .cfi_startproc
        .cfi_undefined rip
        endbr64
        xorl    %ebp, %ebp
        callq   *%rbx
        ud2
        .cfi_endproc
        .size   sennit_context_start, .-sennit_context_start
#endif
        .section .note.GNU-stack, "", @progbits
