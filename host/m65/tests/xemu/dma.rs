//! The DMA controller.

use super::{CLEAR, RESULTS, agree, assembled, no_files};

/// Copies and fills whose corners the fact sheet names. Each job is an inline list.
const DMA: &str = "
        LDX #0
fill:   TXA
        STA $4400,X
        INX
        BNE fill
        STA $D707
        .byte $0A, $80, 0, $81, 0, $00     ; F018A, copy
        .byte $00
        .word 16
        .word $4400
        .byte $00
        .word $4000
        .byte $00, 0, 0
        STA $D707
        .byte $0A, $00                     ; F018A, both backwards
        .byte $00
        .word 16
        .word $441F
        .byte $40
        .word $402F
        .byte $40, 0, 0
        STA $D707
        .byte $0B, $00                     ; F018B, both backwards
        .byte $30
        .word 16
        .word $442F
        .byte $00
        .word $404F
        .byte $00, $00, 0, 0
        STA $D707
        .byte $0B, $82, $80, $83, $00, $84, $00, $85, $02, $00   ; steps of a half and of two
        .byte $00
        .word 16
        .word $4400
        .byte $00
        .word $4060
        .byte $00, $00, 0, 0
        STA $D707
        .byte $0B, $07, $86, $05, $00      ; $05 is transparent
        .byte $00
        .word 16
        .word $4400
        .byte $00
        .word $4080
        .byte $00, $00, 0, 0
        STA $D707
        .byte $0B, $00                     ; destination held
        .byte $00
        .word 16
        .word $4400
        .byte $00
        .word $40A0
        .byte $00, $08, 0, 0
        STA $D707
        .byte $0A, $00                     ; the same in F018A
        .byte $00
        .word 16
        .word $4410
        .byte $00
        .word $40A4
        .byte $10, 0, 0
        STA $D707
        .byte $0B, $00                     ; a chain: fill, then source held, then fill
        .byte $07
        .word 8
        .word $005A
        .byte $00
        .word $40B0
        .byte $00, $00, 0, 0
        .byte $00
        .byte $04
        .word 8
        .word $4455
        .byte $00
        .word $40B8
        .byte $00, $02, 0, 0
        .byte $00
        .byte $03
        .word 4
        .word $00A5
        .byte $00
        .word $40C0
        .byte $00, $00, 0, 0
        STA $D707
        .byte $0B, $00                     ; across a bank
        .byte $00
        .word 16
        .word $4400
        .byte $00
        .word $FFF8
        .byte $04, $00, 0, 0
        STA $D707
        .byte $0B, $00
        .byte $00
        .word 16
        .word $FFF8
        .byte $04
        .word $40D0
        .byte $00, $00, 0, 0
        STA $D707
        .byte $0B, $81, $80, $00           ; to attic RAM and back
        .byte $00
        .word 16
        .word $4420
        .byte $00
        .word $1230
        .byte $05, $00, 0, 0
        STA $D707
        .byte $0B, $80, $80, $00
        .byte $00
        .word 16
        .word $1230
        .byte $05
        .word $40E0
        .byte $00, $00, 0, 0
        STA $D707
        .byte $0B, $81, $80, $00           ; wraps at the end of the megabyte
        .byte $00
        .word 16
        .word $4430
        .byte $00
        .word $FFF8
        .byte $0F, $00, 0, 0
        STA $D707
        .byte $0B, $80, $80, $00
        .byte $00
        .word 8
        .word $0000
        .byte $00
        .word $40F0
        .byte $00, $00, 0, 0
        STA $D707
        .byte $0B, $81, $FF, $00           ; the multiplier's inputs as destination
        .byte $00
        .word 8
        .word $4401
        .byte $00
        .word $3770
        .byte $0D, $00, 0, 0
        LDQ $D778
        STQ $4100
        LDQ $D77C
        STQ $4104
        STA $D707
        .byte $0B, $00                     ; the same through the I/O flag
        .byte $00
        .word 8
        .word $4411
        .byte $00
        .word $D770
        .byte $80, $00, 0, 0
        LDQ $D778
        STQ $4108
        LDQ $D77C
        STQ $410C
        LDA #0                             ; a list by address, plain and enhanced
        STA $D702
        STA $D704
        LDA #1
        STA $D703
        LDA #>plain
        STA $D701
        LDA #<plain
        STA $D700
        LDA #>listed
        STA $D701
        LDA #<listed
        STA $D705
        BRA over
plain:  .byte $00
        .word 16
        .word $4440
        .byte $00
        .word $4110
        .byte $00, $00, 0, 0
listed: .byte $0B, $00, $03
        .word 16
        .word $0077
        .byte $00
        .word $4120
        .byte $00, $00, 0, 0
over:
";

#[test]
fn dma_agrees_with_xemu() {
    agree("DMA", &assembled(&format!("{CLEAR}{DMA}")), no_files(), &[RESULTS]);
}
