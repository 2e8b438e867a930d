; Operations as calls with operands behind them: 5 or 6 bytes instead of 8 to 30, several times slower.
; P0, P1, P2 point to base-page cells (their upper bytes always hold the base page); RET is where the
; program goes on.

.func rv_t3                 ; three operand bytes to P0, P1, P2
        PLA
        STA W0
        PLA
        STA W0+1
        PLA
        STA RET
        PLA
        STA RET+1
        LDY #1
        LDA (RET),Y
        STA P0
        INY
        LDA (RET),Y
        STA P1
        INY
        LDA (RET),Y
        STA P2
        LDA #4
        BRA rv_t_go
.func rv_t2                 ; two operand bytes to P0, P1
        PLA
        STA W0
        PLA
        STA W0+1
        PLA
        STA RET
        PLA
        STA RET+1
        LDY #1
        LDA (RET),Y
        STA P0
        INY
        LDA (RET),Y
        STA P1
        LDA #3
        BRA rv_t_go
.func rv_t_go               ; A = bytes from the return address on; back to the routine that called
        CLC
        ADC RET
        STA RET
        BCC .same
        INC RET+1
.same:  INW W0
        LDZ #0
        JMP (BASE+W0)

.func rv_t_mv
        JSR rv_t2
        LDQ (P1),Z
        STQ (P0)
        JMP (BASE+RET)

.func rv_t_li               ; -128..127
        JSR rv_t2
        LDA P1
        JSR rv_t_sign
        STQ (P0)
        JMP (BASE+RET)

.func rv_t_sign             ; Q = A with its sign
        LDX #0
        CMP #$80
        BCC .plus
        DEX
.plus:  PHA
        TXA
        TAY
        TAZ
        PLA
        RTS

.func rv_t_addi
        JSR rv_t3
        LDA P2
        JSR rv_t_sign
        CLC
        ADCQ (P1)
        STQ (P0)
        JMP (BASE+RET)

.func rv_t_add
        JSR rv_t3
        LDQ (P1),Z
        CLC
        ADCQ (P2)
        STQ (P0)
        JMP (BASE+RET)

.func rv_t_sub
        JSR rv_t3
        LDQ (P1),Z
        SEC
        SBCQ (P2)
        STQ (P0)
        JMP (BASE+RET)

.func rv_t_and
        JSR rv_t3
        LDQ (P1),Z
        ANDQ (P2)
        STQ (P0)
        JMP (BASE+RET)

.func rv_t_or
        JSR rv_t3
        LDQ (P1),Z
        ORQ (P2)
        STQ (P0)
        JMP (BASE+RET)

.func rv_t_xor
        JSR rv_t3
        LDQ (P1),Z
        EORQ (P2)
        STQ (P0)
        JMP (BASE+RET)

.func rv_t_mul
        JSR rv_t3
        LDQ (P1),Z
        STQ $D770
        LDZ #0
        LDQ (P2),Z
        STQ $D774
        LDQ $D778
        STQ (P0)
        JMP (BASE+RET)

.func rv_t_cmp              ; flags of P0 less P1
        JSR rv_t2
        LDQ (P0),Z
        CMPQ (P1)
        JMP (BASE+RET)

.func rv_t_sltu
        JSR rv_t3
        LDQ (P1),Z
        CMPQ (P2)
        JMP rv_t_not_carry
.func rv_t_not_carry        ; P0 = 1 where C = 0, else 0
        LDA #0
        TAX
        TAY
        TAZ
        BCS .store
        INC A
.store: STQ (P0)
        JMP (BASE+RET)

.func rv_t_slt
        JSR rv_t3
        LDQ (P1),Z
        SEC
        SBCQ (P2)
        TZA
        BVC .v
        EOR #$80
.v:     EOR #$80
        ASL A
        JMP rv_t_not_carry

.func rv_t_slli
        JSR rv_t3
        LDQ (P1),Z
        STQ $D770
        LDA P2
        JSR rv_sll
        STQ (P0)
        JMP (BASE+RET)

.func rv_t_srli
        JSR rv_t3
        LDQ (P1),Z
        STQ $D770
        LDA P2
        JSR rv_srl
        STQ (P0)
        JMP (BASE+RET)

.func rv_t_srai
        JSR rv_t3
        LDQ (P1),Z
        STQ $D770
        LDA P2
        JSR rv_sra
        STQ (P0)
        JMP (BASE+RET)

.func rv_t_base             ; W0 = the register of P1, Z = P2
        LDQ (P1),Z
        STQ W0
        LDZ BASE+P2
        RTS

.func rv_t_lw
        JSR rv_t3
        JSR rv_t_base
        LDQ [W0],Z
        STQ (P0)
        JMP (BASE+RET)

.func rv_t_lbu
        JSR rv_t3
        JSR rv_t_base
        LDA [W0],Z
        LDX #0
        LDY #0
        LDZ #0
        STQ (P0)
        JMP (BASE+RET)

.func rv_t_lhu
        JSR rv_t3
        JSR rv_t_base
        LDQ [W0],Z
        LDY #0
        LDZ #0
        STQ (P0)
        JMP (BASE+RET)

.func rv_t_sb               ; P0 = source
        JSR rv_t3
        JSR rv_t_base
        LDY #0
        LDA (P0),Y
        STA [W0],Z
        JMP (BASE+RET)

.func rv_t_sh
        JSR rv_t3
        JSR rv_t_base
        LDY #0
        LDA (P0),Y
        STA [W0],Z
        INY
        INZ
        LDA (P0),Y
        STA [W0],Z
        JMP (BASE+RET)

.func rv_t_sw
        JSR rv_t3
        JSR rv_t_base
        LDY #0
.byte:  LDA (P0),Y
        STA [W0],Z
        INZ
        INY
        CPY #4
        BNE .byte
        JMP (BASE+RET)
