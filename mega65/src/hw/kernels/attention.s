; Kernel 1: scores of a query against cached keys. Kernel 2: weighted sum of cached values, from +0 on.
; P: address of the first vector, stride, query or weights (F32), length of a vector (2 to 64), (unused),
; factor of the scores or of the weights, results, number of vectors (16 bits).
;
; Sixteen F32 factors at a time stand in code that was made from one pattern and is run for every key, or for
; every column of sixteen vectors of values. Unfinished sums wait among the results, as F32.

KEYS = BUFFER               ; F16 as they are in the cache
CODE = BUFFER + $100        ; patterns filled in, and RTS behind the last
ADDRESSES = BUFFER + $400   ; of the vectors of values in KEYS; 4 bytes each
SPARE = BUFFER + $440       ; a vector that has no weight
MOST = 16                   ; patterns
SLICE = 16                  ; bytes of each vector of values at a time
LENGTH = 46                 ; of the pattern, and what is filled in: addresses, exponent, sign, significand
LOW_AT = 3
HIGH_AT = 9
EXPONENT_AT = 22
SIGN_AT = 27
FIRST_AT = 31
SECOND_AT = 33
THIRD_AT = 35
FOURTH_AT = 37

; Kernel 0: the tables, and the patterns.
prepare:
        JSR tables
        JSR first_pattern
        STA END
        STX END+1
        LDX #MOST
.next:  LDY #LENGTH-1
.byte:  LDA pattern,Y
        STA (GP),Y
        DEY
        BPL .byte
        JSR next_pattern
        DEX
        BNE .next
        RTS

first_pattern:
        LDA #<CODE
        LDX #>CODE
        STA GP
        STX GP+1
        RTS

next_pattern:
        LDA GP
        CLC
        ADC #LENGTH
        STA GP
        BCC .done
        INC GP+1
.done:  RTS

; Adds one product: an F16 of the cache, at QI, with the factor in the pattern.
pattern:
        LDY QI
        LDA KEYS,Y
        STA $D774
        LDX KEYS+1,Y
        LDA MANT,X
        STA $D775
        LDA POWER,X
        CLC
        ADC #0
        STA TE
        TXA
        EOR #0
        STA TS
        LDA #0
        LDX #0
        LDY #0
        LDZ #0
        STQ $D770
        JSR term

; Before patterns are filled in, and behind the last.
begin_patterns:
        LDA pattern         ; where RTS was
        LDZ #0
        STA (END),Z
        STZ YI
        BRA first_pattern
end_patterns:
        LDA GP
        STA END
        LDA GP+1
        STA END+1
        LDA #$60            ; RTS
        LDZ #0
        STA (GP),Z
        RTS

; The accumulator into the next pattern; the F16 for these lie YSTEP bytes apart.
put:    LDA AE
        BEQ .put
        CMP #50
        BCC .bad
        CMP #225
        BCS .bad
        SEC
        SBC #13             ; POWER is one less than the exponent
.put:   LDY #EXPONENT_AT
        STA (GP),Y
        LDY #SIGN_AT
        LDA AS
        STA (GP),Y
        LDQ AM              ; significand times 2^5
        LSRQ Q
        LSRQ Q
        LSRQ Q
        STQ TM
        LDY #FIRST_AT
        STA (GP),Y
        LDY #SECOND_AT
        TXA
        STA (GP),Y
        LDY #THIRD_AT
        LDA TM+2
        STA (GP),Y
        LDY #FOURTH_AT
        TZA
        STA (GP),Y
        LDY #LOW_AT
        LDA YI
        STA (GP),Y
        LDY #HIGH_AT
        INC A
        STA (GP),Y
        CLC
        ADC YSTEP
        DEC A
        STA YI
        BRA next_pattern
.bad:   JMP bad

scores: JSR lengths
        BCS .bad
        JSR clear_math
        JSR factor
        LDQ P+8
        STQ PB
        LDA #0
        STA QI
        LDA #2
        STA YSTEP
        LDA #1
        STA FIRST
.chunk: LDX #MOST
        LDA P+12
        CMP #MOST
        BCS .some
        TAX
.some:  STX N
        STX CHUNK
        LDQ PB
        STQ PA
        JSR begin_patterns
.put:   JSR load_a
        JSR put
        DEC N
        BNE .put
        JSR end_patterns
        LDQ PA
        STQ PB
        LDA BAD
        BNE .end
        LDA CHUNK
        ASL A
        STA LEN
        LDQ P+24
        STQ PA
        STQ PC
        LDQ P
        STQ SRC
        LDA P+28
        STA ROWS
        LDA P+29
        STA ROWS+1
        LDA P+12            ; what is left after this
        SEC
        SBC CHUNK
        STA P+12
        LDA #<KEYS
        LDX #>KEYS
        JSR target
        JSR fetch
        BRA .first
