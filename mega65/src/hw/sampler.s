; What the sampler does with each of many logits (shared: mem.rs, sampler/logits.rs). F32 as bytes, the highest first;
; blocks of 64 are walked with Z, which points at the highest byte of each.

SCRATCH = $1600             ; counts, 127: as many or more
BYTES = $1700               ; the first and second bytes of a block; the far end of the stack

; W2: index behind the last F32 of the next block (3: of a whole one); A1: what is left behind it.
.func ssnail_block
        LDA A1+1
        ORA A1+2
        ORA A1+3
        BNE .whole
        LDA A1
        CMP #64
        BCS .whole
        ASL A
        ASL A
        ORA #3
        STA W2
        LDA #0
        STA A1
        RTS
.whole: LDA #3
        STA W2
        SEC
        LDA A1
        SBC #64
        STA A1
        BCS .done
        LDA A1+1
        BNE .low
        DEW A1+2
.low:   DEC A1+1
.done:  RTS

; The A7-th largest (below 100) of A1 F32 (not 0) at A0, its byte behind the first A6 ones, of those that begin with A5's.
; Changed ones: A4 of them, their bits at A2, their new bits at A3. Returns the key's byte, the bits' byte, how many have
; it, and how many of these are wanted.
.func ssnail_digit
        LDX A6
        LDA .flags,X
        STA W3
        LDA #0
        TAX
.clear: STA SCRATCH,X
        STA SCRATCH+64,X
        STA SCRATCH+128,X
        STA SCRATCH+192,X
        INX
        CPX #64
        BNE .clear
        LDA #$DE            ; DEC: what they were will be counted below
        JSR .changed
        LDQ A3
        STQ A2
        LDA #$FE            ; INC: what they are
        JSR .changed

.block: LDA A0+2            ; bytes of a block to BYTES by DMA; it ends where a KB of addresses does
        STA W5+2
        AND #15
        STA .list+13
        LDQ A0
        STZ W5+3
        ASLQ Q
        ASLQ Q
        ASLQ Q
        ASLQ Q
        STZ .list+2
        LDA A0+1
        STA .list+12
        LSR A
        STA W5+1
        LDA A0
        TAX
        ROR A
        LSR W5+1
        ROR A
        TAY                 ; the place in the KB
        INX
        INX
        INX
        STX .list+11
        LDX A1              ; at most what is left; W2: 256 less the number, and where it goes
        LDA A1+1
        ORA A1+2
        ORA A1+3
        BNE .whole
        TYA
        CLC
        ADC A1
        BCS .whole
        TXA
        EOR #$FF
        TAY
        INY
.whole: STY W2
        STY .list+14
        LDX #0
        TYA
        EOR #$FF
        INC A
        STA .list+9
        BNE .few
        INX
.few:   STX .list+10
        JSR .dma
        LDY W2
        LDA W3
        BMI .top
        INC .list+15        ; the second bytes
        DEC .list+11
        JSR .dma
        DEC .list+15
        LDA A5+3
.loop:  CMP BYTES,Y
        BEQ .same
.next:  INY
        BNE .loop
.over:  LDA W2              ; A1: less 256 less W2
        CLC
        ADC A1
        STA A1
        BCS .left
        LDA A1+1
        BNE .low
        DEW A1+2
.low:   DEC A1+1
.left:  LDQ A1
        BEQ .walk
        LDA #0              ; the next KB
        STA A0
        LDA A0+1
        AND #$FC
        CLC
        ADC #4
        STA A0+1
        BCC .block
        INW A0+2
        BRA .block
.same:  LDX BYTES+256,Y
        BBS0 W3,.deep
        INC SCRATCH,X
        BPL .next
.many:  JSR .limit
.again: LDA A5+3
        BRA .next
.deep:  CPX A5+2
        BNE .next
        LDA #0              ; W5: address of the F32
        STA W5+1
        TYA
        SEC
        SBC W2
        ASL A
        ROL W5+1
        ASL A
        ROL W5+1
        CLC
        ADC A0
        STA W5
        LDA W5+1
        ADC A0+1
        STA W5+1
        LDZ #1
        BBR1 W3,.count
        LDA [W5],Z
        CMP A5+1
        BNE .again
        DEZ
.count: LDA [W5],Z
        TAX
        INC SCRATCH,X
        BPL .again
        BRA .many
.full:  JSR .limit
        BRA .after
.top:   LDX BYTES,Y
        INC SCRATCH,X
        BMI .full
.after: INY
        BNE .top
        BRA .over

.dma:   LDA #0
        STA $D702
        STA $D704
        LDA #>.list
        STA $D701
        LDA #<.list
        STA $D705
        RTS
.limit: LDA SCRATCH,X       ; above 127 are those that changed ones will be taken from
        CMP #$80
        BNE .done
        DEC SCRATCH,X
.done:  RTS

.walk:  LDX #$80            ; W2: key's byte to bits' byte
        BBS7 W3,.first
        LDX #0
        LDA A5+3
        BPL .first
        DEX
.first: STX W2
        LDX #$FF
