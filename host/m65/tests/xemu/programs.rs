//! Small programs with results worked out by hand.

use super::{CLEAR, RESULTS, agree, assembled, no_files, ours};
use ssnail_m65::{Machine, Screen};

const PROGRAMS: [(&str, &str); 6] = [
    (
        "decimal and binary arithmetic with flags",
        "
        SED
        LDX #0
loop:   TXA
        CLC
        ADC #$27
        STA $4000,X
        PHP
        PLA
        ORA #$20
        STA $4100,X
        TXA
        SEC
        SBC #$58
        STA $4200,X
        PHP
        PLA
        ORA #$20
        STA $4300,X
        INX
        BNE loop
        CLD",
    ),
    (
        "Q forms and flat access",
        "
        LDA #$78
        LDX #$56
        LDY #$34
        LDZ #$92
        STQ $10
        STQ $14
        ASLQ $14
        LDQ $10
        CLC
        ADCQ $14
        STQ $4000
        SEC
        SBCQ $10
        STQ $4004
        LDA #$00
        STA $20
        STA $23
        LDA #$40
        STA $21
        LDA #$04
        STA $22
        LDQ $10
        STQ [$20]
        LDZ #1
        LDA [$20],Z
        STA $4008
        LDZ #0
        LDQ [$20],Z
        RORQ Q
        STQ $400C",
    ),
    (
        "DMA, multiplier, divider",
        "
        LDX #0
        LDY #0
        LDZ #0
        LDA #201
        STQ $D770
        LDA #77
        STQ $D774
        LDQ $D778
        STQ $4000
        LDQ $D76C
        STQ $4004
        STA $D707
        .byte $0B, $00, $00
        .word 64
        .word stop
        .byte 0
        .word $4100
        .byte 0, 0, 0, 0",
    ),
    (
        "stack, calls and jumps",
        "
        LDA #<near
        STA $3FF2
        LDA #>near
        STA $3FF3
        LDA #<to
        STA $3FF4
        LDA #>to
        STA $3FF5
        LDA #$21
        STA $3FF8
        LDA #$43
        STA $3FF9
        TSX
        TXA
        TSY
        STA $3FF0
        STY $3FF1
        LDX #$FE
        LDY #$15
        TYS
        TXS
        CLE                 ; a stack of 16 bits, across a page
        PHW #$1234
        PHW $3FF8
        LDA #$56
        PHA
        PHX
        PHY
        PHZ
        TSX
        STX $4000
        TSY
        STY $4001
        PLZ
        PLY
        PLX
        PLA
        STA $4002
        STX $4003
        STY $4004
        PLA
        PLA
        PLA
        STA $4005
        PLA
        STA $4006
        JSR near
        JSR ($3FF2)
        LDX #2
        JSR ($3FF0,X)
        BSR near
        LDA #$77
        PHA
        LDA #$88
        PHA
        JSR drop
        TSX
        STX $400A
        SEE
        LDX #$02
        LDY #$15
        TYS
        TXS
        PHW #$ABCD          ; wraps in the page
        PHA
        PHA
        TSX
        STX $400B
        TSY
        STY $400C
        LDX $3FF0
        LDY $3FF1
        TYS
        TXS
        LDX #0
        JMP ($3FF4,X)
near:   INC $4010
        RTS
drop:   INC $4011
        RTS #2
to:     LDA #$99
        STA $4012
        PHP
        PLA
        ORA #$30
        STA $4013",
    ),
    (
        "mapped memory",
        "
        LDA #$5A
        STA $6000
        LDA #0
        STA $20
        STA $23
        LDA #$60
        STA $21
        LDA #$04
        STA $22
        LDZ #0
        LDA #$A5
        STA [$20],Z         ; $46000
        LDA #$00
        LDX #$84            ; $6000 shows $46000
        LDY #0
        LDZ #0
        MAP
        EOM
        LDA $6000
        STA $4000
        LDA #$C3
        STA $6001
        LDA #0
        LDX #0
        LDY #0
        LDZ #0
        MAP
        EOM
        LDA $6000
        STA $4001
        LDZ #1
        LDA [$20],Z
        STA $4002
        LDA #$80            ; attic RAM
        LDX #$0F
        LDY #0
        LDZ #0
        MAP
        EOM
        LDA #0
        LDX #$80
        MAP
        EOM
        LDA #$3C
        STA $6002
        LDA #0
        LDX #0
        MAP
        LDX #$0F
        MAP
        EOM
        LDA #$08
        STA $23
        LDA #$00
        STA $22
        LDZ #2
        LDA [$20],Z
        STA $4003
        LDA $6002
        STA $4004",
    ),
    (
        "text on the screen",
        "
        LDA #$E0
        STA $D031
        LDA #$26
        STA $D018
        LDX #0
fill:   LDA #$20
        STA $0800,X
        STA $0900,X
        STA $0A00,X
        STA $0B00,X
        STA $0C00,X
        STA $0D00,X
        STA $0E00,X
        STA $0F00,X
        INX
        BNE fill
        LDX #26
put:    TXA
        STA $084F,X
        DEX
        BNE put",
    ),
];

#[test]
fn programs_agree_with_xemu() {
    for (name, body) in PROGRAMS {
        let body = format!("{CLEAR}{body}");
        let Some((machine, screen)) = agree(name, &assembled(&body), no_files(), &[RESULTS]) else {
            return;
        };
        if name.contains("screen") {
            let text = Screen::of(&machine.board).text().to_lowercase();
            for line in text.lines().filter(|l| !l.is_empty()) {
                assert!(screen.to_lowercase().contains(line), "{name}: {line:?} in {screen}");
            }
        }
    }
}

/// The programs themselves, without Xemu.
#[test]
fn programs_give_what_was_worked_out() {
    let results = |body: &str| ours(&assembled(body), no_files());
    let word = |m: &Machine, at: usize| u32::from_le_bytes(m.board.chip_ram()[at..at + 4].try_into().unwrap());
    let machine = results(PROGRAMS[1].1);
    let q: u32 = 0x9234_5678;
    assert_eq!(word(&machine, 0x4000), q.wrapping_mul(3));
    assert_eq!(word(&machine, 0x4004), q << 1);
    assert_eq!(machine.board.chip_ram()[0x4008], 0x56);
    assert_eq!(word(&machine, 0x400c) & 0x7fff_ffff, q >> 1);
    let machine = results(PROGRAMS[2].1);
    assert_eq!((word(&machine, 0x4000), word(&machine, 0x4004)), (201 * 77, 201 / 77));
    let machine = results(PROGRAMS[4].1);
    assert_eq!(machine.board.chip_ram()[0x4000..0x4003], [0xa5, 0x5a, 0xc3]);
    assert_eq!(machine.board.chip_ram()[0x4003], 0x3c);
    let machine = results(&format!("{CLEAR}{}", PROGRAMS[3].1));
    // Eight bytes below $15FE; the wrap in page $15.
    assert_eq!(machine.board.chip_ram()[0x4000..0x4002], [0xf6, 0x15]);
    assert_eq!(machine.board.chip_ram()[0x400b..0x400d], [0xfe, 0x15]);
    assert_eq!(machine.board.chip_ram()[0x4010..0x4013], [4, 1, 0x99]);
    let machine = results(PROGRAMS[5].1);
    assert_eq!(Screen::of(&machine.board).row(1), "abcdefghijklmnopqrstuvwxyz");
    let machine = results(PROGRAMS[0].1);
    // $45 + $27 and $45 - $58 in decimal.
    assert_eq!((machine.board.chip_ram()[0x4045], machine.board.chip_ram()[0x4245]), (0x72, 0x87));
}
