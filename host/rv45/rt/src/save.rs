//! The register save and restore routines that LLVM calls under `+save-restore`.
//!
//! rv45 replaces them by its own (it recognises the names); these serve the same ELF under
//! `qemu-riscv32` and in the interpreter. Frame sizes are part of LLVM's calling convention.

macro_rules! save_restore {
    ($n:literal, $frame:literal, $saves:literal, $restores:literal) => {
        core::arch::global_asm!(concat!(
            ".section .text.__riscv_save_", $n, ",\"ax\",@progbits\n",
            ".globl __riscv_save_", $n, "\n.type __riscv_save_", $n, ",@function\n",
            "__riscv_save_", $n, ":\n addi sp, sp, -", $frame, "\n", $saves, " jr t0\n",
            ".size __riscv_save_", $n, ", .-__riscv_save_", $n, "\n",
            ".section .text.__riscv_restore_", $n, ",\"ax\",@progbits\n",
            ".globl __riscv_restore_", $n, "\n.type __riscv_restore_", $n, ",@function\n",
            "__riscv_restore_", $n, ":\n", $restores, " addi sp, sp, ", $frame, "\n ret\n",
            ".size __riscv_restore_", $n, ", .-__riscv_restore_", $n, "\n",
            ".text\n",
        ));
    };
}

