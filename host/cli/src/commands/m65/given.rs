//! What is given to be started: a program or a disk. Anything else is told what it is and what to do with it.

use crate::exit::{Refuse, refused};
use crate::files;
use anyhow::{Context, Result};
use ssnail_disk::d81::{IMAGE_BYTES, IMAGE_BYTES_WITH_STATUS};
use ssnail_disk::spec::is_d81;
use ssnail_m65::Machine;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Longest PRG: a load address and 64 KB.
const PROGRAM_MAX: usize = 0x1_0002;
/// More than any program or disk has.
const LIMIT: u64 = 1 << 20;

/// Loads the program, or the program of the disk, which then lies in drive 0; `-` is standard input.
///
/// # Errors
/// The file cannot be read, or is refused; the message names it.
pub fn start(machine: &mut Machine, path: &Path) -> Result<()> {
    let file = read(path)?;
    let place = || path.display().to_string();
    if matches!(file.len(), IMAGE_BYTES | IMAGE_BYTES_WITH_STATUS) || is_d81(path) && !file.is_empty() {
        machine.boot_disk(&file).refuse().with_context(place)?;
    } else if let Some(sentence) = something_else(&file, &place()) {
        return Err(refused(sentence)).with_context(place);
    } else {
        machine.load_prg(&file).refuse().with_context(place)?;
    }
    Ok(())
}

/// The file, or the beginning of one that is too long for anything that starts.
fn read(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if files::is_dash(path) {
        io::stdin().lock().take(LIMIT).read_to_end(&mut bytes).context("cannot read standard input")?;
        return Ok(bytes);
    }
    if path.is_dir() {
        return Err(refused(format_args!(
            "{} is a folder: give a program (PRG) or a disk (D81) of it",
            path.display()
        )));
    }
    let file = File::open(path);
    file.and_then(|file| file.take(LIMIT).read_to_end(&mut bytes))
        .with_context(|| format!("cannot read {}", path.display()))?;
    Ok(bytes)
}

/// What a file is that is no program, and where it belongs.
fn something_else(file: &[u8], name: &str) -> Option<String> {
    let on_a_card = "a machine with this model: ssnail m65 SSNAIL.D81 --card CARD.img";
    let is_card = file.get(510..512) == Some(&[0x55, 0xaa]) && file.len() > PROGRAM_MAX;
    Some(if file.is_empty() {
        "the file is empty: give a program (PRG) or a disk (D81)".to_owned()
    } else if file.starts_with(&ssnail_shared::header::MAGIC) {
        format!(
            "this is a model, not a program: put it on a card (ssnail card create CARD.img {name}) and start {on_a_card}; \
             or talk to it here: ssnail chat {name}"
        )
    } else if file.starts_with(b"GGUF") {
        format!(
            "this is a GGUF model, not a program: make an image of it (ssnail convert {name} -o MODEL.ssnail), put that on \
             a card (ssnail card create CARD.img MODEL.ssnail) and start {on_a_card}"
        )
    } else if file.starts_with(&rv45::link::part::MAGIC.to_le_bytes()) {
        "this is the part of SSNAIL.PRG that computes without the core: start the program itself, or SSNAIL.D81"
            .to_owned()
    } else if file.starts_with(b"\x7fELF") {
        format!("this is an ELF program: make a PRG of it (ssnail rv45 {name} -o X.PRG)")
    } else if is_card {
        format!("this is an image of a card, not a program: ssnail m65 SSNAIL.D81 --card {name}")
    } else if file.len() > PROGRAM_MAX {
        format!("too long for a program (PRG, at most 64 KB), and no disk (D81, {IMAGE_BYTES} bytes)")
    } else {
        return None;
    })
}
