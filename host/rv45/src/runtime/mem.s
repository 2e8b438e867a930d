; memcpy, memmove, memset, memcmp: bytewise when short, by DMA when long. A0 comes back unchanged.

.func memcpy
        LDA A2+2
        ORA A2+3
        ORA A2+1
        BNE .long
        LDX A2
        BEQ .done
        CPX #24
        BCS .long
        LDZ #0
.byte:  LDA [A1],Z
        STA [A0],Z
        INZ
        DEX
        BNE .byte
.done:  RTS
.long:  JMP rv45_dma_copy

.func memmove
        LDQ A0              ; forwards unless source < destination < source + count
        SEC
        SBCQ A1
        CMPQ A2
        BCC .backwards
        JMP memcpy
.backwards:
        LDQ A0
        CLC
        ADCQ A2
        STQ W0
        LDQ A1
        CLC
        ADCQ A2
        STQ W1
        LDQ A2
        STQ W2
        LDZ #0
        BRA .test
.byte:  DEQ W0
        DEQ W1
        DEQ W2
        LDA [W1],Z
        STA [W0],Z
.test:  LDA W2
        ORA W2+1
        ORA W2+2
        ORA W2+3
        BNE .byte
        RTS

.func memset
        LDA A2+2
        ORA A2+3
        ORA A2+1
        BNE .long
        LDX A2
        BEQ .done
        CPX #32
        BCS .long
        LDZ #0
        LDA A1
.byte:  STA [A0],Z
        INZ
        DEX
        BNE .byte
.done:  RTS
.long:  JMP rv45_dma_fill

.func bcmp
        JMP memcmp
.func memcmp
        LDQ A0
        STQ W0
        LDQ A2
        STQ W2
        LDZ #0
.next:  LDA W2
        ORA W2+1
        ORA W2+2
        ORA W2+3
        BEQ .equal
        LDA [W0],Z
        CMP [A1],Z
        BNE .differ
        INZ
        BNE .same
        INC W0+1
        BNE .a1
        INW W0+2
.a1:    INC A1+1
        BNE .same
        INW A1+2
.same:  DEC W2
        LDA W2
        CMP #$FF
        BNE .next
        DEC W2+1
        LDA W2+1
        CMP #$FF
        BNE .next
        DEW W2+2
        BRA .next
.equal: LDQ ZERO
        STQ A0
        RTS
.differ:
        LDA #1
        BCS .sign
        DEC A
        DEC A
.sign:  STA A0
        ASL A
        LDA #0
        BCC .upper
        DEC A
.upper: STA A0+1
        STA A0+2
        STA A0+3
        RTS
