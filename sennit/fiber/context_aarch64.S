// AAPCS64: x19 to x29, the link register, d8 to d15 and sp belong to the caller.
#if defined(__aarch64__)
        .text
        .globl  sennit_switch_context
        .type   sennit_switch_context, %function
        .p2align 4
// void* sennit_switch_context(void** save /*x0*/, void* target /*x1*/, void* value /*x2*/)
sennit_switch_context:
        sub     sp, sp, #160
        stp     d8, d9, [sp, #0]
        stp     d10, d11, [sp, #16]
        stp     d12, d13, [sp, #32]
        stp     d14, d15, [sp, #48]
        stp     x19, x20, [sp, #64]
        stp     x21, x22, [sp, #80]
        stp     x23, x24, [sp, #96]
        stp     x25, x26, [sp, #112]
        stp     x27, x28, [sp, #128]
        stp     x29, x30, [sp, #144]
        mov     x9, sp
        str     x9, [x0]
        mov     sp, x1
        ldp     d8, d9, [sp, #0]
        ldp     d10, d11, [sp, #16]
        ldp     d12, d13, [sp, #32]
        ldp     d14, d15, [sp, #48]
        ldp     x19, x20, [sp, #64]
        ldp     x21, x22, [sp, #80]
        ldp     x23, x24, [sp, #96]
        ldp     x25, x26, [sp, #112]
        ldp     x27, x28, [sp, #128]
        ldp     x29, x30, [sp, #144]
        add     sp, sp, #160
        mov     x0, x2
        br      x30
        .size   sennit_switch_context, .-sennit_switch_context

        .globl  sennit_context_start
        .type   sennit_context_start, %function
        .p2align 4
// The first thing a new context runs: the entry function is in x19, its value in x0. Unwinders
// stop here, as there is no caller.
sennit_context_start:
        .cfi_startproc
        .cfi_undefined x30
        mov     x29, #0
        blr     x19
        brk     #1
        .cfi_endproc
        .size   sennit_context_start, .-sennit_context_start
#endif
        .section .note.GNU-stack, "", %progbits
