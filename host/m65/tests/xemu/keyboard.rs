//! Codes of all keys, pressed through the virtual keys.

use super::{agree, assembled, no_files};
use std::ops::Range;

/// Keys of the matrix.
const POSITIONS: usize = 72;
/// For each key: `$D610`, `$D619`, `$D60A`, and a blank.
const CODES: usize = 0x5000;
const NO_KEY: u8 = 0x7f;
/// Positions of modifiers: none, left shift, CTRL, MEGA, ALT.
const MODIFIERS: [u8; 5] = [NO_KEY, 15, 58, 61, 66];

/// Holds a modifier and presses key after key; `$24` and `$25` are spared from the modifiers and
/// from TAB, which together leave the program.
fn program() -> String {
    let mut all = String::from(
        "
        LDA #<$5000
        STA $22
        LDA #>$5000
        STA $23
        LDA #0
        STA $D60A\n",
    );
    for modifier in MODIFIERS {
        all += &format!("        LDA #{modifier}\n        JSR keys\n");
    }
    all += "
        BRA over
keys:   STA $24
        LDA #0
        STA $20
next:   LDX #0
spare:  LDA spared,X
        CMP #$FF
        BEQ press
        CMP $20
        BEQ skip
        INX
        BRA spare
press:  LDA $24
        STA $D616
        JSR wait
        LDA #0
        STA $D60A
        LDA $20
        STA $D615
        JSR wait
        LDY #0
        LDA $D610
        STA ($22),Y
        INY
        LDA $D619
        STA ($22),Y
        INY
        LDA $D60A
        STA ($22),Y
        LDA #$7F
        STA $D615
        STA $D616
        JSR wait
        LDA #0
        STA $D60A
skip:   LDA $22
        CLC
        ADC #4
        STA $22
        BCC up
        INC $23
up:     INC $20
        LDA $20
        CMP #72
        BNE next
        RTS
wait:   LDA #6
        STA $26
        LDX #0
        LDY #0
again:  DEX
        BNE again
        DEY
        BNE again
        DEC $26
        BNE again
        RTS
spared: .byte 15, 52, 58, 61, 64, 65, 66, $FF
over:
";
    all
}

#[test]
fn key_codes_agree_with_xemu() {
    let end = CODES + MODIFIERS.len() * POSITIONS * 4;
    let range: Range<usize> = CODES..end;
    let clear = format!(
        "
        STA $D707
        .byte $0B, $00, $03
        .word {}, 0
        .byte 0
        .word $5000
        .byte 0, 0, 0, 0\n",
        end - CODES
    );
    agree("keys", &assembled(&format!("{clear}{}", program())), no_files(), &[range]);
}
