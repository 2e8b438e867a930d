; How many F32 at A0, at most A1, are finite and have a key below A2 (shared: mem.rs, sampler.rs).

.func ssnail_below
        LDQ A1
        STQ W0              ; left
        BEQ .stop
        LDQ A2
        BPL .minus
        STQ W1              ; a key of a positive value: its bits
        LDA W1+3
        AND #$7F
        STA W1+3
.loop:  LDZ #0
        LDQ [A0],Z
        BMI .negative
        CMPQ W1
        BCS .stop
.next:  CLC
        LDA A0
        ADC #4
        STA A0
        BCC .count
        INW A0+1
        BNE .count
        INC A0+3
.count: DEQ W0
        BNE .loop
.stop:  LDQ A1
        SEC
        SBCQ W0
        STQ A0
        RTS
.negative:                  ; below all positive keys; infinity and NaN stop
        CPZ #$FF
        BNE .next
        CPY #$80
        BCC .next
        BRA .stop

.minus: LDA #$FF            ; the key of a negative value: larger bits are below it
        SEC
        SBC A2
        STA W1
        LDA #$FF
        SBC A2+1
        STA W1+1
        LDA #$FF
        SBC A2+2
        STA W1+2
        LDA #$FF
        SBC A2+3
        STA W1+3
.again: LDZ #0
        LDQ [A0],Z
        BPL .stop
        CMPQ W1
        BCC .stop
        BEQ .stop
        CPZ #$FF
        BNE .pass
        CPY #$80
        BCS .stop
.pass:  CLC
        LDA A0
        ADC #4
        STA A0
        BCC .less
        INW A0+1
        BNE .less
        INC A0+3
.less:  DEQ W0
        BNE .again
        BRA .stop
