; Kernels with one result. P: vector (F32), number of elements at P+16 (16 bits). A1: the result.

; Kernel 11: sum of the squares. Kernel 12: sum.
squares:
        JSR begin
        JSR keep_a
.next:  JSR load_a
        LDQ AM
        STQ UM
        LDA AE
        STA UE
        LDA AS
        STA US
        JSR mul
        JSR kept_a
        JSR add_any
        JSR keep_a
        DEW P+16
        BNE .next
        BRA deliver
sum:    JSR begin
.next:  JSR load_u
        JSR plus_u
        DEW P+16
        BNE .next
deliver:
        LDA #RES
        JSR own
        STQ PC
        JMP store_a

begin:  JSR clear_math
        LDQ P
        STQ PA
        STQ PB
        LDA #1
        JMP clear_a

; Kernel 13: the greatest. Gives up for what is neither finite nor, unless zero, normal.
peak:   LDQ P
        STQ PA
        LDQ .lowest
        STQ TM
.next:  LDZ #0
        LDQ [PA],Z
        STQ XM
        TYA
        ASL A
        TZA
        ROL A
        DEC A
        CMP #$FE
        BCS .special
.ordinary:
        LDA XM+3
        BMI .negative
        ORA #$80
        STA XM+3
        BRA .compare
.negative:
        LDQ XM
        EORQ .ones
        STQ XM
.compare:
        LDQ XM
        CMPQ TM
        BCC .on
        STQ TM
.on:    CLC
        LDA PA
        ADC #4
        STA PA
        BCC .less
        INW PA+1
.less:  DEW P+16
        BNE .next
        LDA TM+3
        BPL .invert
        AND #$7F
        STA TM+3
        LDQ TM
        STQ RES
        RTS
.invert:
        LDQ TM
        EORQ .ones
        STQ RES
        RTS
.special:
        LDA XM
        ORA XM+1
        BNE .bad
        LDA XM+2
        BNE .bad
        LDA XM+3
        ASL A
        BEQ .ordinary
.bad:   JMP bad
.lowest:
        .dword 0
.ones:  .dword $FFFFFFFF

; Kernel 14: the greatest magnitude, as bits.
largest:
        LDQ P
        STQ PA
        LDA #0
        TAX
        TAY
        TAZ
        STQ RES
.next:  LDZ #0
        LDQ [PA],Z
        STQ TM
        LDA TM+3
        AND #$7F
        STA TM+3
        LDQ TM
        CMPQ RES
        BCC .on
        STQ RES
.on:    CLC
        LDA PA
        ADC #4
        STA PA
        BCC .less
        INW PA+1
.less:  DEW P+16
        BNE .next
        RTS

; Kernel 15: whole numbers nearest to the elements times the factor at P+20, as signed bytes at P+4.
round:  LDQ P
        STQ PA
        LDQ P+4
        STQ PC
        JSR clear_math
        JSR factor
.next:  JSR load_a
        LDA AE
        BEQ .zero
        CLC
        ADC UE
        BCS .large
        CMP #250
        BCC .zero
.large: JSR mul
        LDA TE
        CMP #126
        BCC .zero
        SBC #134
        BCS .most           ; 128 and more
        TAX
        INX
        TZA
.shift: CPX #0
        BEQ .have
        LSR A
        INX
        BRA .shift
.have:  INC A
        BEQ .full
        LSR A
        BRA .sign
.full:  LDA #$80            ; 255 and one, halved
.sign:  BIT TS
        BPL .positive
        NEG A
        BRA .store
.positive:
        CMP #$80
        BCC .store
.up:    LDA #127
        BRA .store
.most:  BIT TS
        BPL .up
        LDA #$80
        BRA .store
.zero:  LDA #0
.store: LDZ #0
        STA [PC],Z
        INQ PC
        DEW P+16
        BNE .next
        RTS
