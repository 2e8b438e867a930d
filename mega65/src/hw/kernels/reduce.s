; Kernels with one result. P: vector (F32), number of elements at P+16 (16 bits). A1: the result.

; Kernel 9: sum of the squares. Kernel 10: sum.
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

; Kernel 11: the greatest. Gives up for what is neither finite nor, unless zero, normal.
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
