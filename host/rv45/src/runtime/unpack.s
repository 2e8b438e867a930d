; Start of a compressed PRG: expands the stream at PACKED to STAGE in chip RAM, moves the first
; MAIN_LEN bytes of it to where an uncompressed file would have been loaded, and starts that.

SRC = $80
DST = $84
FROM = $88
LEN = $8C
OFFSET = $90
BITS = $94
MOVER_LEN = 40
SAFE = $1D00                ; what runs while the program is moved over this code

        SEI
        CLD
        LDA #$47
        STA $D02F
        LDA #$53
        STA $D02F
        LDA #65
        STA abs:$0000
        LDA #$35
        STA abs:$0001
        LDA #$44
        STA $D030
        LDA #0
        LDX #$0F
        LDY #0
        LDZ #$0F
        MAP
        LDX #0
        LDZ #0
        MAP
        EOM
        LDA #BASE_PAGE
        TAB
        LDX #MOVER_LEN
.save:  LDA mover-1,X
        STA SAFE-1,X
        DEX
        BNE .save
        LDX #24
.set:   LDA pointers-1,X
        STA SRC-1,X
        DEX
        BNE .set

literals:
        JSR gamma
.next:  LDZ #0
        LDA [SRC],Z
        STA [DST],Z
        INQ SRC
        INQ DST
        DEW LEN
        BNE .next
        JSR bit
        BCS new
        JSR gamma
copy:   LDQ DST
        SEC
        SBCQ OFFSET
        STQ FROM
.next:  LDZ #0
        LDA [FROM],Z
        STA [DST],Z
        INQ FROM
        INQ DST
        DEW LEN
        BNE .next
        JSR bit
        BCC literals
new:    JSR gamma
        LDA LEN+1           ; 256 ends the stream
        BNE finish
        DEC LEN
        LDA LEN
        STA OFFSET+1
        LDZ #0
        LDA [SRC],Z
        STA OFFSET
        INQ SRC
        INW OFFSET
        JSR gamma
        INW LEN
        BRA copy
finish: JMP SAFE

; Carry = the next bit. The lowest bit set in BITS marks the end of a byte.
bit:    ASL BITS
        BNE .done
        LDZ #0
        LDA [SRC],Z
        INQ SRC
        SEC
        ROL A
        STA BITS
.done:  RTS

gamma:  LDA #1
        STA LEN
        LDA #0
        STA LEN+1
.more:  JSR bit
        BCS .done
        JSR bit
        ROL LEN
        ROL LEN+1
        BRA .more
.done:  RTS

; Copied to SAFE. The list is that of an enhanced DMA job.
mover:  LDA #0
        STA $D702
        STA $D704
        LDA #>SAFE
        STA $D701
        LDA #<SAFE+22
        STA $D705
        JMP START
        .byte 0
        .byte $0B, $80, 0, $81, 0, 0, 0
        .word MAIN_LEN
        .word STAGE&$FFFF
        .byte STAGE>>16
        .word LOAD
        .byte 0, 0, 0, 0

pointers:
        .word PACKED
        .word 0
        .dword STAGE
        .dword 0
        .dword 0
        .dword 1
        .byte $80, 0, 0, 0
PACKED:
