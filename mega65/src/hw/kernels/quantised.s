; Kernel 1: rows of Q8_0 or Q4_0 times a quantised vector.
; P: address of the first row, stride, quantised elements, scales (F32), results, rows (16 bits), blocks
; (16 bits), 0 for Q8_0 or 1 for Q4_0; four bytes each.
;
; Code is generated for the elements of two blocks at a time and run for every row; unfinished sums wait
; among the results. All factors are made positive: a weight w of Q8_0 becomes w + 128 for a positive
; element and 127 - w for a negative one, a nibble n becomes n or 15 - n; what that adds is known before
; the first row and subtracted to begin with. One multiplication of two bytes 24 bits apart by two bytes
; 24 bits apart has the sum of two products in its bits 24 up.

QB = BUFFER                 ; elements
CODE = BUFFER + $40
MXL_ = $FFC6
MXH_ = $FFC8
EX_ = $FFCA
LAST = 16                   ; pairs in a block
HEAD_LEN = 20               ; lengths of the patterns below
PAIR8_LEN = 38
PAIR4_LEN = 39
TAIL_LEN = 13

quantised:
        LDA P+24
        STA BLOCKS
        LDA P+25
        STA BLOCKS+1
        ORA BLOCKS
        BEQ .bad
        LDA #1
        STA ROUNDS          ; the first two blocks of each row
.chunk: LDX #2
        LDA BLOCKS+1
        BNE .two
        LDA BLOCKS
        CMP #1
        BNE .two
        DEX
.two:   STX CHUNK
        LDQ P+8
        STQ SRC
        LDA CHUNK
        ASL A
        ASL A
        ASL A
        ASL A
        ASL A
        STA LEN
        CLC
        ADC P+8             ; for the next chunk
        STA P+8
        BCC .near
        INW P+9
.near:  LDA #0
        STA LEN+1
        LDA #<QB
        LDX #>QB
        JSR target
        JSR fetch
        JSR scales
        LDA BAD
        BNE .end
        JSR generate
        LDA BAD
        BNE .end
        JSR rows
        LDA BAD
        BNE .end
        LDA #0
        STA ROUNDS
        LDA LEN             ; the next columns
        CLC
        ADC P
        STA P
        BCC .less
        INW P+1
.less:  LDA BLOCKS
        SEC
        SBC CHUNK
        STA BLOCKS
        BCS .more
        DEC BLOCKS+1
.more:  ORA BLOCKS+1
        BNE .chunk
.end:   RTS
.bad:   JMP bad

; Scales of the chunk: significand of 11 bits, times 4, and exponent.
scales: LDQ P+12
        STQ PA
        LDX #0
.next:  STX N
        JSR load_a
        LDX N
        LDA #0
        STA MXH,X
        LDA AE
        BEQ .zero
        LDA AS
        BMI .bad
        LDA AM+2
        AND #$1F
        ORA AM+1
        BNE .bad
        LDA AE
        CMP #103
        BCC .bad
        CMP #143
        BCS .bad
        ADC #11             ; carry is clear; POWER is one less than the exponent
        STA EX,X
        LDA AM+3
        LSR A
        ROR AM+2
        LSR A
        ROR AM+2
        LSR A
        ROR AM+2
        STA MXH,X
        LDA AM+2
        STA MXL,X
.zero:  INX
        CPX CHUNK
        BNE .next
        LDQ PA
        STQ P+12
        RTS
.bad:   JMP bad

; Copies A bytes from OP to GP, which goes on.
emit:   STA N
        LDY #0
.next:  LDA (OP),Y
        STA (GP),Y
        INY
        CPY N
        BNE .next
        TYA
skip:   CLC
        ADC GP
        STA GP
        BCC .done
        INC GP+1
.done:  RTS

; Code for the chunk at CODE.
generate:
        LDA #<CODE
        STA GP
        LDA #>CODE
        STA GP+1
        LDA #0
        STA YI              ; block
        STA QI
        LDA #W
        STA Y0              ; its scale in the base page
.block: LDA #<head
        STA OP
        LDA #>head
        STA OP+1
        LDA GP
        STA AP
        LDA GP+1
        STA AP+1
        LDA #HEAD_LEN
        JSR emit
        LDA #0
        STA SA
        STA SA+1
        STA SN
        STA SN+1
        LDA Y0
        CLC
        ADC #2
        STA WOFF
        LDX #<pair8
        LDY #>pair8
        LDA P+28
        BEQ .eight
        LDX #<pair4
        LDY #>pair4
.eight: STX OP
        STY OP+1
        LDX #PAIR8_LEN
        TAY
        BEQ .length
        LDX #PAIR4_LEN
