; What the sampler does with each of many logits (shared: mem.rs, sampler/logits.rs). F32 as bytes, the highest first;
; blocks of 64 are walked with Z, which points at the highest byte of each.

SCRATCH = $1600             ; counts, 127: as many or more

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
        INX
        BNE .clear
        LDX A4
        BEQ .block
        STX W2
.each:  LDZ #0
        LDQ [A2],Z
        STQ W5
        JSR .bin
        BCC .new
        DEC SCRATCH,X       ; will be counted below
.new:   LDZ #0
        LDQ [A3],Z
        STQ W5
        JSR .bin
        BCC .step
        INC SCRATCH,X
.step:  CLC
        LDA A2
        ADC #4
        STA A2
        BCC .other
        INW A2+1
.other: CLC
        LDA A3
        ADC #4
        STA A3
        BCC .less
        INW A3+1
.less:  DEC W2
        BNE .each

.block: JSR ssnail_block
        LDZ #3
        LDA W3
        BMI .top
.loop:  LDA [A0],Z
        CMP A5+3
        BNE .next
        DEZ
        BBR0 W3,.count
        LDA [A0],Z
        CMP A5+2
        BNE .fix
        DEZ
        BBR1 W3,.count
        LDA [A0],Z
        CMP A5+1
        BNE .fix
        DEZ
.count: LDA [A0],Z
        TAX
        INC SCRATCH,X
        BMI .many
.fix:   TZA
        ORA #3
        TAZ
.next:  INZ
        INZ
        INZ
        INZ
        CPZ W2
        BNE .loop
.over:  LDQ A1
        BEQ .walk
        INC A0+1
        BNE .block
        INW A0+2
        BRA .block
.many:  JSR .limit
        BRA .fix
.full:  JSR .limit
        BRA .after
.top:   LDA [A0],Z
        TAX
        INC SCRATCH,X
        BMI .full
.after: INZ
        INZ
        INZ
        INZ
        CPZ W2
        BNE .top
        BRA .over

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

; Carry: the word in W5 begins like A5. X: the byte behind that.
.bin:   LDX W5+3
        BBS7 W3,.yes
        CPX A5+3
        BNE .no
        LDX W5+2
        BBR0 W3,.yes
        CPX A5+2
        BNE .no
        LDX W5+1
        BBR1 W3,.yes
        CPX A5+1
        BNE .no
        LDX W5
.yes:   SEC
        RTS
.no:    CLC
        RTS
.flags: .byte $80, 0, 1, 3

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
