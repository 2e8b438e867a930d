; Prologue and epilogue. s0..s11 are pushed on the hardware stack; sp moves by the frame size that
; LLVM's layout counts on. S is the cell of s11; s10, s9 .. s0 follow upwards.

.func rv_save               ; A = frame size, X = 2 * (12 - registers)
        STA W0+2
        PLA
        STA W0
        PLA
        STA W0+1
        INW W0
        SEC
        LDA SP
        SBC W0+2
        STA SP
        BCS .push
        DEC SP+1
.push:  JMP (.table,X)
.table: .word .s11, .s10, .s9, .s8, .s7, .s6, .s5, .s4, .s3, .s2, .s1, .s0, .none
.s11:   PHW BASE+S
        PHW BASE+S+2
.s10:   PHW BASE+S+4
        PHW BASE+S+6
.s9:    PHW BASE+S+8
        PHW BASE+S+10
.s8:    PHW BASE+S+12
        PHW BASE+S+14
.s7:    PHW BASE+S+16
        PHW BASE+S+18
.s6:    PHW BASE+S+20
        PHW BASE+S+22
.s5:    PHW BASE+S+24
        PHW BASE+S+26
.s4:    PHW BASE+S+28
        PHW BASE+S+30
.s3:    PHW BASE+S+32
        PHW BASE+S+34
.s2:    PHW BASE+S+36
        PHW BASE+S+38
.s1:    PHW BASE+S+40
        PHW BASE+S+42
.s0:    PHW BASE+S+44
        PHW BASE+S+46
.none:  JMP (BASE+W0)

.func rv_restore            ; A = frame size, X = 44 - 4 * registers
        STX W0
        CLC
        ADC SP
        STA SP
        BCC .start
        INC SP+1
.start: LDX #44
.test:  CPX W0
        BEQ .done
        PLA
        STA S+3,X
        PLA
        STA S+2,X
        PLA
        STA S+1,X
        PLA
        STA S,X
        DEX
        DEX
        DEX
        DEX
        BRA .test
.done:  RTS

.func rv_leave              ; the same, back to the caller with the return address of the function on top
        STX W0
        STA W1
        PLA
        STA W2
        PLA
        STA W2+1
        INW W2
        LDA W1
        CLC
        ADC SP
        STA SP
        BCC .start
        INC SP+1
.start: LDX #44
.test:  CPX W0
        BEQ .done
        PLA
        STA S+3,X
        PLA
        STA S+2,X
        PLA
        STA S+1,X
        PLA
        STA S,X
        DEX
        DEX
        DEX
        DEX
        BRA .test
.done:  JMP (BASE+W2)

; Where stacks are checked: after each prologue. The hardware stack must stay above page 2, the soft
; stack above STACK_PAGE of its bank.
.func rv_check
        TSY
        CPY #3
        BCC .over
        LDA SP+1
        CMP STACK_PAGE
        BCC .over
        RTS
.over:  JMP rv_overflow

.func rv_overflow           ; the end of a program whose stack ran over
        BRA rv_overflow
