; Sums and products of floats in pieces. Exponents lie so far from both ends that no sum or product here
; leaves the range of normal numbers; kernels see to that, or give up.

; Accumulator + term, rounded to nearest even: mantissa of the term in X, Y, Z, and TE, TS. What is seldom
; gone to is far from `add`, what is often gone to is near: a branch over more than 127 bytes costs two
; cycles even where it is not taken.
add_to_first:
        JMP add_first
add_to_same:
        JMP add_same
add_swap:
        NEG A               ; the accumulator is shifted
        STA D
        LDA #0
        STQ TM
        LDQ AM
        STQ $D770
        LDA TE
        STA AE
        LDX D
        CPX #9
        BCS add_wideswap
        LDA powers,X
        STA $D774
        LDA #0
        STA $D775
        LDA TS
        EOR AS
        BMI .minus
        LDQ $D779
        CLC
        ADCQ TM
        BCS add_carry
        BRA add_round
.minus: EOR AS
        STA AS
        LDQ TM
        SEC
        SBCQ $D779
        BMI add_round
        BRA add_left
add:    LDA AE              ; $D776 and $D777 are 0
        BEQ add_to_first
        SEC
        SBC TE
        BEQ add_to_same
        BCC add_swap
        CMP #3
        BCC add_near
        STQ $D770           ; its low byte is the distance
        TAX
        LDA #0
        STA $D770
        STA $D775
        CPX #9
        BCS add_wide
        LDA powers,X
        STA $D774
        LDA AS
        EOR TS
        BMI add_minus
        LDQ $D779
        CLC
        ADCQ AM
        BCS add_carry
add_round:
        CMP #$80
        BCC add_store
        BNE .up
        TXA
        LSR A
        BCC add_store
.up:    INX
        BNE add_store
        INY
        BNE add_store
        INZ
        BNE add_store
        LDZ #$80
        INC AE
add_store:
        LDA #0
        STQ AM
add_done:
        RTS
add_carry:
        RORQ Q
        INC AE
        BCC add_round
        ORA #1
        BRA add_round
add_minus:
        LDQ AM
        SEC
        SBCQ $D779
        BMI add_round
add_left:
        DEC AE
        ASLQ Q
        BPL add_left
        BRA add_round
add_near:
        DEC A
        BEQ .one
        LDA AS              ; by two bits
        EOR TS
        BMI .minus2
        LDA #0
        LSRQ Q
        BRA .sum1
.one:   LDA AS
        EOR TS
        BMI .minus1
        LDA #0
.sum1:  LSRQ Q
        CLC
        ADCQ AM
        BCS add_carry
        BRA add_round
.minus2:
        LDA #0
        LSRQ Q
        BRA .take1
.minus1:
        LDA #0
.take1: LSRQ Q
        STQ TM
        LDQ AM
        SEC
        SBCQ TM
        BMI add_round
        BRA add_left
add_first:
        STQ AM              ; A is 0
        LDA TE
        STA AE
        LDA TS
        STA AS
        RTS
add_same:
        LDA AS
        EOR TS
        BMI .differ
        LDA #0
        CLC
        ADCQ AM
        BRA add_carry
.differ:
        LDA #0
        STQ TM
        LDQ AM
        SEC
        SBCQ TM
        BEQ .zero
        BCS .norm
        LDA TS
        STA AS
        LDQ TM
        SEC
        SBCQ AM
.norm:  BMI .exact
.up:    DEC AE
        ASLQ Q
        BPL .up
.exact: STQ AM
        RTS
.zero:  STQ AM
        STA AE
        STA AS
        STA EMPTY
        RTS
add_wideswap:
        LDA AS
        LDX TS
        STX AS
        STA TS
        LDQ TM
        STQ AM
        LDX D
add_wide:
        CPX #26             ; less than a quarter of the last place
        BCS add_done
        LDA powers,X
        STA $D774
        LDA #0
        STA $D775
        LDA AS
        EOR TS
        BMI .farminus
        JSR .below
        LDA D
        BNE .far1
        LDQ $D77A
        BRA .farsum
.far1:  LSR A
        BNE .far2
        LDQ $D77B
        BRA .farsum
.far2:  LDQ $D77C
.farsum:
        CLC
        ADCQ AM
        BCC .sticky
        RORQ Q
        INC AE
        BCC .sticky
        ORA #1
.sticky:
        ORA ST
        JMP add_round
.farminus:
        JSR .below
        LDA D               ; 0, 1 or 2 bytes
        BEQ .m0
        LSR A
        BNE .m2
        LDQ $D77B
        BRA .m
.m2:    LDQ $D77C
        BRA .m
.m0:    LDQ $D77A
.m:     STQ TM
        LDA ST
        EOR #1
        LSR A               ; no carry: one more is taken away, of which sticky gives part back
        LDQ AM
        SBCQ TM
        BMI .sticky
        DEC AE
        ASLQ Q
        BRA .sticky
.below: LDA $D779           ; ST: anything below; D: whole bytes beyond the first
        LDY #0
        CPX #17
        BCC .any
        ORA $D77A
        INY
        CPX #25
        BCC .any
        ORA $D77B
        INY