.down:  TXA
        EOR W2
        TAY
        LDA SCRATCH,Y
        BEQ .empty
        CMP A7
        BCS .found
        STA W2+1
        SEC
        LDA A7
        SBC W2+1
        STA A7
.empty: DEX
        CPX #$7F
        BEQ .half
        CPX #$FF
        BNE .down
        INX                 ; not so many
        TXA
        EOR W2
        TAY
        LDA #0
.found: STX A0
        STY A0+1
        STA A0+2
        LDA A7
        STA A0+3
        RTS
.half:  BBR7 W3,.down
        LDA #$FF
        STA W2
        BRA .down

; One more or less for each word of the list at A2 that begins like A5.
.changed:
        STA .bin
        LDA A4
        BEQ .done
        STA W2
        LDZ #3
.each:  LDA [A2],Z
        BBS7 W3,.found_bin
        CMP A5+3
        BNE .step
        DEZ
        LDA [A2],Z
        BBR0 W3,.found_bin
        CMP A5+2
        BNE .fix
        DEZ
        LDA [A2],Z
        BBR1 W3,.found_bin
        CMP A5+1
        BNE .fix
        DEZ
        LDA [A2],Z
.found_bin:
        TAX
.bin:   INC SCRATCH,X
.fix:   TZA
        ORA #3
        TAZ
.step:  INZ
        INZ
        INZ
        INZ
        DEC W2
        BNE .each
        RTS
.flags: .byte $80, 0, 1, 3
.list:  .byte $0B, $80, 0, $81, 0, $83, 4, 0    ; F018B; megabytes; every fourth byte
        .byte 0, 0, 0, 0, 0, 0, 0, >BYTES, 0, 0, 0, 0

; Of A1 F32 (not 0) at A0, numbered from A3, those whose key is at least A2: number and key to A4, at most A5 (not 0,
; below 65536) of them. Returns how many were passed and, in A1, how many more there is room for. Stops at infinity and NaN,
; and where the room is full.
.func ssnail_collect
        LDQ A1
        STQ W1
        LDQ A3
        STQ A6
        LDQ ZERO
        STQ W0
        LDQ A2
        BPL .low
        LDA A2+3            ; a positive value's bits
        AND #$7F
        STA A2+3
        LDA #0
        STA W3
        BRA .block
.low:   LDX #3              ; a negative one's: larger bits are below it
.flip:  LDA A2,X
        EOR #$FF
        STA A2,X
        DEX
        BPL .flip
        STX W3
.block: JSR ssnail_block
        LDZ #3
        LDA W3
        BMI .minus
.loop:  LDA [A0],Z
        BMI .never
        CMP A2+3
        BCS .equal
.next:  INZ
        INZ
        INZ
        INZ
        CPZ W2
        BNE .loop
.over:  LDQ A1
        BEQ .all
        INC A0+1
        BNE .count
        INW A0+2
.count: CLC
        LDA A3
        ADC #64
        STA A3
        BCC .block
        INW A3+1
        BNE .block
        INC A3+3
        BRA .block
.all:   LDQ W1
        STQ A0
        LDQ A5
        STQ A1
        RTS

.never: CMP #$FF
        BNE .next
.huge:  DEZ                 ; $FF..: infinity and NaN from $FF80 up
        LDA [A0],Z
        CMP #$80
        BCC .fix
        BNE .bad
        DEZ
        LDA [A0],Z
        DEZ
        ORA [A0],Z
        BEQ .fix            ; minus infinity
.bad:   TZA
        STA W3+1
        JMP .stop
.equal: BNE .take
        DEZ
        LDA [A0],Z
        CMP A2+2
        BCC .fix
        BNE .take
        DEZ
        LDA [A0],Z
        CMP A2+1
        BCC .fix
        BNE .take
        DEZ
        LDA [A0],Z
        CMP A2
        BCS .take
.fix:   TZA
        ORA #3
        TAZ
        LDA W3
        BPL .next
.more:  INZ
        INZ
        INZ
        INZ
        CPZ W2
        BEQ .over
.minus: LDA [A0],Z
        BPL .take
        CMP A2+3
        BCC .take
        BEQ .same
        CMP #$FF
        BEQ .huge
        BRA .more
.same:  TZA
        AND #$FC
        STA W3+1
        TAZ
        LDQ [A0],Z
        CMPQ A2
        BCC .word
        BEQ .word
        LDA W3+1
        ORA #3
        TAZ
        LDA [A0],Z
        CMP #$FF
        BEQ .huge
        BRA .more

.take:  TZA
        AND #$FC
        STA W3+1
        TAZ
        LDQ [A0],Z
.word:  STQ W5
        TZA
        AND #$7F
        CMP #$7F
        BNE .good
        CPY #$80
        BCC .good
        BNE .stop
        CPZ #$FF
        BNE .stop
        LDA W5
        ORA W5+1
        BNE .stop
.good:  LDA W3+1
        LSR A
        LSR A
        STA W0
        LDQ W0
        CLC
        ADCQ A3
        STQ [A4]
        LDX #3
        BIT W5+3
        BPL .plus
.not:   LDA W5,X
        EOR #$FF
        STA W5,X
        DEX
        BPL .not
        BRA .store
