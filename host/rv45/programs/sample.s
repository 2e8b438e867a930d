; What the sample crate expects of its machine.
.func read_key              ; A0 = the next key, 0 where there is none
        LDA $D610
        STA $D610
        STA A0
        LDA #0
        STA A0+1
        STA A0+2
        STA A0+3
        RTS

.func dma_copy              ; A0 = source, A1 = destination, A2 = count
        LDQ A0
        STQ A3
        LDQ A1
        STQ A0
        LDQ A3
        STQ A1
        JMP rv45_dma_copy
