; The entry. A0: address of the block in chip RAM, a multiple of 256 below 1 MB, plus the kernel's
; number; A1: address of 40 bytes of parameters. Returns A0: 0 done, 1 not done.

        LDA #PAGE
        TAB
        LDQ A0
        STX HOME+1
        STY HOME+2
        ASL A
        STA N
        LDA #0
        STA HOME
        STA HOME+3
        STA BAD
        STA AM
        STA AM+4
        STA UM
        STA UM+4
        STA $D704
        LDQ A0+4
        STQ SRC
        LDA #40
        STA LEN
        LDA #0
        STA LEN+1
        LDA #P
        LDX #PAGE
        JSR target
        JSR fetch
        LDX N
        JSR (kernels,X)
        LDX BAD
        BEQ .done
        LDX #1
.done:  LDA #$1E
        TAB
        TXA
        LDX #0
        LDY #0
        LDZ #0
        STQ A0
        RTS
kernels:
        .word tables, quantised, halves

; Where the next copy goes: address in the block in X, A.
target: STA list+12
        TXA
        SEC
        SBC #>BLOCK
        CLC
        ADC HOME+1
        STA list+13
        LDA HOME+2
        ADC #0
        STA list+14
        RTS

; Copies LEN bytes from SRC to the target; a source across a megabyte in two pieces.
fetch:  LDA LEN
        STA list+7
        LDA LEN+1
        STA list+8
again:  LDQ SRC             ; LEN and the target as before
        STA list+9
        STX list+10
        TYA
        AND #15
        STA list+11
        CMP #15
        BEQ .edge
.go:    ASLQ Q
        ASLQ Q
        ASLQ Q
        ASLQ Q
        STZ list+2
        LDA #>list
        LDY #<list
        JMP start
.edge:  TXA                 ; A is lost, and not needed any more
        CMP #$F8
        BCC .go
        LDQ SRC
        STQ TM
        LDA SRC             ; bytes up to the megabyte's end, fewer than $800
        NEG A
        STA D
        LDA SRC+1
        EOR #$FF
        LDX D
        BNE .high
        INC A
.high:  STA ST
        LDA D
        SEC
        SBC list+7
        LDA ST
        SBC list+8
        BCC .split
.whole: LDQ SRC
        BRA .go
.split: LDA list+12         ; the second piece first, then the first one
        PHA
        LDA list+13
        PHA
        LDA list+7
        PHA
        LDA list+8
        PHA
        LDA list+12
        CLC
        ADC D
        STA list+12
        LDA list+13
        ADC ST
        STA list+13
        LDA list+7
        SEC
        SBC D
        STA list+7
        LDA list+8
        SBC ST
        STA list+8
        LDA #0
        STA SRC
        STA SRC+1
        STA list+9
        STA list+10
        STA list+11
        LDA SRC+2
        AND #$F0
        CLC
        ADC #$10
        STA SRC+2
        BCC .go2
        INC SRC+3
.go2:   LDQ SRC
        JSR .go
        LDA D
        STA list+7
        LDA ST
        STA list+8
        PLA
        STA ST
        PLA
        STA D
        PLA
        STA list+13
        PLA
        STA list+12
        LDQ TM
        STQ SRC
        STA list+9
        STX list+10
        LDA #15
        STA list+11
        LDQ SRC
        JSR .go
        LDA D
        STA list+7
        LDA ST
        STA list+8
        RTS
; Starts the list at A, Y in the block.
start:  SEC
        SBC #>BLOCK
        CLC
        ADC HOME+1
        STA $D701
        LDA HOME+2
        ADC #0
        STA $D702
        STY $D705
        RTS
list:   .byte $0B, $80, 0, $81, 0, 0
        .byte 0
        .word 0
        .byte 0, 0, 0
        .byte 0, 0, 0
        .byte 0, 0, 0

bad:    LDA #1
        STA BAD
        RTS

; Kernel 0: fills the tables. Once, before the others.
tables: LDX #0
.next:  TXA
        LSR A
        LSR A
        AND #31
        BEQ .small
        STA EXPT,X
        LDY #0
        CMP #31
        BEQ .put
        TXA
        AND #3
        ORA #4
        TAY
.put:   TYA
        STA MANT,X
        BRA .norm
.small: LDA #1
        STA EXPT,X
        TXA
        AND #3
        STA MANT,X
.norm:  TXA
        LDY #0
        LDZ #1
        CMP #0
        BEQ .store
.shift: CMP #0
        BMI .store
        ASL A
        INY
        PHA
        TZA
        ASL A
        TAZ
        PLA
        BRA .shift
.store: TYA
        STA SHIFT,X
        TZA
        STA NORM,X
        TXA
        AND #$80
        ORA EXPT,X
        DEC A
        STA POWER,X
        INX
        BNE .next
        RTS
