; Element-wise kernels. P: vector (F32), other vector, c0 and c1 of a function table, number of elements
; (16 bits), factor (F32). They stop at an element that is beyond them; A1: elements left, that one first.

each:   STX AP
        STY AP+1
        JSR prepare_each
.next:  JSR load_a
        LDA AE
        JSR sane
        LDA BAD
        BNE left
        JSR ($FFCC)         ; AP
        LDA BAD
        BNE left
        JSR store_a
        DEW P+16
        BNE .next
left:   LDA P+16
        STA RES
        LDA P+17
        STA RES+1
        LDA #0
        STA RES+2
        STA RES+3
        RTS

prepare_each:
        JSR factor          ; also kept for those that use the second factor otherwise
        JSR pointers
        LDQ UM
        STQ SM
        LDA UE
        STA SE
        LDA US
        STA SS
        RTS

; PA and PC = the vector, PB = the other; ready to multiply and to add.
pointers:
        LDQ P
        STQ PA
        STQ PC
        LDQ P+4
        STQ PB
        JSR clear_math
        LDA #0
        STA EMPTY
        RTS

; Gives up unless the exponent A allows a sum.
sane:   CMP #0
        BEQ .done
        CMP #26
        BCC .bad
        CMP #240
        BCC .done
.bad:   JMP bad
.done:  RTS

; Kernel 4: times the factor.
times:  LDX #<mul_to_a
        LDY #>mul_to_a
        BRA each

; Kernel 5: times the factor, times the other.
scale:  LDX #<.body
        LDY #>.body
        BRA each
.body:  LDQ SM
        STQ UM
        LDA SE
        STA UE
        LDA SS
        STA US
        JSR mul_to_a
        JSR load_u
        JMP mul_to_a

; Kernel 7: plus the other.
plus:   LDX #<.body
        LDY #>.body
        BRA each
.body:  JSR load_u
        JMP plus_u

plus_u: LDA UE
        STA TE
        JSR sane
        LDA US
        STA TS
        LDQ UM
        JMP add_any

; Kernel 6: SiLU, times the other.
silu:   LDX #<.body
        LDY #>.body
        BRA each
.body:  LDA AS
        BMI .inside
        LDA AE
        CMP #130
        BCC .inside
        BNE .times          ; 16 and more
        LDA AM+3
        CMP #$C0
        BCS .times          ; 12 and more
.inside:
        LDQ .k
        STQ UM
        LDX #130
        LDZ #$C0
        JSR eval
.times: LDA BAD
        BNE .end
        JSR load_u
        JMP mul_to_a
.end:   RTS
.k:     .dword $AAAAAB00

; Kernel 3: exp of what the factor is subtracted from. A1: when all is done, the sum of the results.
exp:    JSR prepare_each
        LDQ .none           ; the sum
        STQ KEEP
        STA KEEP+4
        STA KEEP+5
.next:  JSR load_a
        LDA AE
        JSR sane
        LDA SE              ; the distance from the largest
        STA TE
        LDA SS
        EOR #$80
        STA TS
        LDQ SM
        JSR add_any
        LDA AE
        BEQ .one
        LDA AS
        BPL .one
        LDA #130            ; -x as a number with 28 bits of fraction
        SEC
        SBC AE
        BCC .beyond
        STA D
        LDQ AM
        STQ $D770
        LDX D
        BEQ .whole
        CPX #25
        BCS .near
        LDA powers,X
        STA $D774
        LDA #0
        STA $D775
        CPX #9
        BCS .far
        LDQ .round
        SEC
        SBCQ $D779
        BRA .segment
.far:   LDA $D779           ; what is shifted out counts as one
        CPX #17
        BCS .farther
        CMP #1
        LDA #0
        ROL A
        EOR #1
        LSR A
        LDQ .round
        SBCQ $D77A
        BRA .segment
.farther:
        ORA $D77A
        CMP #1
        LDA #0
        ROL A
        EOR #1
        LSR A
        LDQ .round
        SBCQ $D77B
        BRA .segment
.whole: LDQ .round
        SEC
        SBCQ $D770
.segment:
        BCS .near
        TZA
        BRA .table
.near:  LDA #255
.table: JSR entries         ; the segment of 16 + x, rounded as the sum would be
        JSR load_u
        JSR mul
        LDA #0
        STQ XM
        LDQ C0
        STQ PB
        JSR load_u
        JSR u_plus_xm
        BRA .sum
.beyond:
        LDA AE              ; -16 itself is inside
        CMP #131
        BNE .zero
        LDA AM+3
        CMP #$80
        BNE .zero
        LDA AM+2
        ORA AM+1
        BNE .zero
        LDA #0
        BRA .table
.zero:  LDA #0
        JSR clear_a
        BRA .sum
.one:   LDA #0
        STA AS
        STA AM+2
        STA AM+1
        LDA #$80
        STA AM+3
        LDA #127
        STA AE
