//! Runs the program with a model of the test data for some frames and prints the screen:
//! `drive R3 600 'keys<RETURN>|more' MODEL WTYPE`.
#![allow(clippy::unwrap_used, missing_docs)]

use ssnail_m65::Model;
use ssnail_xemu_tests::card::File;
use ssnail_xemu_tests::scenario::{Setup, shown};

fn main() {
    let a: Vec<String> = std::env::args().collect();
    let image = if a[4].starts_with("vocab") {
        ssnail_xemu_tests::model::tiny_with_vocabulary(&a[4], &a[5]).unwrap()
    } else {
        ssnail_xemu_tests::model::image(&a[4], &a[5]).unwrap()
    };
    let setup = Setup::with(a[1].parse::<Model>().unwrap(), &[File::new("/SSNAIL/MODEL.SSN", &image)]);
    let mut s = setup.start().unwrap();
    for keys in a[3].split('|') {
        s.type_text(keys).unwrap();
        s.frames(a[2].parse().unwrap());
        println!("{}", shown(&s));
    }
    println!("{:02X?}", &s.machine.board.chip_ram()[0x1DF0..0x1E00]);
    println!("{:02X?}", &s.machine.board.chip_ram()[0x1F0..0x200]);
    println!("{:?} pc {:04X} cycles {}", s.machine.stopped(), s.machine.cpu.pc, s.machine.board.cycles);
}
