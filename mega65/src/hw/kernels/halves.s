; Kernel 2: rows of F16 times a vector of F32: exact sums, rounded to F64 and then to F32.
; P: address of the first row, stride, vector, (unused), results, rows (16 bits), columns (16 bits).
;
; A product has 35 bits. Its power of two, counted from the smallest that can occur, has a lower part of
; three bits, which selects one of eight accumulators of 16 bytes, and an upper one, which selects the
; byte: so nothing is shifted before the end of the row. Negative products have accumulators of their own.

PART = 172                  ; columns at a time
XM0 = BUFFER                ; significands of the vector
XM1 = XM0 + PART
XM2 = XM1 + PART
XE_ = XM2 + PART            ; powers of two, sign in bit 7
WL = XE_ + PART             ; a row
WH = WL + PART
PLACE = $FD08               ; power and sign of a product: its place in the accumulators
SUMS = $FE00                ; the accumulators
SPAN = 58                   ; the largest difference of exponents in the vector
NB_ = $FFBC

halves: LDA P+24
        ORA P+25
        BEQ .bad
        LDX #0
.place: TXA
        AND #7
        ASL A
        ASL A
        ASL A
        ASL A
        STA D
        TXA
        AND #$80
        TSB D
        TXA
        LSR A
        LSR A
        LSR A
        AND #15
        ORA D
        STA PLACE,X
        INX
        BNE .place
        LDA #>SUMS
        STA AP+1
        STA AP1+1
        STA AP2+1
        STA AP3+1
        STA NP+1
        STA NP1+1
        STA NP2+1
        STA NP3+1
        LDA #0
        LDX #7
.zero:  STA TB-8,X
        DEX
        BPL .zero
        LDA #<SUMS          ; the fill's target
        LDX #>SUMS
        JSR target
        LDA list+12
        STA wipe+12
        LDA list+13
        STA wipe+13
        LDA list+14
        STA wipe+14
        JSR greatest
        LDA BAD
        BNE .end
        LDQ P+16
        STQ PC
        LDA P+20
        STA ROWS
        LDA P+21
        STA ROWS+1
        LDA P+24
        CMP #PART + 1
        LDA P+25
        SBC #0
        BCS .wide
        LDA P+24
        STA N
        LDQ P+8
        STQ PA
        JSR prepare
        LDA BAD
        BNE .end
.row:   JSR wipe_sums
        LDQ P
        STQ SRC
        JSR split
        JSR products
        JSR result
        LDA BAD
        BNE .end
        LDQ P
        CLC
        ADCQ P+4
        STQ P
        DEW ROWS
        BNE .row
.end:   RTS
.bad:   JMP bad
.wide:  JSR wipe_sums
        LDQ P
        STQ SRC
        LDQ P+8
        STQ PA
        LDA P+24
        STA COUNT
        LDA P+25
        STA COUNT+1
.part:  LDA #PART
        LDX COUNT+1
        BNE .full
        CMP COUNT
        BCC .full
        LDA COUNT
        BEQ .sum
.full:  STA N
        JSR prepare
        JSR split
        JSR products
        LDA N
        ASL A
        STA D
        LDA #0
        ROL A
        STA D+1
        CLC
        LDA SRC
        ADC D
        STA SRC
        LDA SRC+1
        ADC D+1
        STA SRC+1
        BCC .less
        INW SRC+2
.less:  LDA COUNT
        SEC
        SBC N
        STA COUNT
        BCS .part
        DEC COUNT+1
        BRA .part
.sum:   JSR result
        LDA BAD
        BNE .end
        LDQ P
        CLC
        ADCQ P+4
        STQ P
        DEW ROWS
        BNE .wide
        RTS

; MAXE = largest exponent in the vector.
greatest:
        LDQ P+8
        STQ PA
        LDA P+24
        STA COUNT
        LDA P+25
        STA COUNT+1
        LDA #1
        STA MAXE
.next:  LDZ #0
        LDQ [PA],Z
        PHA
        TYA
        ASL A
        TZA
        ROL A
        BEQ .small
        CMP #$FF
        BEQ .bad
        CMP MAXE
        BCC .on
        STA MAXE