.length:
        STX YSTEP
        LDA GP
        STA AP1
        LDA GP+1
        STA AP1+1
        TXA
        JSR emit
        JSR repeat
        LDA AP1
        STA GP
        LDA AP1+1
        STA GP+1
        LDA #LAST
        STA COUNT
.pair:  LDA P+28
        BNE .four
        JSR patch8
        BRA .on
.four:  JSR patch4
.on:    LDA YSTEP
        JSR skip
        DEC COUNT
        BNE .pair
        JSR offset
        LDX #<tail8
        LDY #>tail8
        LDA P+28
        BEQ .tail
        LDX #<tail4
        LDY #>tail4
        LDA QI              ; the upper half of its elements was read from there
        CLC
        ADC #16
        STA QI
.tail:  STX OP
        STY OP+1
        LDA #TAIL_LEN
        JSR emit
        LDA GP              ; its two numbers
        SEC
        SBC #6
        STA AP
        LDA GP+1
        SBC #0
        STA AP+1
        LDY #0
        LDA Y0
        STA (AP),Y
        LDY #2
        LDA YI
        STA (AP),Y
        LDA Y0
        CLC
        ADC #34
        LDX P+28
        BEQ .stride
        SEC
        SBC #16
.stride:
        STA Y0
        INC YI
        LDA YI
        CMP CHUNK
        BNE .block
        LDY #0
        LDA #$60            ; RTS
        STA (GP),Y
        RTS

; The pair at AP1 fifteen times more behind itself, at GP: a copy that runs into what it wrote.
repeat: LDA AP1
        STA SRC
        LDA AP1+1
        SEC
        SBC #>BLOCK
        CLC
        ADC HOME+1
        STA SRC+1
        LDA HOME+2
        ADC #0
        STA SRC+2
        LDA #0
        STA SRC+3
        STA LEN+1
        LDA YSTEP           ; times 15
        STA LEN
        LDX #4
.shift: ASL LEN
        ROL LEN+1
        DEX
        BNE .shift
        LDA LEN
        SEC
        SBC YSTEP
        STA LEN
        BCS .go
        DEC LEN+1
.go:    LDA GP
        LDX GP+1
        JSR target
        JMP fetch

; A = an element: A = its magnitude, Z = what the weight is combined with; sums of magnitudes.
magnitude:
        LDZ #$80
        CMP #0
        BPL .positive
        NEG A
        BMI .bad            ; -128 could make a sum too large
        LDZ #$7F
        PHA
        CLC
        ADC SN
        STA SN
        BCC .low
        INC SN+1
.low:   PLA
.positive:
        PHA
        CLC
        ADC SA
        STA SA
        BCC .done
        INC SA+1
.done:  PLA
        RTS
.bad:   LDA #0
        JMP bad

patch8: LDA WOFF
        LDY #1
        STA (GP),Y
        INC A
        LDY #8
        STA (GP),Y
        INC A
        STA WOFF
        LDX QI
        LDA QB,X
        JSR magnitude
        LDY #15
        STA (GP),Y
        TZA
        LDY #3
        STA (GP),Y
        LDA QB+1,X
        JSR magnitude
        LDY #20
        STA (GP),Y
        TZA
        LDY #10
        STA (GP),Y
        INX
        INX
        STX QI
        RTS

patch4: LDA WOFF
        LDY #1
        STA (GP),Y
        INC WOFF
        LDX QI
        LDA QB,X
        JSR magnitude
        LDY #19
        STA (GP),Y
        TZA
        AND #15
        STA D
        LDA QB+16,X
        JSR magnitude
        LDY #24
        STA (GP),Y
        TZA
        ASL A
        ASL A
        ASL A
        ASL A
        ORA D
        LDY #3
        STA (GP),Y
        INC QI
        RTS

; What the sums begin with: SN - 128 SA, or SN - 8 SA; into the head at AP.
offset: LDA SA
        STA I1
        LDA SA+1
        STA I2
        LDA #0
        STA I0
        LDX #1              ; 256 SA, halved
        LDA P+28
        BEQ .half
        LDX #5
.half:  LSR I2
        ROR I1
        ROR I0
        DEX
        BNE .half
        LDA SN
        SEC
        SBC I0
        LDY #15
        STA (AP),Y
        LDA SN+1
        SBC I1
        LDY #17
        STA (AP),Y
        LDA #0
        SBC I2
        LDY #19
        STA (AP),Y
        RTS

head:   LDA #0
        STA $D771
        STA $D772
        STA $D775
        STA $D776
        LDX #0
        LDY #0
        LDZ #0