.sum:   LDA BAD
        BNE .end
        JSR store_a
        LDA AE
        BEQ .less
        LDA KEEP+4          ; the result plus the sum is the sum
        STA TE
        LDA KEEP+5
        STA TS
        LDQ KEEP
        JSR add_any
        LDQ AM
        STQ KEEP
        LDA AE
        STA KEEP+4
        LDA AS
        STA KEEP+5
.less:  DEW P+16
        BNE .next
        LDQ KEEP
        STQ AM
        LDA KEEP+4
        STA AE
        LDA KEEP+5
        STA AS
        JMP deliver
.end:   JMP left
.none:  .dword 0
.round: .dword $80

; PB = entry A of the table c1, C0 that of c0.
entries:
        STA SEG
        LDA #0
        ASL SEG
        ROL A
        ASL SEG
        ROL A
        STA SEG+1
        LDA P+8
        CLC
        ADC SEG
        STA C0
        LDA P+9
        ADC SEG+1
        STA C0+1
        LDA P+10
        ADC #0
        STA C0+2
        LDA P+12
        CLC
        ADC SEG
        STA PB
        LDA P+13
        ADC SEG+1
        STA PB+1
        LDA P+14
        ADC #0
        STA PB+2
        LDA P+11
        STA C0+3
        LDA P+15
        STA PB+3
        RTS

; A function table at the accumulator: the lower end is minus X, Z (exponent, mantissa), UM and X the
; number of segments in a unit. Below the lower end +0.
eval:   STX TE
        STX UE
        STZ TM+3
        LDQ AM
        STQ XM
        LDA AE
        STA XE
        LDA AS
        STA XS
        LDA #0
        STA TS
        STA US
        LDX #0
        LDY #0
        LDZ $FF0B           ; TM+3
        JSR add
        LDA AE
        BEQ .first
        BIT AS
        BPL .segment
        LDA #0
        JMP clear_a
.segment:
        JSR mul
        LDA TE
        CMP #127
        BCC .none
        CMP #135
        BCS .last
        SBC #133            ; carry is clear: 134
        TAX
        TZA
.shift: CPX #0
        BEQ .have
        LSR A
        INX
        BRA .shift
.none:  LDA #0
        BRA .have
.last:  LDA #255
        BRA .have
.first: LDA #0
.have:  STA D
        LDQ PB
        STQ KEEP
        LDA D
        JSR entries
        JSR load_u
        LDQ XM
        STQ AM
        LDA XE
        STA AE
        LDA XS
        STA AS
        JSR mul
        LDA #0
        STQ XM
        LDQ C0
        STQ PB
        JSR load_u
        LDQ KEEP
        STQ PB
u_plus_xm:
        LDQ UM
        STQ AM
        LDA UE
        STA AE
        LDA US
        STA AS
        LDQ XM
        JMP add_any

; Kernel 8: rotates pairs by cosines and sines. P: pairs, angles, number of pairs at P+16; A1: pairs left.
rotate: JSR pointers
.next:  JSR load_a          ; p
        LDA AE
        JSR sane
        LDQ AM
        STQ XM
        LDA AE
        STA XE
        LDA AS
        STA XS
        JSR load_u          ; p cos
        JSR mul_to_a
        JSR keep_a
        JSR load_a          ; q sin
        LDQ AM
        STQ KEEP
        LDA AE
        STA KEEP+4
        JSR sane
        LDA AS
        STA KEEP+5
        JSR load_u
        JSR mul
        LDA TS
        EOR #$80
        STA TS
        JSR kept_a
        JSR add_any
        LDA BAD
        BNE .stop
        LDQ XM              ; p sin while the second factor is still there
        PHA
        PHX
        PHY
        PHZ
        LDQ AM
        STQ XM
        PLZ
        PLY
        PLX
        PLA
        STQ AM
        LDA XE
        LDX AE
        STX XE
        STA AE
        LDA XS
        LDX AS
        STX XS
        STA AS
        JSR mul_to_a
        JSR keep_a
        LDQ KEEP            ; q cos
        STQ AM
        LDA KEEP+4
        STA AE
        LDA KEEP+5
        STA AS
        LDQ PB
        STQ KEEP
        SEC
        SBCQ .eight
        STQ PB
        JSR load_u
        LDQ KEEP
        STQ PB
        JSR mul
        JSR kept_a
        JSR add_any
        LDA BAD
        BNE .stop
        JSR keep_a
        LDQ XM
        STQ AM
        LDA XE
        STA AE
        LDA XS
        STA AS
        JSR store_a
        LDQ SM
        STQ AM
        LDA SE
        STA AE
        LDA SS
        STA AS
        JSR store_a
        DEW P+16
        BNE .next
.stop:  JMP left
.eight: .dword 8

keep_a: LDQ AM
        STQ SM
        LDA AE
        STA SE
        LDA AS
        STA SS
        RTS

; Accumulator = what was kept; the term's mantissa is still in X, Y, Z afterwards.
kept_a: LDA #0
        STQ TM
        LDQ SM
        STQ AM
        LDA SE
        STA AE
        LDA SS
        STA AS
        LDQ TM
        RTS