.plus:  SMB7 W5+3
.store: LDA #4
        JSR ssnail_step
        LDQ W5
        STQ [A4]
        LDA #4
        JSR ssnail_step
        DEW A5
        BEQ .full
        LDA W3+1
        TAZ
        JMP .fix
.full:  LDA W3+1
        CLC
        ADC #4
        BCC .put
        LDA #$FF            ; the last of a block
        LSR A
        LSR A
        ADC #0
        BRA .back
.put:   STA W3+1
.stop:  LDA W3+1
        LSR A
        LSR A
.back:  STA W0
        LDQ W0
        CLC
        ADCQ A3
        SEC
        SBCQ A6
        STQ A0
        LDQ A5
        STQ A1
        RTS

; Puts weights in the place of the keys of A5 candidates (not 0, below 65536) at A4: A0 to A3 are the fields of
; sampler/weight.rs. Returns their sum, the upper half in A1.
.func ssnail_weigh
        LDQ ZERO
        STQ A6
        STQ A7
        LDA #<.powers
        STA W3
        LDA #>.powers
        STA W3+1
        LDA A3
        JSR rv_power
        LDQ $D774
        STQ W1
        LDA A3              ; W0: so many places that nothing is left of a difference
        AND #$E0
        ORA A3+1
        STA W0
        LDA #4
        JSR ssnail_step
.each:  LDZ #0
        LDQ [A4],Z
        BMI .plus
        EORQ .ones
        STQ W5
        LDA #$80
        BRA .sign
.plus:  STQ W5
        LDA #0
.sign:  STA W4
        LDA W5+2
        ASL A
        LDA W5+3
        ROL A               ; the exponent
        LDY #0
        CLC
        ADC #6
        BCC .near
        INY
.near:  SEC
        SBC A1
        TAX
        TYA
        SBC A1+1
        BMI .right
        BNE .none
        CPX #8
        BCS .none
        TXA
        LDX #0
        BRA .shift
.right: TXA
        CLC
        ADC #32
        BCC .tiny
        BEQ .tiny
        LDX #$80
.shift: STX W4+1
        JSR rv_power
        LDA #0
        STA W5+3
        SMB7 W5+2
        LDQ W5
        STQ $D770
        LDQ $D778
        BBR7 W4+1,.size
        LDQ $D77C
.size:  STQ W5
        LDQ A0
        BBS7 W4,.minus
        SEC
        SBCQ W5
        BRA .below
.tiny:  LDQ ZERO
        BRA .size
.none:  LDQ ZERO
        JMP .store
.minus: CLC
        ADCQ W5
.below: BEQ .power
        STQ $D770
        LDA W0
        BNE .none
        LDQ W1
        STQ $D774
        LDQ $D77C
        BNE .none
        LDQ $D778
        STQ $D774
        LDQ A2
        STQ $D770
        LDQ $D77C
        BMI .none
.power: STQ W5              ; half of what the exponent is below 0, 26 places of it a fraction
        LDA W5+3
        LSR A
        LSR A
        STA W4
        LDA W5+2
        AND #$3F
        TAZ
        LDY W5+1
        LDX W5
        LDA #0
        LSRQ Q
        LSRQ Q
        STQ $D770
        LDQ .ln2
        STQ $D774
        LDQ $D77C
        STQ W2
        STQ $D770
        LSRQ Q
        LSRQ Q
        EORQ .ones
        STQ $D774
        LDQ $D77C
        STQ $D774
        LDQ .third
        STQ $D770
        LDQ $D77C
        EORQ .ones
        STQ $D774
        LDQ W2
        STQ $D770
        LDQ $D77C
        LSRQ Q
        EORQ .ones
        STQ $D774
        LDQ $D77C
        EORQ .ones
        STQ $D774
        LDA W5+2            ; sixteenths
        ASL A
        ROL W5+3
        ASL A
        ROL W5+3
        LDA W5+3
        AND #15
        ASL A
        ASL A
        TAZ
        LDQ (W3),Z
        STQ $D770
        LDA W4
        BEQ .whole
        LDQ $D77C
        STQ $D770
        LDA #32
        SEC
        SBC W4
        JSR rv_power
.whole: LDQ $D77C
.store: STQ [A4]
        CLC
        ADCQ A6
        STQ A6
        BCC .next
        INQ A7
.next:  LDA #8
        JSR ssnail_step
        DEW A5
        BNE .each
        LDQ A6
        STQ A0
        LDQ A7
        STQ A1
        RTS
.ones:  .dword $FFFFFFFF
.ln2:   .dword $B17217F8
.third: .dword $55555555
.powers:
        .dword $FFFFFFFF, $F5257D15, $EAC0C6E8, $E0CCDEEC, $D744FCCB, $CE248C15, $C5672A11, $BD08A39F
        .dword $B504F334, $AD583EEA, $A5FED6AA, $9EF53260, $9837F052, $91C3D373, $8B95C1E4, $85AAC368

; A4 = A4 + A
.func ssnail_step
        CLC
        ADC A4
        STA A4
        BCC .done
        INW A4+1
.done:  RTS
