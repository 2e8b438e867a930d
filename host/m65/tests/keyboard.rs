//! What programs that look at the keys themselves see.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::program;
use ssnail_m65::{Machine, Model, keys};

#[test]
fn keys_are_down_in_the_matrix_for_a_few_frames() {
    // $3F00: column 1 at $D613; $3F01: the same through the CIA; $3F02: modifiers; $3F03: cursor keys.
    let source = "
loop:   LDA #1
        STA $D614
        LDA $D613
        STA $3F00
        LDA #$FF
        STA $DC02
        LDA #$FD
        STA $DC00
        LDA $DC01
        STA $3F01
        LDA $D611
        STA $3F02
        LDA $D60F
        STA $3F03
        BRA loop";
    let mut machine = program(Model::R3, source);
    let seen = |machine: &mut Machine, frames: u32| {
        (0..frames).for_each(|_| assert_eq!(machine.run_frame(), None));
        [0x3f00, 0x3f01, 0x3f02, 0x3f03].map(|at| machine.board.peek(at))
    };
    assert_eq!(seen(&mut machine, 1), [0xff, 0xff, 0, 0]);
    machine.board.keyboard.press(keys::character('A').unwrap());
    assert_eq!(seen(&mut machine, 1), [0x7b, 0x7b, 1, 0]);
    assert_eq!(seen(&mut machine, 5), [0xff, 0xff, 0, 0]);
    machine.board.keyboard.press(keys::named("UP").unwrap());
    assert_eq!(seen(&mut machine, 1), [0x7f, 0x7f, 1, 2]);
}

#[test]
fn virtual_keys_make_events() {
    let source = "
        LDA #15
        STA $D616
        LDA #10
        STA $D615
        STA $D615
        LDA $D610
        STA $3F00
        STA $D610
        LDA $D610
        STA $3F01
        LDA #$7F
        STA $D615
        STA $D616
        LDA #1
        STA $D615
        LDA $D610
        STA $3F02
stop:   BRA stop";
    let mut machine = program(Model::R3, source);
    machine.run_frame();
    assert_eq!([0x3f00, 0x3f01, 0x3f02].map(|at| machine.board.peek(at)), [b'A', 0, 0x0d]);
}
