; Kernel 1: scores of a query against cached keys. Kernel 2: weighted sum of cached values, from +0 on.
; P: address of the first vector, stride, query or weights (F32), length of a vector (2 to 64), (unused),
; factor of the scores or of the weights, results, number of vectors (16 bits).

KEYS = BUFFER               ; F16 as they are in the cache
OPS = BUFFER + $100         ; pieces of the F32 factors: significand times 2^5, exponent, sign; 8 bytes each
ACCS = BUFFER + $300        ; accumulators of the results: mantissa, exponent, sign; 8 bytes each

scores: JSR lengths
        BCS .bad
        LDQ P+8
        STQ PA
        LDA P+12
        STA N
        LDA #0
        STA ROUNDS
        JSR operands
        JSR factor
        LDA BAD
        BNE .end
        LDQ P
        STQ SRC
        LDA #<KEYS
        LDX #>KEYS
        JSR target
        JSR clear_math
        JSR fetch
        BRA .first
.row:   JSR again
.first: LDA #1
        JSR clear_a
        LDA #0
        STA YI
        LDA #2
        STA YSTEP
        JSR run
        JSR mul
        JSR store_t
        LDQ SRC
        CLC
        ADCQ P+4
        STQ SRC
        DEW P+28
        BNE .row
.end:   RTS
.bad:   JMP bad

; LEN = bytes of a vector, PC = P+24; carry where the length is none that can be done.
lengths:
        LDQ P+24
        STQ PC
        LDA P+28
        ORA P+29
        BEQ .no
        LDA P+13
        BNE .no
        STA LEN+1
        LDA P+12
        CMP #2
        BCC .no
        CMP #65
        BCS .done
        ASL A
        STA LEN
        CLC
.done:  RTS
.no:    SEC
        RTS

; Pieces of the N values at PA, which are multiplied by the second factor first where ROUNDS is not 0.
operands:
        LDA #<OPS
        STA OP
        LDA #>OPS
        STA OP+1
.next:  JSR load_a
        LDA ROUNDS
        BEQ .plain
        JSR mul_to_a
.plain: LDA AE
        BEQ .put
        CMP #50
        BCC .bad
        CMP #225
        BCS .bad
        SEC
        SBC #13             ; POWER is one less than the exponent
.put:   LDY #4
        STA (OP),Y
        INY
        LDA AS
        STA (OP),Y
        LDQ AM
        LSRQ Q
        LSRQ Q
        LSRQ Q
        STQ (OP)
        LDA OP
        CLC
        ADC #8
        STA OP
        BCC .less
        INC OP+1
.less:  DEC N
        BNE .next
        LDA OP
        STA END
        LDA OP+1
        STA END+1
        RTS
.bad:   JMP bad

; Adds products with all operands: F16 from YI on in steps of YSTEP.
run:    LDA #<OPS
        STA OP
        LDA #>OPS
        STA OP+1
.next:  LDY YI
        JSR product
        LDA YI
        CLC
        ADC YSTEP
        STA YI
        LDA OP
        CLC
        ADC #8
        STA OP
        BEQ .page
        CMP END
        BNE .next
.end:   LDA OP+1
        CMP END+1
        BNE .next
        RTS
.page:  INC OP+1
        CMP END
        BEQ .end
        BRA .next

product:
        LDA KEYS,Y
        STA $D774
        LDX KEYS+1,Y
        LDA MANT,X
        CMP #4
        BCC .special
        STA $D775
        LDA POWER,X
.power: LDZ #4
        CLC
        ADC (OP),Z
        STA TE
        INZ
        TXA
        EOR (OP),Z
        STA TS
        LDZ #0
        LDQ (OP),Z
        BEQ .zero
        STQ $D770
        LDQ $D779
        BMI .lead
        DEC TE
        ASLQ Q
.lead:  CMP #$80
        BCC .add
        BNE .up
        LDA $D778
        BNE .up
        TXA
        LSR A
        BCC .add
.up:    INX
        BNE .add
        INY
        BNE .add
        INZ
        BNE .add
        LDZ #$80
        INC TE
.add:   JMP add
.special:
        STA TM+1
        TXA
        AND #$7C
        CMP #$7C
        BEQ .bad
        LDA KEYS,Y
        STA TM
        ORA TM+1
        BEQ .null
        LDA #0
        STA D
.norm:  LDA TM+1
        AND #4
        BNE .normal
        ASL TM
        ROL TM+1
        DEC D
        BRA .norm
.normal:
        LDA TM
        STA $D774
        LDA TM+1
        STA $D775
        LDA D
        BRA .power
.null:  TXA
        LDZ #5
        EOR (OP),Z
        STA TS
.zero:  JMP add_zero
.bad:   JMP bad

mix:    JSR lengths
        BCS .bad
        LDX #0              ; +0 everywhere
        TXA
.clear: STA ACCS,X
        STA ACCS+$100,X
        INX
        BNE .clear
        STA EMPTY
        JSR factor
        LDQ P
        STQ SRC
        LDQ P+8
        STQ PA
        JSR clear_math
.chunk: LDA #0              ; as many vectors as 256 bytes hold
        TAX
        CLC
.count: INX
        ADC LEN
        BCC .count
        BEQ .exact
        DEX
.exact: LDA P+29
        BNE .some
        CPX P+28
        BCC .some
        LDX P+28
.some:  STX CHUNK
        STX N
        LDA #1
        STA ROUNDS
        JSR operands
        LDA BAD
        BNE .end
        LDA #0
        STA YI
        LDA CHUNK
        STA N
.fetch: LDA #<KEYS
        CLC
        ADC YI
        PHP
        LDX #>KEYS
        PLP
        BCC .page
        INX
.page:  JSR target
        JSR fetch
        LDA YI
        CLC
        ADC LEN
        STA YI
        LDQ SRC
        CLC
        ADCQ P+4
        STQ SRC
        DEC N
        BNE .fetch
        LDA #<ACCS
        STA AP
        LDA #>ACCS
        STA AP+1
        LDA LEN
        STA YSTEP
        LDA #0
        STA QI
.column:
        JSR from_acc
        LDA QI
        STA YI
        JSR run
        LDQ AM
        STQ (AP)
        LDY #4
        LDA AE
        STA (AP),Y
        INY
        LDA AS
        STA (AP),Y
        JSR next_acc
        INC QI
        INC QI
        LDA QI
        CMP LEN
        BNE .column
        LDA BAD
        BNE .end
        LDA P+28
        SEC
        SBC CHUNK
        STA P+28
        BCS .more
        DEC P+29
.more:  ORA P+29
        BNE .chunk
        LDA #<ACCS
        STA AP
        LDA #>ACCS
        STA AP+1
.store: JSR from_acc
        JSR store_a
        JSR next_acc
        DEC P+12
        BNE .store
.end:   RTS
.bad:   JMP bad

from_acc:
        LDY #4
        LDA (AP),Y
        STA AE
        INY
        LDA (AP),Y
        STA AS
        LDZ #0
        LDQ (AP),Z
        STQ AM
        RTS

next_acc:
        LDA AP
        CLC
        ADC #8
        STA AP
        BCC .done
        INC AP+1
.done:  RTS
