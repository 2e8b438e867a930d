//! VIC-IV text, typing and pictures.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::program;
use ssnail_m65::{Machine, Model, Outcome, Scenario, Screen};

/// Sets up 80x50 text at $40000 with a lower-case character set and writes a few cells.
const FIFTY_ROWS: &str = "
        LDA #$E8
        STA $D031
        LDA #$C9
        STA $D016
        LDA #80
        STA $D058
        STA $D05E
        LDA #0
        STA $D059
        STA $D060
        STA $D061
        STA $D063
        LDA #4
        STA $D062
        LDA #0
        STA $D068
        STA $D06A
        LDA #$18
        STA $D069
        LDA #0
        STA $D05B
        LDA #49
        STA $D07B
        LDA #0
        STA $D702
        STA $D704
        LDA #>list
        STA $D701
        LDA #<list
        STA $D705
loop:   BRA loop
list:   .byte $0B, $00
        .byte $07                     ; fill with blanks, chained
        .word 4000
        .word $20
        .byte 0
        .word 0
        .byte 4, 0, 0, 0
        .byte $81, $FF, $85, 1, $00
        .byte $07                     ; colours: white
        .word 4000
        .word $01
        .byte 0
        .word 0
        .byte 8, 0, 0, 0
        .byte $81, $00, $00
        .byte $00
        .word 5
        .word text
        .byte 0
        .word 3920
        .byte 4, 0, 0, 0
text:   .byte $48, $05, $0C, $8C, $0F";

fn drawn() -> Machine {
    let mut machine = program(Model::R3, FIFTY_ROWS);
    assert_eq!(machine.run_frame(), None);
    machine
}

#[test]
fn fifty_rows_at_a_private_address() {
    let machine = drawn();
    let screen = Screen::of(&machine.board);
    assert_eq!((screen.columns, screen.rows), (80, 50));
    // 3920 = row 49; the fourth letter is inverse.
    assert_eq!(screen.row(49), "Hello");
    assert!(screen.contains("Hello") && !screen.contains("hello"));
    assert_eq!(screen.text().lines().count(), 50);
    assert_eq!(screen.cells[3920].colour, 1);
}

#[test]
fn text_is_found_across_the_last_column() {
    let mut machine = Machine::new(Model::R3);
    for (n, code) in [(79, 1), (80, 2)] {
        machine.board.chip_ram_mut()[0x800 + n] = code;
    }
    let screen = Screen::of(&machine.board);
    assert_eq!((screen.row(0).len(), screen.row(1)), (80, "B".to_owned()));
    assert!(screen.contains("AB") && !screen.contains("ABC"));
}

#[test]
fn terminal_output_has_colours_and_only_changes() {
    let mut machine = drawn();
    let mut terminal = ssnail_m65::screen::Terminal::default();
    let first = terminal.update(&machine.board);
    assert!(first.contains("\x1b[2J") && first.contains("Hel\x1b[0;38;2;255;255;255;48;2;40;48;184;7ml"), "{first:?}");
    assert_eq!(terminal.update(&machine.board), "");
    machine.board.chip_ram_mut()[0x4_0000] = 0x01;
    let second = terminal.update(&machine.board);
    assert!(second.starts_with("\x1b[1;1H") && second.matches('H').count() == 1, "{second:?}");
}

fn pixels(file: &[u8]) -> (usize, Vec<u8>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    (info.width as usize, pixels)
}

#[test]
fn picture_shows_glyphs_attributes_and_sprites() {
    let mut machine = drawn();
    let board = &mut machine.board;
    // Row 0: a solid inverse blank by code and one by attribute, an underlined blank.
    board.chip_ram_mut()[0x4_0000..0x4_0003].copy_from_slice(&[0xa0, 0x20, 0x20]);
    for (n, colour) in [(0, 0x02), (1, 0x25), (2, 0x87)] {
        ssnail_m65::cpu::Bus::write_flat(board, 0x0ff8_0000 + n, colour);
    }
    // Sprite 1, 24x21, solid first row, at the text's top left but 100 to the right.
    board.chip_ram_mut()[0x3000..0x3003].fill(0xff);
    board.chip_ram_mut()[0xbf9] = (0x3000 / 64) as u8;
    for (register, value) in [(0x15, 2), (0x02, 124), (0x03, 50), (0x28, 9), (0x6c, 0xf8), (0x6d, 0x0b), (0x6e, 0)] {
        board.vic.write(register, value, 0);
    }
    // 16-bit pointers are off: the pointer byte counts in units of 64 bytes of bank 0.
    let (width, pixels) = pixels(&Screen::of(board).png(board).unwrap());
    let at = |x: usize, y: usize| <[u8; 3]>::try_from(&pixels[(y * width + x) * 3..][..3]).unwrap();
    let colour = |n| board.vic.text_colour(n);
    let (x, y) = (40, 32);
    assert_eq!(at(0, 0), colour(6), "border");
    assert_eq!((at(x, y), at(x + 7, y + 7)), (colour(2), colour(2)), "inverse code");
    assert_eq!(at(x + 8, y), colour(5), "inverse attribute");
    assert_eq!((at(x + 16, y + 6), at(x + 16, y + 7)), (colour(6), colour(7)), "underline");
    // The first row of `e` on row 49: rows 0 and 1 are blank, row 2 has a bar.
    assert_eq!((at(x + 11, y + 49 * 8), at(x + 11, y + 49 * 8 + 2)), (colour(6), colour(1)));
    assert_eq!((at(x + 200, y), at(x + 247, y + 1), at(x + 248, y)), (colour(9), colour(9), colour(6)), "sprite");
}

/// Echoes keys into the first row after a delay of some frames for each line.
const ECHO: &str = "
        LDA #0
        STA $D60A
        LDX #0
next:   LDA $D610
        BEQ next
        STA $D610
        CMP #$0D
        BEQ line
        CMP #$60
        BCC put
        SBC #$60
put:    STA $0800,X
        INX
        BRA next
line:   LDY #5                     ; five frames of work, shown by a counter on the screen
work:   LDA $D7FA
same:   CMP $D7FA
        BEQ same
        INC $0F00
        DEY
        BNE work
        BRA next";

#[test]
fn typing_waits_for_queue_and_screen() {
    let mut scenario = Scenario::new(program(Model::R3, ECHO));
    scenario.type_text("abc<RETURN>de").unwrap();
    assert_eq!(scenario.until("ABCDE", 60), Outcome::Found);
    // Ten still frames, three keys and RETURN, five frames of work, ten still frames, two keys.
    let frame = scenario.machine.frame();
    assert!((30..=40).contains(&frame), "{frame}");
    assert_eq!(scenario.machine.board.keyboard.lost, 0);
    assert_eq!(scenario.until("F", 5), Outcome::TimedOut);
}

#[test]
fn a_stop_ends_the_wait() {
    let mut scenario = Scenario::new(program(Model::R3, "LDA #1\n STA $0800\n RTS"));
    assert_eq!(scenario.until("B", 5), Outcome::Stopped(ssnail_m65::Stop::Returned));
    assert_eq!(scenario.until("A", 5), Outcome::Found);
}
