; Decimal digits. A number becomes a binary fraction, and each multiplication by ten brings a digit out
; of it. A field has room for the longest number; digits end where the field ends.

.func rv45_decimal          ; A0 = number, A1 = field of 10 bytes; A0 = place of the first digit in it
        LDQ A1
        STQ W5
        LDQ A0
        JSR rv_decimal
        LDX #0
        LDY #0
        LDZ #0
        STQ A0
        RTS

.func rv_decimal            ; Q = number, W5 = field of 10 bytes; A = place of the first digit in it
        STQ $D770
        CPZ #0
        BNE .large
        CPY #0
        BNE .large
        CPX #0
        BNE .word
        CMP #10
        BCS .byte
        ORA #'0'
        LDZ #9
        STA [W5],Z
        TZA
        RTS
.byte:  LDA #7
        STA W0
        LDQ .per1000
        BRA .small
.word:  LDA #5
        STA W0
        LDQ .per100000
.small: STQ $D774
        LDQ $D778
        JSR rv_by_ten
.find:  LDA $D77C
        BNE .found
        INC W0
        LDQ $D778
        STQ $D770
        BRA .find
.found: LDA W0
.rest:  PHA
        LDA #9
        STA W0+1
        JSR rv_digits
        PLA
        RTS
; The number divided by 10^8: two digits before the point, as bits 57 up of a product. One more in the
; last place makes up for what is cut off, for every 32-bit number.
.large: LDQ .per100000000
        STQ $D774
        LDA $D77F
        LSR A
        STA W0+1
        LDA $D77E
        TAZ
        LDY $D77D
        LDX $D77C
        LDA $D77B
        RORQ Q
        INQ Q
        JSR rv_by_ten
        LDA #2
        STA W0
        LDA W0+1
        BEQ .find
        LDX #'0'
.tens:  CMP #10
        BCC .ones
        SBC #10
        INX
        BRA .tens
.ones:  ORA #'0'
        LDZ #1
        STA [W5],Z
        TXA
        CMP #'0'
        BEQ .nine
        LDZ #0
        STA [W5],Z
        LDA #0
        BRA .rest
.nine:  LDA #1
        BRA .rest
.per1000:      .dword 4294968       ; 2^32 / 10^3, rounded up
.per100000:    .dword 42950         ; 2^32 / 10^5
.per100000000: .dword 1441151881    ; 2^57 / 10^8

.func rv_by_ten             ; Q = a fraction; its first digit comes out at $D77C
        STQ $D770
        LDA #10
        LDX #0
        LDY #0
        LDZ #0
        STQ $D774
        RTS

.func rv_digits             ; digits of the fraction at $D770 to places W0 to W0+1 of the field at W5
        LDZ BASE+W0
        LDA $D77C
        ORA #'0'
        STA [W5],Z
        CPZ W0+1
        BEQ .done
        INC W0
        LDQ $D778
        STQ $D770
        BRA rv_digits
.done:  RTS

.func rv_decimal64          ; Q = lower half, W2 = upper half, W5 = field of 20 bytes; A = place as above
        STQ W1
        LDA #20
        STA W0+2
.chunk: LDQ W2
        BNE .divide
        LDA W0+2
        SEC
        SBC #10
        STA W0+2
        LDX #0
        LDY #0
        LDZ #0
        BCS .field
        DEX
        DEY
        DEZ
.field: CLC
        ADCQ W5
        STQ W5
        LDQ W1
        JSR rv_decimal
        CLC
        ADC W0+2
        RTS
; By 10000, 16 bits at a time from the top: W3 holds the remainder so far.
.divide:
        LDA #0
        STA W3
        STA W3+1
        LDX #6
.limb:  STX W0+3
        LDA W1,X
        STA W4
        STA $D770
        LDA W1+1,X
        STA W4+1
        STA $D771
        LDA W3
        STA $D772
        LDA W3+1
        STA $D773
        LDQ .by10000
        STQ $D774
        LDQ $D77C
        ASLQ Q
        ASLQ Q
        ASLQ Q
        LDX W0+3
        TYA
        STA W1,X
        STA $D770
        TZA
        STA W1+1,X
        STA $D771
        LDA #0
        STA $D772
        STA $D773
        LDQ .n10000
        STQ $D774
        LDA W4
        SEC
        SBC $D778
        STA W3
        LDA W4+1
        SBC $D779
        STA W3+1
        LDX W0+3
        DEX
        DEX
        BPL .limb
        LDA W3
        LDX W3+1
        LDY #0
        LDZ #0
        STQ $D770
        LDQ .per10000
        STQ $D774
        LDQ $D778
        JSR rv_by_ten
        LDA W0+2
        DEC A
        STA W0+1
        SEC
        SBC #3
        STA W0
        STA W0+2
        JSR rv_digits
        BRA .chunk
.by10000:  .dword $D1B71759     ; 2^45 / 10^4, rounded up
.n10000:   .dword 10000
.per10000: .dword 429497        ; 2^32 / 10^4, rounded up