.row:   JSR again
.first: LDA FIRST
        STA EMPTY
        BEQ .load
        LDA #0
        STA AE
        STA AS
.run:   JSR CODE
        LDA P+12
        BNE .keep
        JSR mul
        JSR store_t
.on:    LDQ SRC
        CLC
        ADCQ P+4
        STQ SRC
        DEW ROWS
        BNE .row
        LDA LEN             ; the next elements
        CLC
        ADC P
        STA P
        BCC .less
        INW P+1
.less:  LDA #0
        STA FIRST
        LDA P+12
        BNE .chunk
.end:   RTS
.load:  JSR load_a
        BRA .run
.keep:  JSR store_a
        BRA .on
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

mix:    JSR lengths
        BCS .bad
        JSR clear_math
        JSR factor
        LDQ P+8
        STQ PB
        LDA #SLICE
        STA YSTEP
        LDA #1
        STA FIRST
.chunk: JSR begin_patterns
        LDQ PB
        STQ PA
        LDQ P
        STQ SRC
        LDA #0
        STA CHUNK
        LDA P+12
        ASL A
        STA LEFT
        JSR slice
.vector:
        JSR load_a
        LDA AE
        BEQ .none
        JSR mul_to_a
        LDZ #0
        LDQ SRC
        STQ (AP)
        JSR bring
        JSR put
        INC CHUNK
.next:  LDQ SRC
        CLC
        ADCQ P+4
        STQ SRC
        DEW P+28
        BEQ .last
        LDA CHUNK
        CMP #MOST
        BNE .vector
.last:  JSR end_patterns
        LDQ SRC
        STQ P
        LDQ PA
        STQ PB
        LDA BAD
        BNE .end
        LDQ P+24
        STQ PA
        STQ PC
        LDA #0
        LDX #0
        LDY #0
        LDZ #0
        STQ C0
.slice: LDA #0
        STA QI
.column:
        LDA FIRST
        BEQ .load
        LDA #0
        JSR clear_a
.run:   JSR CODE
        JSR store_a
        INC QI
        INC QI
        LDA QI
        CMP LEN
        BNE .column
        LDA C0              ; the next columns
        CLC
        ADC LEN
        STA C0
        LDA LEFT
        SEC
        SBC LEN
        STA LEFT
        BEQ .whole
        JSR slice
        LDX CHUNK
        BEQ .slice
        STX N
        LDA #0
        STA YI
.again: LDZ #0
        LDQ (AP),Z
        CLC
        ADCQ C0
        STQ SRC
        JSR bring
        LDA YI
        CLC
        ADC #SLICE
        STA YI
        DEC N
        BNE .again
        BRA .slice
.whole: LDA #0
        STA FIRST
        LDA P+28
        ORA P+29
        BNE .chunk
.end:   RTS
.load:  JSR load_a
        BRA .run
.none:  LDA LEFT            ; zeros change nothing, but for infinities and what is no number
        LDX LEN
        STX QI
        STA LEN
        LDA #<SPARE
        LDX #>SPARE
        JSR target
        JSR fetch
        LDY LEN
.check: LDA SPARE-1,Y
        AND #$7C
        CMP #$7C
        BEQ .bad
        DEY
        DEY
        BNE .check
        LDA QI
        STA LEN
        BRA .next
.bad:   JMP bad

; LEN = bytes of the columns that come next; AP = the first address.
slice:  LDA LEFT
        CMP #SLICE
        BCC .rest
        LDA #SLICE
.rest:  STA LEN
        LDA #<ADDRESSES
        LDX #>ADDRESSES
        STA AP
        STX AP+1
        RTS

; A vector's columns into KEYS, at YI; the next address.
bring:  LDA AP
        CLC
        ADC #4              ; in the same page
        STA AP
        LDA YI
        LDX #>KEYS
        JSR target
        JMP fetch

; Of a product that is zero, or with an F16 that is not normal.
small:  LDA TS              ; also the upper byte of the F16
        AND #$7C
        CMP #$7C
        BEQ .bad
        LDQ $D779
        BNE .some
        LDA $D778
        BEQ .zero
.some:  LDA $D774           ; subnormal: up to where a leading one would be
        ASL A
        STA $D774
        LDA $D775
        ROL A
        STA $D775
        AND #4
        BNE term
        DEC TE
        BRA .some
.zero:  JMP add_zero
.bad:   JMP bad

; The product, rounded, becomes the term and is added.
term:   LDQ $D779
        BMI .lead
        DEC TE
        ASLQ Q
        BPL small
.lead:  CMP #$80
        BCC add
        BNE .up
        LDA $D778
        BNE .up
        TXA
        LSR A
        BCC add
.up:    INX
        BNE add
        INY
        BNE add
        INZ
        BNE add
        LDZ #$80
        INC TE
        BRA add
