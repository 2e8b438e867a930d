; For quantising a vector. P: vector (F32), number of elements at P+16 (16 bits).

; Kernel 3: the greatest magnitude, as bits.
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

; Kernel 4: whole numbers nearest to the elements times the factor at P+20, as signed bytes at P+4.
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
