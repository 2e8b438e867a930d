; Into a block of kernels (hw/kernels) and back. A0 = its address in chip RAM, a multiple of 256, plus the kernel's
; number; A1 = address of the parameters.

.func ssnail_matrix
        LDX #$E6            ; BLOCK in matrix.s
        JMP ssnail_block

.func ssnail_vector
        LDX #$E8            ; BLOCK in vectors.s
        JMP ssnail_block

.func ssnail_block
        STX W0+1
        LDA #0
        STA W0
        LDA A0+1
        SEC
        SBC W0+1
        TAY
        LDA A0+2
        SBC #0
        AND #15
        ORA #$80
        TAZ
        LDA #0
        TAX
        MAP
        EOM
        JSR (BASE+W0)
        LDA #0
        JMP rv_overlay
