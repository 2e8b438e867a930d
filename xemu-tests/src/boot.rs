//! Starting a program from a disk without a ROM: what BOOT does, as a small program that runs in every emulator.

use rv45::asm::{Layout, Parser, Sequence, Symbols};

/// Where it lies and starts: memory that BASIC leaves to programs.
pub const BOOT: u16 = 0x1600;

/// The program. `attach`: the disk is `SSNAIL.D81` in the root of the card and has to be mounted; else it is in the drive.
/// `entry` is where the program behind the RUN of `AUTOBOOT.C65` starts.
pub fn program(attach: bool, entry: u16) -> Vec<u8> {
    let mut symbols = Symbols::default();
    let mut parser = Parser::new(&mut symbols);
    parser.define("ATTACH", i64::from(attach));
    parser.define("ENTRY", i64::from(entry));
    let routines = parser.parse(include_str!("boot.s")).unwrap_or_else(|e| panic!("{e}"));
    let items: Vec<_> = routines.into_iter().flat_map(|r| r.items).collect();
    let layout = Layout::new(&[Sequence { start: Some(BOOT), items: &items }], &symbols).expect("it is small");
    let code = layout.encode(0, &items, &symbols).expect("every label is there");
    [&BOOT.to_le_bytes()[..], &code].concat()
}