pair8:  LDA W
        EOR #0
        STA $D777
        LDA W
        EOR #0
        STA $D774
        LDA #0
        STA $D770
        LDA #0
        STA $D773
        TXA
        CLC
        ADC $D77B
        TAX
        TYA
        ADC $D77C
        TAY
        BCC .done
        INZ
.done:
pair4:  LDA W
        EOR #0
        TAZ
        AND #15
        STA $D777
        TZA
        LSR A
        LSR A
        LSR A
        LSR A
        STA $D774
        LDA #0
        STA $D770
        LDA #0
        STA $D773
        TXA
        CLC
        ADC $D77B
        TAX
        TYA
        ADC $D77C
        TAY
tail8:  STX I0
        STY I1
        STZ I2
        LDX #0
        LDY #0
        JSR block
tail4:  STX I0
        STY I1
        STZ I2
        LDX #0
        LDY #0
        JSR block4

; Runs the generated code for every row.
rows:   LDQ P
        STQ SRC
        LDA CHUNK
        TAX
        LDA #0
.sum:   CLC
        ADC #34
        LDY P+28
        BEQ .eight
        SEC
        SBC #16
.eight: DEX
        BNE .sum
        STA LEN
        LDA #0
        STA LEN+1
        LDA #W
        LDX #PAGE
        JSR target
        LDQ P+16
        STQ PC
        LDA P+20
        STA COUNT
        LDA P+21
        STA COUNT+1
        JSR fetch
        BRA .first
.row:   JSR again
.first: LDA ROUNDS
        BEQ .partial
        JSR clear_a
        BRA .run
.partial:
        LDQ PC
        STQ PA
        JSR load_a
        LDA #0
        STA EMPTY
.run:   JSR CODE
        JSR store_a
        LDQ SRC
        CLC
        ADCQ P+4
        STQ SRC
        DEW COUNT
        BNE .row
        RTS

; The integer sum of a block, I0-I2, times both scales is added to the row's sum. X: the scale's place in
; the base page, Y: number of the block in the chunk.
block4: LDA I1              ; 16 bits, with a sign
        ASL A
        LDA #0
        BCC .sign
        LDA #$FF
.sign:  STA I2
block:  LDA 0,X
        STA $D774
        LDA 1,X
        STA TS
        TAX
        LDA MANT,X
        AND #7
        CMP #4
        BCC .special
        STA $D775
        LDA POWER,X
        AND #$7F
.scaled:
        CLC
        ADC EX_,Y
        STA TE
        LDA MXH_,Y
        BEQ .zero
        STA $D771
        LDA MXL_,Y
        STA $D770
        LDA #0
        STA $D772
        STA $D773
        STA $D776
        STA $D777
        LDQ $D778
        STQ UM
        LDA I2
        BPL .positive
        LDA #0
        SEC
        SBC I0
        STA I0
        LDA #0
        SBC I1
        STA I1
        LDA #0
        SBC I2
        STA I2
        LDA TS
        EOR #$80
        STA TS
        LDA I2
.positive:
        BNE .three
        LDA I1
        BNE .two
        LDA I0
        BEQ .nothing
        TAX
        STA $D772
        LDA #0
        STA $D771
        STA $D770
        LDY #16
        BRA .go
.two:   TAX
        STA $D772
        LDA I0
        STA $D771
        LDA #0
        STA $D770
        LDY #8
        BRA .go
.three: TAX
        STA $D772
        LDA I1
        STA $D771
        LDA I0
        STA $D770
        LDY #0
.go:    LDA NORM,X
        STA $D774
        LDA #0
        STA $D775
        STA $D776
        LDA MANT,X
        LSR A
        LSR A
        LSR A
        LSR A
        STY D
        CLC
        ADC D
        EOR #$FF
        SEC
        ADC TE
        STA TE
        LDQ $D778
        STQ $D770
        LDQ UM
        STQ $D774
        LDA $D778
        ORA $D779
        STA ST
        LDQ $D77A
        BMI .lead
        DEC TE
        ASLQ Q
        BMI .lead
        DEC TE
        ASLQ Q
.lead:  CMP #$80
        BCC .add
        BNE .up
        LDA ST
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
.add:   LDA #0
        STA $D776
        JMP add
.zero:  LDA I2
        EOR TS
        STA TS
.nothing:
        JMP add_zero
.special:
        STA TM+1
        TXA
        AND #$7C
        CMP #$7C
        BEQ .bad
        LDA $D774
        STA TM
        ORA TM+1
        BEQ .zero
        LDX #0
.norm:  LDA TM+1
        AND #4
        BNE .normal
        ASL TM
        ROL TM+1
        DEX
        BRA .norm
.normal:
        LDA TM
        STA $D774
        LDA TM+1
        STA $D775
        TXA
        JMP .scaled
.bad:   JMP bad
