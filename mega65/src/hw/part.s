; To SSNAIL.CPU and back (part.rs, mailbox.rs). A0 = megabyte of the reserve, which begins at its $D0000; A1, A2, A3 =
; bytes of code, of data, of zeros.

PAGE = $1600
HOP = PAGE + 126
LEN = 126 + 33
FILE = $0014                ; behind its head

.func ssnail_part
        LDX #LEN
.copy:  LDA .page-1,X
        STA PAGE-1,X
        DEX
        BNE .copy
        LDA A0
        STA PAGE+4
        STA PAGE+20
        STA PAGE+38
        STA PAGE+74
        STA PAGE+92
        STA PAGE+110
        LDA A1              ; code: there and back
        STA PAGE+18+7
        STA PAGE+72+7
        LDA A1+1
        STA PAGE+18+8
        STA PAGE+72+8
        LDA #FILE           ; data: behind the code in the file
        CLC
        ADC A1
        STA PAGE+36+9
        LDA #0
        ADC A1+1
        STA PAGE+36+10
        LDA A2
        STA PAGE+36+7
        STA PAGE+54+12
        LDA A2+1
        STA PAGE+36+8
        CLC
        ADC #$20
        STA PAGE+54+13
        LDA A3
        STA PAGE+54+7
        LDA A3+1
        STA PAGE+54+8
        LDA OVERLAY
        PHA
        LDA #0
        JSR rv_overlay
        LDA #0
        STA $D702
        STA $D704
        LDA #>PAGE
        STA $D701
        LDA #<PAGE
        JSR HOP
        PLA
        JMP rv_overlay

.page:  ; base page to the reserve; code, data, zeros
        .byte $0B, $80, 0, $81, 0, 0, 4, 0, 1, 0, $1E, 0, 0, $1E, $0E, 0, 0, 0
        .byte $0B, $80, 0, $81, 0, 0, 4, 0, 0, FILE, 0, $0D, $01, $20, 0, 0, 0, 0
        .byte $0B, $80, 0, $81, 0, 0, 4, 0, 0, 0, 0, $0D, 0, $20, 1, 0, 0, 0
        .byte $0B, $80, 0, $81, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0
        ; code, overlays, base page as they were
        .byte $0B, $80, 0, $81, 0, 0, 4, 0, 0, $01, $20, $0E, $01, $20, 0, 0, 0, 0
        .byte $0B, $80, 0, $81, 0, 0, 4, 0, $C0, 0, $20, $0F, 0, $20, 1, 0, 0, 0
        .byte $0B, $80, 0, $81, 0, 0, 0, 0, 1, 0, $1E, $0E, 0, $1E, 0, 0, 0, 0
        STA $D705           ; HOP: what follows is where it was, everything else is not
        TSX                 ; for a panic (compute/src/panic.s)
        STX $16F8
        TSY
        STY $16F9
        JSR $2020
        LDA #0
        STA $D702
        STA $D704
        LDA #>PAGE
        STA $D701
        LDA #<PAGE+72
        STA $D705
        RTS
