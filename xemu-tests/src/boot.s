; What BOOT of the ROM does, for emulators without that ROM: finds AUTOBOOT.C65 on the disk in drive 0, takes the name
; behind its RUN, loads that program and starts it. Before: ATTACH, ENTRY; the image's name is at `image`.

BUFFER = $1F00
FAILED = $0A

        SEI
        CLD
        LDA #$47
        STA $D02F
        LDA #$53
        STA $D02F
        LDA #65
        STA abs:$0000
        LDZ #0
        LDA #ATTACH
        BEQ attached

; The image lies in the root of the card.
        LDX #0
name:   LDA image,X
        STA $1E00,X
        INX
        CPX #16
        BNE name
        LDA #$22
        JSR dos
        LDA #$02
        JSR dos
        TAX
        LDA #$3C
        JSR dos
        LDY #$1E
        LDA #$2E
        JSR dos
        LDA #$40
        JSR dos
        LDA #$22
        JSR dos

attached:
        JSR find
        LDX #0
token:  LDA BUFFER,X
        INX
        BEQ failed
        CMP #$8A
        BNE token
quote:  LDA BUFFER,X
        INX
        CMP #'"'
        BNE quote
        LDY #0
copy:   LDA BUFFER,X
        CMP #'"'
        BEQ padded
        STA wanted,Y
        INX
        INY
        BRA copy
padded: LDA #$A0
pad:    CPY #16
        BEQ found
        STA wanted,Y
        INY
        BRA pad
found:  JSR find

; The first block begins with the load address.
        LDA BUFFER+2
        STA to
        LDA BUFFER+3
        STA to+1
        LDX #4
block:  STX from
        LDA BUFFER
        BNE full
        LDA BUFFER+1
        INC
        BRA last
full:   LDA #0
last:   SEC
        SBC from
        STA count
        STA $D707
        .byte $0B, $00, $00
count:  .word 0
from:   .word BUFFER
        .byte $00
to:     .word 0
        .byte $00, $00, 0, 0
        CLC
        LDA to
        ADC count
        STA to
        LDA to+1
        ADC #0
        STA to+1
        LDA BUFFER
        BEQ loaded
        JSR next
        LDX #2
        BRA block
loaded: JMP ENTRY

; A call of the hypervisor's DOS.
dos:    STA $D640
        CLV
        BCC failed
        RTS

failed: LDA #FAILED
        STA $D020
        BRA failed

; The first block of the program `wanted` to the buffer.
find:   LDA #40
        LDX #3
        JSR read
        LDX #0
entry:  LDA BUFFER+2,X
        CMP #$82
        BNE other
        PHX
        LDY #0
letter: LDA BUFFER+5,X
        CMP wanted,Y
        BNE differs
        INX
        INY
        CPY #16
        BNE letter
        PLX
        LDA BUFFER+4,X
        LDY BUFFER+3,X
        TAX
        TYA
        BRA read
differs:
        PLX
other:  TXA
        CLC
        ADC #32
        TAX
        BNE entry
        LDA BUFFER
        BEQ failed
        JSR next
        BRA searched
next:   LDA BUFFER
        LDX BUFFER+1
        BRA read
searched:
        LDX #0
        BRA entry

; Block A, X (track, sector) to the buffer: half a sector of the controller.
read:   STX block_number
        PHA
        LDA #$60
        CPX #20
        BCC side0
        ORA #$08
side0:  STA $D080
idle:   LDA $D082
        BMI idle
        PLA
        DEC
        STA $D084
        LDY #0
        LDA block_number
        CMP #20
        BCC upper
        SBC #20
        INY
upper:  STY $D086
        LSR
        INC
        STA $D085
        LDA #$40
        STA $D081
busy:   LDA $D082
        BMI busy
        AND #$18
        BNE failed
        LDA #$80
        TRB $D689
        LDA block_number
        AND #1
        ORA #$6C
        STA half
        STA $D707
        .byte $0B, $80, $FF, $00, $00
        .word 256
        .byte $00
half:   .byte $6C, $0D
        .word BUFFER
        .byte $00, $00, 0, 0
        RTS

block_number:
        .byte 0
wanted: .byte "AUTOBOOT.C65", $A0, $A0, $A0, $A0
image:  .byte "SSNAIL.D81", 0, 0, 0, 0, 0, 0