save_restore!("0", "16", " sw ra, 12(sp)\n", " lw ra, 12(sp)\n");
save_restore!("1", "16", " sw ra, 12(sp)\n sw s0, 8(sp)\n", " lw ra, 12(sp)\n lw s0, 8(sp)\n");
save_restore!("2", "16", " sw ra, 12(sp)\n sw s0, 8(sp)\n sw s1, 4(sp)\n", " lw ra, 12(sp)\n lw s0, 8(sp)\n lw s1, 4(sp)\n");
save_restore!("3", "16", " sw ra, 12(sp)\n sw s0, 8(sp)\n sw s1, 4(sp)\n sw s2, 0(sp)\n", " lw ra, 12(sp)\n lw s0, 8(sp)\n lw s1, 4(sp)\n lw s2, 0(sp)\n");
save_restore!("4", "32", " sw ra, 28(sp)\n sw s0, 24(sp)\n sw s1, 20(sp)\n sw s2, 16(sp)\n sw s3, 12(sp)\n", " lw ra, 28(sp)\n lw s0, 24(sp)\n lw s1, 20(sp)\n lw s2, 16(sp)\n lw s3, 12(sp)\n");
save_restore!("5", "32", " sw ra, 28(sp)\n sw s0, 24(sp)\n sw s1, 20(sp)\n sw s2, 16(sp)\n sw s3, 12(sp)\n sw s4, 8(sp)\n", " lw ra, 28(sp)\n lw s0, 24(sp)\n lw s1, 20(sp)\n lw s2, 16(sp)\n lw s3, 12(sp)\n lw s4, 8(sp)\n");
save_restore!("6", "32", " sw ra, 28(sp)\n sw s0, 24(sp)\n sw s1, 20(sp)\n sw s2, 16(sp)\n sw s3, 12(sp)\n sw s4, 8(sp)\n sw s5, 4(sp)\n", " lw ra, 28(sp)\n lw s0, 24(sp)\n lw s1, 20(sp)\n lw s2, 16(sp)\n lw s3, 12(sp)\n lw s4, 8(sp)\n lw s5, 4(sp)\n");
save_restore!("7", "32", " sw ra, 28(sp)\n sw s0, 24(sp)\n sw s1, 20(sp)\n sw s2, 16(sp)\n sw s3, 12(sp)\n sw s4, 8(sp)\n sw s5, 4(sp)\n sw s6, 0(sp)\n", " lw ra, 28(sp)\n lw s0, 24(sp)\n lw s1, 20(sp)\n lw s2, 16(sp)\n lw s3, 12(sp)\n lw s4, 8(sp)\n lw s5, 4(sp)\n lw s6, 0(sp)\n");
save_restore!("8", "48", " sw ra, 44(sp)\n sw s0, 40(sp)\n sw s1, 36(sp)\n sw s2, 32(sp)\n sw s3, 28(sp)\n sw s4, 24(sp)\n sw s5, 20(sp)\n sw s6, 16(sp)\n sw s7, 12(sp)\n", " lw ra, 44(sp)\n lw s0, 40(sp)\n lw s1, 36(sp)\n lw s2, 32(sp)\n lw s3, 28(sp)\n lw s4, 24(sp)\n lw s5, 20(sp)\n lw s6, 16(sp)\n lw s7, 12(sp)\n");
save_restore!("9", "48", " sw ra, 44(sp)\n sw s0, 40(sp)\n sw s1, 36(sp)\n sw s2, 32(sp)\n sw s3, 28(sp)\n sw s4, 24(sp)\n sw s5, 20(sp)\n sw s6, 16(sp)\n sw s7, 12(sp)\n sw s8, 8(sp)\n", " lw ra, 44(sp)\n lw s0, 40(sp)\n lw s1, 36(sp)\n lw s2, 32(sp)\n lw s3, 28(sp)\n lw s4, 24(sp)\n lw s5, 20(sp)\n lw s6, 16(sp)\n lw s7, 12(sp)\n lw s8, 8(sp)\n");
save_restore!("10", "48", " sw ra, 44(sp)\n sw s0, 40(sp)\n sw s1, 36(sp)\n sw s2, 32(sp)\n sw s3, 28(sp)\n sw s4, 24(sp)\n sw s5, 20(sp)\n sw s6, 16(sp)\n sw s7, 12(sp)\n sw s8, 8(sp)\n sw s9, 4(sp)\n", " lw ra, 44(sp)\n lw s0, 40(sp)\n lw s1, 36(sp)\n lw s2, 32(sp)\n lw s3, 28(sp)\n lw s4, 24(sp)\n lw s5, 20(sp)\n lw s6, 16(sp)\n lw s7, 12(sp)\n lw s8, 8(sp)\n lw s9, 4(sp)\n");
save_restore!("11", "48", " sw ra, 44(sp)\n sw s0, 40(sp)\n sw s1, 36(sp)\n sw s2, 32(sp)\n sw s3, 28(sp)\n sw s4, 24(sp)\n sw s5, 20(sp)\n sw s6, 16(sp)\n sw s7, 12(sp)\n sw s8, 8(sp)\n sw s9, 4(sp)\n sw s10, 0(sp)\n", " lw ra, 44(sp)\n lw s0, 40(sp)\n lw s1, 36(sp)\n lw s2, 32(sp)\n lw s3, 28(sp)\n lw s4, 24(sp)\n lw s5, 20(sp)\n lw s6, 16(sp)\n lw s7, 12(sp)\n lw s8, 8(sp)\n lw s9, 4(sp)\n lw s10, 0(sp)\n");
save_restore!("12", "64", " sw ra, 60(sp)\n sw s0, 56(sp)\n sw s1, 52(sp)\n sw s2, 48(sp)\n sw s3, 44(sp)\n sw s4, 40(sp)\n sw s5, 36(sp)\n sw s6, 32(sp)\n sw s7, 28(sp)\n sw s8, 24(sp)\n sw s9, 20(sp)\n sw s10, 16(sp)\n sw s11, 12(sp)\n", " lw ra, 60(sp)\n lw s0, 56(sp)\n lw s1, 52(sp)\n lw s2, 48(sp)\n lw s3, 44(sp)\n lw s4, 40(sp)\n lw s5, 36(sp)\n lw s6, 32(sp)\n lw s7, 28(sp)\n lw s8, 24(sp)\n lw s9, 20(sp)\n lw s10, 16(sp)\n lw s11, 12(sp)\n");