.any:   STY D
        CMP #1              ; carry unless 0
        LDA #0
        ROL A
        STA ST
        RTS
powers: .byte 0, 128, 64, 32, 16, 8, 4, 2, 1, 128, 64, 32, 16, 8, 4, 2, 1, 128, 64, 32, 16, 8, 4, 2, 1, 128

; Adds a term that is zero, with the sign in TS.
add_zero:
        LDA AE
        BNE .done
        LDA EMPTY
        BEQ .second
        LDA #0
        STA EMPTY
        LDA TS
        STA AS
        RTS
.second:
        LDA TS
        AND AS
        STA AS
.done:  RTS

; Adds the term with the mantissa in X, Y, Z, or a zero one.
add_any:
        LDA TE
        BNE add
        BRA add_zero

; Term = accumulator times second factor (UM, UE, US), rounded; the mantissa in X, Y, Z. Gives up where
; the result is not well inside the range.
mul:    LDA AS
        EOR US
        STA TS
        LDA AE
        BEQ .zero
        CLC
        ADC UE
        BCS .large
        SBC #125            ; carry is clear: 126
        BCC .out
        BRA .check
.large: ADC #129            ; carry is set: 130
        BCS .out
.check: CMP #26
        BCC .out
        CMP #240
        BCS .out
        LDX UE
        BEQ .zero
        STA TE
        LDQ AM+1
        STQ $D770
        LDQ UM+1
        STQ $D774
        LDA $D778
        ORA $D779
        STA ST
        LDQ $D77A
        BMI .lead
        ASLQ Q
        DEC TE
.lead:  CMP #$80
        BCC .done
        BNE .up
        LDA ST
        BNE .up
        TXA
        LSR A
        BCC .done
.up:    INX
        BNE .done
        INY
        BNE .done
        INZ
        BNE .done
        LDZ #$80
        INC TE
.done:  LDA #0
        STA $D776
        RTS
.out:   LDX UE              ; a product with zero is none of these
        BEQ .zero
        JSR bad
.zero:  LDA #0
        STA TE
        TAX
        TAY
        TAZ
        RTS

; The product becomes the accumulator.
mul_to_a:
        JSR mul
        LDA #0
        STQ AM
        LDA TE
        STA AE
        LDA TS
        STA AS
        RTS

; Accumulator = the F32 at [PA]; PA goes on by 4. Gives up for what is neither zero nor normal.
load_a: LDZ #0
        LDQ [PA],Z
        STA AM+1
        STX AM+2
        TYA
        ASL A
        TZA
        ROL A
        STA AE
        BEQ .small
        INC A
        BEQ .bad
        LDA #0
        ROR A
        STA AS
        TYA
        ORA #$80
        STA AM+3
.on:    CLC
        LDA PA
        ADC #4
        STA PA
        BCC .done
        INW PA+1
.done:  RTS
.small: LDA #0
        ROR A
        STA AS
        TYA
        AND #$7F
        STA AM+3
        ORA AM+2
        ORA AM+1
        BEQ .on
.bad:   JSR bad
        BRA .on

; Second factor = the F32 at [PB]; PB goes on by 4.
load_u: LDZ #0
        LDQ [PB],Z
        STA UM+1
        STX UM+2
        TYA
        ASL A
        TZA
        ROL A
        STA UE
        BEQ .small
        INC A
        BEQ .bad
        LDA #0
        ROR A
        STA US
        TYA
        ORA #$80
        STA UM+3
.on:    CLC
        LDA PB
        ADC #4
        STA PB
        BCC .done
        INW PB+1
.done:  RTS
.small: LDA #0
        ROR A
        STA US
        TYA
        AND #$7F
        STA UM+3
        ORA UM+2
        ORA UM+1
        BEQ .on
.bad:   JSR bad
        BRA .on

; Stores the accumulator at [PC]; PC goes on by 4.
store_a:
        LDA AS
        AND #$80
        STA ST
        LDA AE
        LSR A
        ORA ST
        TAZ
        LDA AM+3
        BCS .odd
        AND #$7F
.odd:   TAY
        LDX AM+2
        LDA AM+1
        STQ [PC]
        CLC
        LDA PC
        ADC #4
        STA PC
        BCC .done
        INW PC+1
.done:  RTS

; Term (mantissa in X, Y, Z) to [PC].
store_t:
        LDA #0
        STQ AM
        LDA TE
        STA AE
        LDA TS
        STA AS
        JMP store_a

; Accumulator = +0; A = 1: without a first term yet.
clear_a:
        STA EMPTY
        LDA #0
        STA AE
        STA AS
        STA AM+1
        STA AM+2
        STA AM+3
        RTS

; $D771, $D772, $D775, $D776, $D777 = 0
clear_math:
        LDA #0
        STA $D771
        STA $D772
        STA $D775
        STA $D776
        STA $D777
        RTS

; Second factor = the parameter at P+20.
factor: LDA #P+20
        JSR own
        STQ PB
        JMP load_u

; Q = address of byte A of the base page in chip RAM.
own:    PHA
        LDA HOME+1
        CLC
        ADC #TOP
        TAX
        LDA HOME+2
        ADC #0
        TAY
        LDZ #0
        PLA
        RTS
