; The entry. A0: address of the block in chip RAM, a multiple of 256 below 1 MB, plus the kernel's
; number; A1: address of 40 bytes of parameters. Returns A0: 0 done, 1 not done; A1: see each kernel.

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
        LDA #>list
        SEC
        SBC #>BLOCK
        CLC
        ADC HOME+1
        STA LISTED
        LDA HOME+2
        ADC #0
        STA LISTED+1
        LDQ A1
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
        LDQ RES
        STQ A1
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

; Where the next copy goes: address in the block in X, A.
target: STA NEAR
        STX NEAR+1
        STA list+12
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

; Copies LEN bytes from SRC to the target; bytewise near the end of a megabyte, where a job would wrap.
fetch:  LDA LEN
        STA list+7
        LDA LEN+1
        STA list+8
again:  LDQ SRC             ; as many bytes as before
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
        LDA LISTED
        STA $D701
        LDA LISTED+1
        STA $D702
        LDA #<list
        STA $D705
        RTS
.edge:  CPX #$F8
        BCC .go
        LDQ SRC
        STQ KEEP
        LDQ NEAR
        STA OP
        STX OP+1
        LDY #0
        LDZ #0
.byte:  LDA [KEEP],Z
        STA (OP),Y
        INQ KEEP
        INY
        BNE .same
        INC OP+1
.same:  CPY list+7
        BNE .byte
        LDA OP+1
        SEC
        SBC NEAR+1
        CMP list+8
        BNE .byte
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
ignore: RTI

; Kernel 0: fills the tables. Once, before the others.
tables: LDA #<ignore
        LDX #>ignore
        STA $FFFA
        STX $FFFB
        STA $FFFE
        STX $FFFF
        LDX #0
.next:  TXA
        LSR A
        LSR A
        AND #31
        TAY
        TXA
        AND #3
        CPY #0
        BNE .normal
        INY                 ; what is not normal has the exponent 1
        BRA .put
.normal:
        ORA #4
        CPY #31
        BNE .put
        LDA #0
.put:   STA MANT,X
        DEY
        STY D
        TXA
        AND #SIGNED
        ORA D
        STA POWER,X
        TXA
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
        ASL A
        ASL A
        ASL A
        ASL A
        AND #ZEROS
        ORA MANT,X
        STA MANT,X
        TZA
        STA NORM,X
        INX
        BNE .next
        RTS
