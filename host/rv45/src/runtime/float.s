; f32 arithmetic, IEEE 754 with rounding to nearest even. A0, A1 are the operands, A0 the result;
; A2.. and the temporaries are free to use (they do not survive calls).
;
; rv_fpack's input: mantissa with its leading bit in bit 31 of Q (24 bits, then a byte that decides
; rounding), W5+1 not 0 when more follows, exponent in A2 (16 bits), sign in bit 7 of W5.

.func rv_fpack
        STQ W0
        LDA A2+1
        BNE .range
        LDA A2
        BEQ .subnormal
        CMP #$FF
        BCS .infinite
.round: LDA W0
        CMP #$80
        BCC .pack
        BNE .up
        LDA W5+1            ; half way only if nothing more follows; then to even
        BNE .up
        LDA W0+1
        LSR A
        BCC .pack
.up:    INC W0+1
        BNE .pack
        INC W0+2
        BNE .pack
        INC W0+3
        BNE .pack
        LDA #$80
        STA W0+3
        INC A2
.pack:  LDA W0+1
        STA A0
        LDA W0+2
        STA A0+1
        LDA W0+3
        BPL .denormal
        AND #$7F
        STA A0+2
        LDA A2
.join:  LSR A
        ORA W5
        STA A0+3
        BCC .done
        SMB7 A0+2
.done:  RTS
.denormal:
        STA A0+2
        LDA #0
        BRA .join
.range: BPL .infinite
.subnormal:
        LDA A2+1            ; below -40 nothing is left but the fact that there was something
        BEQ .shift
        CMP #$FF
        BNE .vanish
        LDA A2
        CMP #$D8
        BCC .vanish
.shift: LDA W0
        LSR A
        LDA W5+1
        ADC #0
        STA W5+1
        LSRQ W0
        INW A2
        LDA A2
        CMP #1
        BNE .shift
        BRA .round
.vanish:
        LDA #0
        STA A2
        STA A2+1
        LDQ ZERO
        STQ W0
        BRA .pack
.infinite:
        JMP rv_finfinite

.func rv_finfinite          ; A0 = infinity with the sign in W5
        LDA #0
        STA A0
        STA A0+1
        LDA #$80
        STA A0+2
        LDA #$7F
        ORA W5
        STA A0+3
        RTS

.func rv_fnan
        LDA #0
        STA A0
        STA A0+1
        LDA #$C0
        STA A0+2
        LDA #$7F
        STA A0+3
        RTS

; Exponents of A0 and A1 in A2 and A3, sign of product or quotient in W5, nothing in W5+1.
; C = 1 when one is 0 or 255.
.func rv_fsetup
        LDA A0+3
        EOR A1+3
        AND #$80
        STA W5
        LDA #0
        STA W5+1
        STA A2+1
        STA A3+1
        LDA A1+2
        ASL A
        LDA A1+3
        ROL A
        STA A3
        LDA A0+2
        ASL A
        LDA A0+3
        ROL A
        STA A2
        DEC A
        CMP #$FE
        BCS .special
        LDA A3
        DEC A
        CMP #$FE
.special:
        RTS

.func rv_fkind              ; operand at X: A = 0 finite, 1 zero, 2 infinite, 3 NaN
        LDA 2,X
        ASL A
        LDA 3,X
        ROL A
        BEQ .small
        INC A
        BEQ .big
        LDA #0
        RTS
.small: LDY #1
        BRA .mantissa
.big:   LDY #2
.mantissa:
        LDA 2,X
        AND #$7F
        ORA 1,X
        ORA 0,X
        BEQ .yes
        CPY #2
        BEQ .nan
        LDA #0
        RTS
.yes:   TYA
        RTS
.nan:   LDA #3
        RTS

