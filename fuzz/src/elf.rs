//! ELF files for the translator.

use rv45::elf::Elf;
use rv45::link::{Options, link};

pub fn run(data: &[u8]) {
    if let Ok(elf) = Elf::parse(data) {
        for at in elf.sections.iter().map(|s| s.addr).chain([elf.entry, 0, u32::MAX - 1]) {
            let _ = (elf.word(at), elf.section_at(at));
        }
        for symbol in &elf.symbols {
            let _ = rv45::front::demangle(&symbol.name);
        }
    }
    match link(data, &Options::default()) {
        Ok(program) => assert!(program.prg.len() <= 1 << 16),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

pub fn seeds() -> Vec<Vec<u8>> {
    // `host/rv45/programs/src/bin/hello.rs` and `overflow.rs`, linked as its build script does, debug sections removed.
    vec![include_bytes!("../corpus/elf/hello").to_vec(), include_bytes!("../corpus/elf/overflow").to_vec()]
}