.on:    PLA
        CLC
        LDA PA
        ADC #4
        STA PA
        BCC .count
        INW PA+1
.count: DEW COUNT
        BNE .next
        LDA MAXE            ; the exponent of bit 0
        SEC
        SBC #105
        STA BASE_E
        LDA #0
        SBC #0
        STA BASE_E+1
        RTS
.small: BRA .on             ; zero or as small as the exponent 1
.bad:   PLA
        JMP bad

; Pieces of N elements at PA.
prepare:
        LDY #0
.next:  STY YI
        LDZ #0
        LDQ [PA],Z
        STQ TM
        LDY YI
        STA XM0,Y
        TXA
        STA XM1,Y
        LDA TM+2
        ASL A
        LDA TM+3
        ROL A
        STA D
        LDA #0
        ROR A
        STA TS
        LDA TM+2
        LDX D
        BEQ .small
        ORA #$80
        STA XM2,Y
.put:   LDA MAXE
        SEC
        SBC D
        CMP #SPAN + 1
        BCS .bad
        EOR #$FF
        SEC
        ADC #SPAN
        ORA TS
        STA XE_,Y
.on:    CLC
        LDA PA
        ADC #4
        STA PA
        BCC .less
        INW PA+1
.less:  INY
        CPY N
        BNE .next
        RTS
.small: AND #$7F
        STA XM2,Y
        ORA TM+1
        ORA TM
        BEQ .zero
        INC D
        BRA .put
.zero:  STA XE_,Y
        BRA .on
.bad:   JMP bad

wipe_sums:
        LDA #>wipe
        LDY #<wipe
        JMP start
wipe:   .byte $0B, $80, 0, $81, 0, 0
        .byte 3
        .word 256
        .byte 0, 0, 0
        .byte 0, 0, 0
        .byte 0, 0, 0

; N elements at SRC to WL and WH.
split:  LDA N
        STA lower+11
        STA upper+11
        LDA #<WL
        LDX #>WL
        JSR target
        LDQ list+12
        STA lower+16
        STX lower+17
        STY lower+18
        LDA #<WH
        LDX #>WH
        JSR target
        LDQ list+12
        STA upper+16
        STX upper+17
        STY upper+18
        LDQ SRC
        CPX #$FE            ; an end of a megabyte may be near
        BCC .go
        TYA
        AND #15
        CMP #15
        BEQ .slow
        LDQ SRC
.go:    STA lower+13
        STX lower+14
        TYA
        AND #15
        STA lower+15
        ASLQ Q
        ASLQ Q
        ASLQ Q
        ASLQ Q
        STZ lower+2
        STZ upper+2
        LDQ SRC
        INQ Q
        STA upper+13
        STX upper+14
        TYA
        AND #15
        STA upper+15
        LDA #>lower
        LDY #<lower
        JMP start
.slow:  LDQ SRC
        STQ PB
        LDX #0
.next:  LDZ #0
        LDA [PB],Z
        STA WL,X
        INQ PB
        LDA [PB],Z
        STA WH,X
        INQ PB
        INX
        CPX N
        BNE .next
        RTS
lower:  .byte $0B, $80, 0, $81, 0, $82, 0, $83, 2, 0
        .byte 4
        .word 0
        .byte 0, 0, 0
        .byte 0, 0, 0
        .byte 0, 0, 0
upper:  .byte $0B, $80, 0, $81, 0, $82, 0, $83, 2, 0
        .byte 0
        .word 0
        .byte 0, 0, 0
        .byte 0, 0, 0
        .byte 0, 0, 0

; Adds the products of N columns.
products:
        LDA #0
        STA $D773
        STA $D776
        STA $D777
        LDY #0
.next:  LDA XM0,Y
        STA $D770
        LDA XM1,Y
        STA $D771
        LDA XM2,Y
        STA $D772
        LDA WL,Y
        STA $D774
        LDX WH,Y
        LDA MANT,X
        AND #7
        BEQ .small
.mant:  STA $D775
        LDA POWER,X
        CLC
        ADC XE_,Y
        TAX
        LDA PLACE,X
        STA AP
        STY YI
        LDQ $D778
        CLC
        ADCQ (AP)
        STQ (AP)
        LDA $D77C
        LDY #4
        ADC (AP),Y
        STA (AP),Y
        BCS .carry