; For a product (X = 0) or a quotient (X = 16) of operands that are not both ordinary: C = 1 when
; A0 is the result already, else subnormal operands are made ordinary.
.func rv_fspecial
        STX W3
        LDX #A0
        JSR rv_fkind
        ASL A
        ASL A
        STA W3+1
        LDX #A1
        JSR rv_fkind
        ORA W3+1
        ORA W3
        TAX
        LDA .table,X
        BEQ .finite
        DEC A
        BEQ .zero
        DEC A
        BEQ .infinite
        JSR rv_fnan
        SEC
        RTS
.infinite:
        JSR rv_finfinite
        SEC
        RTS
.zero:  STA A0
        STA A0+1
        STA A0+2
        LDA W5
        STA A0+3
        SEC
        RTS
.finite:
        LDX #A0
        JSR .normal
        LDX #A1
        JSR .normal
        CLC
        RTS
.normal:
        LDA 8,X
        BNE .done
        INC 8,X
.next:  LDA 2,X
        BMI .done
        ASL 0,X
        ROL 1,X
        ROL 2,X
        LDA 8,X
        BNE .low
        DEC 9,X
.low:   DEC 8,X
        BRA .next
.done:  RTS
.table: .byte 0, 1, 2, 3, 1, 1, 3, 3, 2, 3, 2, 3, 3, 3, 3, 3
        .byte 0, 2, 1, 3, 1, 3, 1, 3, 2, 2, 3, 3, 3, 3, 3, 3

.func __mulsf3
        JSR rv_fsetup
        BCC .ordinary
        LDX #0
        JSR rv_fspecial
        BCC .ordinary
        RTS
.ordinary:
        LDA #0
        STA $D770
        STA $D777
        LDA A0
        STA $D771
        LDA A0+1
        STA $D772
        LDA A0+2
        ORA #$80
        STA $D773
        LDA A1
        STA $D774
        LDA A1+1
        STA $D775
        LDA A1+2
        ORA #$80
        STA $D776
        LDA A2
        SEC                 ; one more than the sum less the bias
        SBC #126
        STA A2
        BCS .upper
        DEC A2+1
        CLC
.upper: LDA A2
        CLC
        ADC A3
        STA A2
        LDA A2+1
        ADC A3+1
        STA A2+1
        LDA $D77A
        ORA $D779
        STA W5+1
        LDQ $D77B           ; the upper 32 of 56 bits; bit 55 or 54 leads
        BMI .pack
        DEW A2
        ASLQ Q
.pack:  JMP rv_fpack

.func __divsf3
        JSR rv_fsetup
        BCC .ordinary
        LDX #16
        JSR rv_fspecial
        BCC .ordinary
        RTS
.ordinary:
        LDA #0
        STA A0+3
        STA A1+3
        SMB7 A0+2
        SMB7 A1+2
        LDA A2              ; exponent: difference plus bias
        CLC
        ADC #127
        STA A2
        BCC .sum
        INC A2+1
.sum:   SEC
        LDA A2
        SBC A3
        STA A2
        LDA A2+1
        SBC A3+1
        STA A2+1
        LDQ A1
        STQ $D774
        LDQ A0
        CMPQ A1
        BCS .atleast
        DEW A2              ; the quotient shall begin with its 1
        ASLQ Q
        STQ A0
.atleast:
        STQ $D770
.wait:  BIT $D70F
        BMI .wait
        LDQ $D769           ; 1 bit and 24 bits of fraction
        STQ W1
        STQ $D770
        LDA A0              ; remainder, of which 32 bits are enough
        TAZ
        LDA #0
        TAX
        TAY
        SEC
        SBCQ $D778
        BPL .positive
        CLC                 ; the divider may be one off in either direction
        ADCQ A1
        STQ W2
        DEQ W1
        BRA .checked
.positive:
        CMPQ A1
        STQ W2
        BCC .checked
        SEC
        SBCQ A1
        STQ W2
        INQ W1
.checked:
        LDA W2
        ORA W2+1
        ORA W2+2
        ORA W2+3
        STA W5+1
        LDA W1+2
        TAZ
        LDY W1+1
        LDX W1
        LDA #0
        SEC
        RORQ Q
        JMP rv_fpack

