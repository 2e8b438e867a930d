; Far access for programs that are written against functions instead of pointers.

.func far_read8
        LDZ #0
        LDA [A0],Z
        STA A0
        STZ A0+1
        STZ A0+2
        STZ A0+3
        RTS

.func far_read16
        LDZ #0
        LDQ [A0],Z
        STA A0
        STX A0+1
        LDA #0
        STA A0+2
        STA A0+3
        RTS

.func far_read32
        LDZ #0
        LDQ [A0],Z
        STQ A0
        RTS

.func far_write8
        LDZ #0
        LDA A1
        STA [A0],Z
        RTS

.func far_write16
        LDZ #0
        LDA A1
        STA [A0],Z
        INZ
        LDA A1+1
        STA [A0],Z
        RTS

.func far_write32
        LDQ A1
        STQ [A0]
        RTS
