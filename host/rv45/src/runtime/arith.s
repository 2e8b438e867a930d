; Arithmetic helpers. W0..W5 are base-page temporaries, ZERO is x0's cell.
; Two-operand helpers get the first operand in W1 (multiplier and shifts: $D770) and the second in Q.

.func rv_mul                ; Q = $D770 * Q, low word
        STQ $D774
        LDQ $D778
        RTS

.func rv_mulh               ; signed times signed, high word
        STQ W2
        STQ $D774
        LDQ W1
        STQ $D770
        LDQ $D77C
        BIT W1+3
        BPL .positive
        SEC
        SBCQ W2
.positive:
        BIT W2+3
        BPL .done
        SEC
        SBCQ W1
.done:  RTS

.func rv_mulhsu             ; signed times unsigned, high word
        STQ W2
        STQ $D774
        LDQ W1
        STQ $D770
        LDQ $D77C
        BIT W1+3
        BPL .done
        SEC
        SBCQ W2
.done:  RTS

.func rv_divu10             ; Q = Q / 10
        STQ $D770
        LDQ .tenth
        STQ $D774
        LDQ $D77C
        LSRQ Q
        LSRQ Q
        LSRQ Q
        RTS
.tenth: .dword $CCCCCCCD

.func rv_remu10             ; Q = Q mod 10
        STQ W0
        JSR rv_divu10
        STQ W1
        ASLQ Q
        ASLQ Q
        CLC
        ADCQ W1
        ASLQ Q
        STQ W1
        LDQ W0
        SEC
        SBCQ W1
        RTS

.func rv_divu
        JSR rv_udivmod
        LDQ W2
        RTS

.func rv_remu
        JSR rv_udivmod
        LDQ W3
        RTS

.func rv_div
        JSR rv_sdivmod
        LDQ W2
        RTS

.func rv_rem
        JSR rv_sdivmod
        LDQ W3
        RTS

; W2 = W1 / Q, W3 = W1 mod Q, unsigned; W0 = the divisor. Division by 0 gives -1 and W1.
; The hardware's quotient may be one too low, so the remainder is checked.
.func rv_udivmod
        STQ W0
        STQ $D774
        LDQ W1
        STQ $D770
        LDQ W0
        BEQ .zero
.wait:  BIT $D70F
        BMI .wait
        LDQ $D76C
        STQ W2
        STQ $D770
        LDQ W1
        SEC
        SBCQ $D778
        STQ W3
        CMPQ W0
        BCC .done
        SEC
        SBCQ W0
        STQ W3
        INQ W2
.done:  RTS
.zero:  LDQ W1
        STQ W3
        LDA #$FF
        TAX
        TAY
        TAZ
        STQ W2
        RTS

.func rv_sdivmod            ; the same, signed
        STQ W0
        LDA W1+3
        PHA
        EOR W0+3
        PHA
        BIT W1+3
        BPL .dividend
        LDQ ZERO
        SEC
        SBCQ W1
        STQ W1
.dividend:
        LDQ W0
        BPL .divisor
        LDQ ZERO
        SEC
        SBCQ W0
.divisor:
        JSR rv_udivmod
        PLA
        BPL .quotient
        LDQ W0
        BEQ .quotient
        LDQ ZERO
        SEC
        SBCQ W2
        STQ W2
.quotient:
        PLA
        BPL .remainder
        LDQ ZERO
        SEC
        SBCQ W3
        STQ W3
.remainder:
        RTS

; Shifts multiply by a power of two: operand in $D770, count in A.
.func rv_power              ; $D774 = 2 to the A (0..31)
        TAX
        LSR A
        LSR A
        LSR A
        TAY
        LDA #0
        STA $D774
        STA $D775
        STA $D776
        STA $D777
        TXA
        AND #7
        TAX
        LDA .bits,X
        STA $D774,Y
        RTS
.bits:  .byte 1, 2, 4, 8, 16, 32, 64, 128

.func rv_sll
        AND #31
        JSR rv_power
        LDQ $D778
        RTS

.func rv_srl                ; the high word of x times 2 to the (32 - count)
        AND #31
        BEQ .none
        EOR #31
        INC A
        JSR rv_power
        LDQ $D77C
        RTS
.none:  JSR rv_power
        LDQ $D778
        RTS

.func rv_sra                ; a negative x: the logical shift less 2 to the (32 - count)
        AND #31
        BEQ .none
        EOR #31
        INC A
        JSR rv_power
        LDQ $D77C
        BIT $D773
        BPL .done
        SEC
        SBCQ $D774
.done:  RTS
.none:  JSR rv_power
        LDQ $D778
        RTS

.func rv_ror
        EOR #$FF
        INC A
        JMP rv_rol

.func rv_rol
        AND #31
        JSR rv_power
        LDQ $D778
        ORQ $D77C
        RTS

.func rv_clz                ; A = leading zeros of Q
        STQ W0
        LDX #0
        LDA W0+3
        BNE .bits
        LDX #8
        LDA W0+2
        BNE .bits
        LDX #16
        LDA W0+1
        BNE .bits
        LDX #24
        LDA W0
        BNE .bits
        LDA #32
        RTS
.next:  INX
.bits:  ASL A
        BCC .next
        TXA
        RTS

.func rv_ctz                ; A = trailing zeros of Q
        STQ W0
        LDX #0
        LDA W0
        BNE .bits
        LDX #8
        LDA W0+1
        BNE .bits
        LDX #16
        LDA W0+2
        BNE .bits
        LDX #24
        LDA W0+3
        BNE .bits
        LDA #32
        RTS
.next:  INX
.bits:  LSR A
        BCC .next
        TXA
        RTS

.func rv_cpop               ; A = ones in Q
        STQ W0
        LDX #0
        LDY #3
.byte:  LDA BASE+W0,Y
.bit:   LSR A
        BCC .clear
        INX
.clear: TAZ
        BNE .bit
        DEY
        BPL .byte
        TXA
        RTS

.func rv_orcb               ; every byte of Q that is not 0 becomes $FF
        STQ W0
        LDY #3
.byte:  LDA BASE+W0,Y
        BEQ .zero
        LDA #$FF
        STA BASE+W0,Y
.zero:  DEY
        BPL .byte
        LDQ W0
        RTS