.func __subsf3
        LDA A1+3
        EOR #$80
        STA A1+3
        JMP __addsf3

.func __addsf3
        LDA A1+3            ; the larger one into A0
        AND #$7F
        STA W0
        LDA A0+3
        AND #$7F
        CMP W0
        BCC .swap
        BNE .ordered
        LDA A0+2
        CMP A1+2
        BCC .swap
        BNE .ordered
        LDA A0+1
        CMP A1+1
        BCC .swap
        BNE .ordered
        LDA A0
        CMP A1
        BCS .ordered
.swap:  LDQ A0
        STQ W0
        LDQ A1
        STQ A0
        LDQ W0
        STQ A1
.ordered:
        LDA #0
        STA W5+1
        STA A2+1
        LDA A0+3
        AND #$80
        STA W5
        LDA A0+2
        ASL A
        LDA A0+3
        ROL A
        CMP #$FF
        BEQ .special
        STA A2
        TAX
        LDA A1+2
        ASL A
        LDA A1+3
        ROL A
        STA A3
        LDA A0+2            ; mantissas with the leading bit in bit 30
        CPX #0
        BEQ .small0
        ORA #$80
        BRA .built0
.small0:
        INC A2
.built0:
        TAZ
        LDY A0+1
        LDX A0
        LDA #0
        LSRQ Q
        STQ W0
        LDA A1+2
        LDX A3
        BEQ .small1
        ORA #$80
        BRA .built1
.small1:
        INC A3
.built1:
        TAZ
        LDY A1+1
        LDX A1
        LDA #0
        LSRQ Q
        STQ W1
        STQ $D770
        LDA A2
        SEC
        SBC A3
        BEQ .aligned
        CMP #27
        BCS .far
        EOR #31             ; shifted right by d: the high word of times 2 to the (32 - d)
        INC A
        JSR rv_power
        LDQ $D77C
        STQ W1
        LDQ $D778
        BEQ .aligned
        BRA .sticky
.far:   LDQ W1
        BEQ .aligned
        LDQ ZERO
        STQ W1
.sticky:
        SMB0 W1
.aligned:
        INC A2              ; leading bit 31 has the next exponent
        BNE .signs
        INC A2+1
.signs: LDA A0+3
        EOR A1+3
        BMI .subtract
        LDQ W0
        CLC
        ADCQ W1
        BMI .pack
        BNE .shift
        STQ A0              ; both are 0
        LDA W5
        STA A0+3
        RTS
.subtract:
        LDQ W0
        SEC
        SBCQ W1
        BEQ .zero
        BMI .pack
.shift: DEW A2
        ASLQ Q
        BPL .shift
.pack:  JMP rv_fpack
.zero:  STQ A0
        RTS
.special:
        LDA A0+2
        AND #$7F
        ORA A0+1
        ORA A0
        BNE .nan
        LDA A0+3
        EOR A1+3
        BPL .infinite
        LDQ A0
        EORQ A1
        ASLQ Q              ; infinity less infinity
        BEQ .nan
.infinite:
        RTS
.nan:   JMP rv_fnan

.func rv_fcmp               ; A = $FF, 0, 1: less, equal, greater; 2: unordered
        LDX #A0
        JSR .nan
        LDX #A1
        JSR .nan
        LDQ A0
        ORQ A1
        ASLQ Q
        BEQ .equal
        LDA A0+3
        EOR A1+3
        BMI .differ
        LDQ A0
        CMPQ A1
        BEQ .equal
        LDA A0+3
        BMI .negative
        BCC .less
.greater:
        LDA #1
        RTS
.negative:
        BCC .greater
.less:  LDA #$FF
        RTS
.equal: LDA #0
        RTS
.differ:
        LDA A0+3
        BMI .less
        BRA .greater
.nan:   LDA 2,X
        ASL A
        LDA 3,X
        ROL A
        INC A
        BNE .ok
        LDA 2,X
        AND #$7F
        ORA 1,X
        ORA 0,X
        BEQ .ok
        PLA                 ; straight back to the caller's caller
        PLA
        LDA #2
