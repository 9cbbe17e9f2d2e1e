#if defined(__aarch64__)
        .text
        .globl  sennit_context_start
        .type   sennit_context_start, %function
        .p2align 4
// The first thing a new context runs: the entry function is in x19, its arguments, the context and
// the value, where a function expects them. Unwinders stop here, as there is no caller.
sennit_context_start:
        .cfi_startproc
        .cfi_undefined x30
        hint    #36  // bti j
        mov     x29, #0
        blr     x19
        brk     #1
        .cfi_endproc
        .size   sennit_context_start, .-sennit_context_start
#endif
        .section .note.GNU-stack, "", %progbits