.on:    LDY YI
        INY
        CPY N
        BNE .next
        RTS
.carry: INY
        LDA (AP),Y
        INC A
        STA (AP),Y
        BEQ .carry
        BRA .on
.small: TXA
        AND #$7C
        EOR #$7C
        BEQ .bad
        LDA #0
        BRA .mant
.bad:   JMP bad

; The row's result from its accumulators to [PC].
result: LDQ .nothing
        STQ TB
        STQ TB+4
        STQ TB+8
        STQ TB+12
        LDA #$70
        STA YI
.next:  LDA YI
        STA AP
        ORA #4
        STA AP1
        EOR #12
        STA AP2
        ORA #4
        STA AP3
        ORA #$80
        STA NP3
        EOR #4
        STA NP2
        EOR #12
        STA NP1
        EOR #4
        STA NP
        ASLQ TB
        ROLQ TB+4
        ROLQ TB+8
        ROLQ TB+12
        LDQ TB
        CLC
        ADCQ (AP)
        STQ TB
        LDQ TB+4
        ADCQ (AP1)
        STQ TB+4
        LDQ TB+8
        ADCQ (AP2)
        STQ TB+8
        LDQ TB+12
        ADCQ (AP3)
        STQ TB+12
        LDQ TB
        SEC
        SBCQ (NP)
        STQ TB
        LDQ TB+4
        SBCQ (NP1)
        STQ TB+4
        LDQ TB+8
        SBCQ (NP2)
        STQ TB+8
        LDQ TB+12
        SBCQ (NP3)
        STQ TB+12
        LDA YI
        SEC
        SBC #$10
        STA YI
        BCS .next
        LDA TB+15
        AND #$80
        STA AS
        BEQ .positive
        LDX #0
        LDY #16
        SEC
.negate:
        LDA #0
        SBC TB,X
        STA TB,X
        INX
        DEY
        BNE .negate
.positive:
        LDX #15
.top:   LDA TB,X
        BNE .found
        DEX
        BPL .top
        LDA #0
        JSR clear_a
        JMP store_a
.nothing:
        .dword 0
.found: STX D
        LDY #8
.copy:  LDA TB,X
        STA NB_,Y
        DEX
        DEY
        BPL .copy
        LDA NB              ; what lies below 64 bits and what is shifted in
.rest:  CPX #0
        BMI .shift
        ORA TB,X
        DEX
        BRA .rest
.shift: STA ST
        LDA #7
        STA D+1
        LDA NB+8
        BMI .lead
.left:  ASL NB
        ROLQ NB+1
        ROLQ NB+5
        DEC D+1
        BIT NB+8
        BPL .left
        LDA NB
        ORA ST
        STA ST
.lead:  LDA D               ; exponent: base + 8 * byte + bit
        ASL A
        ASL A
        ASL A
        CLC
        ADC D+1
        CLC
        ADC BASE_E
        STA AE
        LDA BASE_E+1
        ADC #0
        BNE .bad
        LDA AE
        DEC A
        CMP #252
        BCS .bad
        LDA NB+5            ; 40 bits below the last of F32; F64 keeps 29 of them
        CMP #$80
        BEQ .half
        BCS .up
        CMP #$7F
        BNE .pack
        LDA NB+4
        AND NB+3
        INC A
        BNE .pack
        LDA NB+2
        CMP #$FC
        BCC .pack
.tie:   LDA NB+6
        LSR A
        BCC .pack
.up:    INC NB+6
        BNE .pack
        INC NB+7
        BNE .pack
        INC NB+8
        BNE .pack
        LDA #$80
        STA NB+8
        INC AE
.pack:  LDA NB+6
        STA AM+1
        LDA NB+7
        STA AM+2
        LDA NB+8
        STA AM+3
        JMP store_a
.half:  LDA NB+4
        ORA NB+3
        BNE .up
        LDA NB+2
        CMP #4
        BCC .tie
        BNE .up
        LDA NB+1
        ORA ST
        BNE .up
        BRA .tie
.bad:   JMP bad