.ok:    RTS

.func rv_fresult            ; A0 = A with its sign
        STA A0
        ASL A
        LDA #0
        BCC .upper
        LDA #$FF
.upper: STA A0+1
        STA A0+2
        STA A0+3
        RTS

.func __ltsf2
        JSR rv_fcmp
        JMP rv_fresult
.func __lesf2
        JMP __ltsf2
.func __eqsf2
        JMP __ltsf2
.func __nesf2
        JMP __ltsf2
.func __cmpsf2
        JMP __ltsf2
.func __gesf2
        JSR rv_fcmp
        CMP #2
        BNE .ordered
        LDA #$FF
.ordered:
        JMP rv_fresult
.func __gtsf2
        JMP __gesf2
.func __unordsf2
        JSR rv_fcmp
        LSR A
        AND #1
        BCC .result         ; $FF and 1 have bit 0 set
        LDA #0
.result:
        JMP rv_fresult

.func __floatunsisf
        LDA #0
        STA W5
        JMP rv_ffloat
.func __floatsisf
        LDA A0+3
        AND #$80
        STA W5
        BEQ .positive
        LDQ ZERO
        SEC
        SBCQ A0
        STQ A0
.positive:
        JMP rv_ffloat
.func rv_ffloat
        LDA #0
        STA W5+1
        STA A2+1
        LDA #158
        STA A2
        LDQ A0
        BEQ .zero
.byte:  LDA A0+3
        BNE .bits
        LDA A0+2
        STA A0+3
        LDA A0+1
        STA A0+2
        LDA A0
        STA A0+1
        LDA #0
        STA A0
        LDA A2
        SEC
        SBC #8
        STA A2
        BRA .byte
.bits:  LDQ A0
        BMI .pack
.shift: DEW A2
        ASLQ Q
        BPL .shift
.pack:  JMP rv_fpack
.zero:  RTS

; Q = integer part of the absolute value of A0. C = 1: A0 is not below 2 to the X - 127; A = 0 then
; for a NaN.
.func rv_ffix
        STX W1
        LDA A0+2
        ASL A
        LDA A0+3
        ROL A
        STA W0
        CMP #127
        BCC .zero
        CMP W1
        BCS .large
        LDA A0+2
        ORA #$80
        TAZ
        LDY A0+1
        LDX A0
        LDA #0
        STQ $D770
        LDA W0
        CMP #158
        BEQ .whole
        SEC
        SBC #126
        JSR rv_power
        LDQ $D77C
        CLC
        RTS
.whole: LDQ $D770
        CLC
        RTS
.zero:  LDQ ZERO
        CLC
        RTS
.large: INC A
        BNE .number
        LDA A0+2
        AND #$7F
        ORA A0+1
        ORA A0
        BEQ .number
        LDA #0
        SEC
        RTS
.number:
        LDA #1
        SEC
        RTS

.func __fixunssfsi
        LDX #159
        JSR rv_ffix
        BIT A0+3
        BMI .none
        BCC .done
        TAX
        BEQ .none
        LDA #$FF
        TAX
        TAY
        TAZ
.done:  STQ A0
        RTS
.none:  LDQ ZERO
        STQ A0
        RTS

.func __fixsfsi
        LDX #158
        JSR rv_ffix
        BCS .large
        STQ W0
        LDA A0+3
        BPL .positive
        LDQ ZERO
        SEC
        SBCQ W0
        STQ A0
        RTS
.positive:
        LDQ W0
        STQ A0
        RTS
.large: TAX
        BEQ .nan
        LDA A0+3
        ASL A               ; C = sign: $80000000 or one less
        LDA #$FF
        ADC #0
        STA A0
        STA A0+1
        STA A0+2
        EOR #$80
        STA A0+3
        RTS
.nan:   LDQ ZERO
        STQ A0
        RTS
