; Hardware access and requests of the program to whoever runs it.

.func rv_halt               ; nothing comes after this
        BRA rv_halt

.func rv_panic              ; where panics go when messages are left out
        JMP rv_halt

; Host requests by the numbers of Linux, for programs under test: 64 writes A2 bytes at A1 to the
; log in attic RAM (from $8600000) whose end LOG points to; 93 stores A0 and $5A at EXIT and stops.
.func rv_ecall
        LDA A7
        CMP #64
        BEQ .write
        CMP #93
        BNE .halt
        LDQ .exit
        STQ W0
        LDZ #0
        LDA A0
        STA [W0],Z
        INZ
        LDA #$5A
        STA [W0],Z
.halt:  JMP rv_halt
.exit:  .dword $8700000
.write: LDQ A1
        STQ W1
        LDQ A2
        STQ W2
        STQ A0
.next:  LDQ W2
        BEQ .done
        DEQ W2
        LDZ #0
        LDA [W1],Z
        STA [LOG],Z
        INQ W1
        INQ LOG
        BRA .next
.done:  RTS

.func rv45_carry            ; A0 = carry after the last trap
        LDA FLAG
        STA A0
        LDA #0
        STA A0+1
        STA A0+2
        STA A0+3
        RTS

.func rv45_hdos             ; trap $D640: A0 = function, A1..A3 = X, Y, Z
        LDA #$40
        STA .port+1
        LDX A1
        LDY A2
        LDA A3
        TAZ
        LDA A0
.port:  STA $D640
        CLV
        STQ A0
        LDA #0
        ROL A
        STA FLAG
        RTS

.func rv45_trap             ; the same through register A0 ($D640..$D67F); A1 = function, A2..A4
        LDA A0
        STA .port+1
        LDX A2
        LDY A3
        LDA A4
        TAZ
        LDA A1
.port:  STA $D640
        CLV
        STQ A0
        LDA #0
        ROL A
        STA FLAG
        RTS

.func rv45_dma              ; enhanced DMA, list at A0 (28 bits)
        LDA A0+2
        AND #$7F
        STA $D702
        LDQ A0
        ASLQ Q              ; bits 20-27 into Z and the top of Y
        ASLQ Q
        ASLQ Q
        ASLQ Q
        STZ $D704
        LDA A0+1
        STA $D701
        LDA A0
        STA $D705
        RTS

; A list in the runtime's work page for the copies and fills below.
.func rv45_dma_copy         ; A0 = destination, A1 = source, A2 = count
        LDX #0
        BRA rv_dma_run
.func rv45_dma_fill         ; A0 = destination, A1 = value, A2 = count
        LDX #3
        BRA rv_dma_run
.func rv_dma_run            ; A0, A1, A2 as above, X = command; A0 and A1 survive
        STX rv_dma_list+6
        LDQ A2
        STQ W2
        LDQ A0
        STQ W0
        LDQ A1
        STQ W1
.more:  LDQ W2              ; pieces of $8000 bytes at most, none across a megabyte
        BEQ .done
        CMPQ .step
        BCC .piece
        LDQ .step
.piece: STQ W3
        LDX #W0
        JSR .limit
        LDA rv_dma_list+6
        BNE .go             ; a fill has a value, not a source
        LDX #W1
        JSR .limit
.go:    LDA W3
        STA rv_dma_list+7
        LDA W3+1
        STA rv_dma_list+8
        LDQ W1
        STA rv_dma_list+9
        STX rv_dma_list+10
        TYA
        AND #15
        STA rv_dma_list+11
        JSR .megabyte
        STZ rv_dma_list+2
        LDQ W0
        STA rv_dma_list+12
        STX rv_dma_list+13
        TYA
        AND #15
        STA rv_dma_list+14
        JSR .megabyte
        STZ rv_dma_list+4
        LDA #0
        STA $D702
        STA $D704
        LDA #>rv_dma_list
        STA $D701
        LDA #<rv_dma_list
        STA $D705
        LDQ W2
        SEC
        SBCQ W3
        STQ W2
        LDQ W0
        CLC
        ADCQ W3
        STQ W0
        LDA rv_dma_list+6
        BNE .more
        LDQ W1
        CLC
        ADCQ W3
        STQ W1
        BRA .more
.done:  RTS
.megabyte:                  ; bits 20-27 of Q to Z
        ASLQ Q
        ASLQ Q
        ASLQ Q
        ASLQ Q
        RTS
.limit: SEC                 ; W3 down to what is left of the megabyte that the pointer at X is in
        LDA #0
        STA W5+3
        SBC 0,X
        STA W5
        LDA #0
        SBC 1,X
        STA W5+1
        LDA #0
        SBC 2,X
        AND #15
        STA W5+2
        LDQ W5
        BEQ .fits
        CMPQ W3
        BCS .fits
        STQ W3
.fits:  RTS
.step:  .dword $8000

.func rv_dma_list
        .byte $0B, $80, 0, $81, 0, 0        ; F018B; source and destination megabyte; end
        .byte 0                             ; command (offset 6)
        .word 0                             ; count
        .byte 0, 0, 0                       ; source
        .byte 0, 0, 0                       ; destination
        .byte 0, 0, 0                       ; sub-command, modulo

.func rv_overlay            ; maps overlay A (1..6) at $E000, or with 0 none
        STA OVERLAY
        TAZ
        BEQ .none
        ASL A
        ASL A
        ASL A
        ASL A
        ASL A
        CLC
        ADC #$20            ; offset from $E000 to $12000 + 8 KB a number, in pages
        LDZ #$80
.none:  TAY
        LDA #0
        TAX
        MAP
        EOM
        RTS

.func rv_far                ; after the call: address of a function, number of its overlay
        PLA
        STA W0
        PLA
        STA W0+1
        LDY #1
        LDA (W0),Y
        STA W1
        INY
        LDA (W0),Y
        STA W1+1
        INY
        LDX OVERLAY
        PHX
        LDA (W0),Y
        JSR rv_overlay
        JSR (BASE+W1)
        PLA
        JMP rv_overlay

; Back to BASIC's READY with an empty program; the KERNAL's memory is as SYS left it (see the start-up code).
KEPT = $1DF8
HOP = $1600
TAIL_LEN = 48
.func rv45_basic
        SEI
        LDX #5
.put:   LDA KEPT,X
        STA $FFFA,X
        DEX
        BPL .put
        LDX #TAIL_LEN       ; the end of this runs where no ROM will be
.copy:  LDA .tail-1,X
        STA HOP-1,X
        DEX
        BNE .copy
        LDA #0              ; the program has been moved and cannot be run again
        STA $2001
        STA $2002
        TAB
        LDX KEPT+6
        LDY KEPT+7
        SEE
        TXS
        TYS
        JMP HOP
.tail:
        LDA #$3F
        STA abs:$0001
        LDA #$64
        STA $D030
        LDA #$FF            ; the raster interrupt goes on
        STA $D019
        LDA #1
        STA $D01A
        LDA #64             ; speed as $D054 and $D031 say
        STA abs:$0000
        LDA #0
        TAX
        TAY
        LDZ #$83
        MAP
        EOM
        LDZ #0
        CLI
        RTS
