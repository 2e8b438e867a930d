//! `ssnail disasm`: the script of an image, instruction by instruction.

use crate::exit::{Outcome, refused};
use crate::image::ImageFile;
use crate::out;
use anyhow::Result;
use ssnail_shared::isa::{Address, INSTRUCTION_LEN, Instruction, Opcode, Operand};
use ssnail_shared::mem::ReadMemory;
use std::collections::BTreeSet;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// Prints the script of an image: address, bytes, instruction. Targets of branches are marked.
///
///   ssnail disasm model.ssnail | less
///   ssnail disasm model.ssnail --raw       without the bytes
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Image (- for standard input)
    image: PathBuf,
    /// Print instructions only, without their bytes
    #[arg(long)]
    raw: bool,
}

/// Prints the script up to the last HALT.
///
/// # Errors
/// The image is refused, or standard output cannot be written.
pub fn run(args: &Args) -> Result<Outcome> {
    let image = ImageFile::read(&args.image)?;
    let slots = slots(&image)?;
    let last = slots.iter().rposition(|slot| matches!(slot.1, Some(i) if i.op == Opcode::Halt));
    let script = slots.get(..last.map_or(slots.len(), |last| last + 1)).unwrap_or_default();
    let targets: BTreeSet<u32> = script.iter().filter_map(|slot| target(slot.1?)).collect();
    let mut out = BufWriter::new(out::stdout());
    for (address, instruction, bytes) in script {
        let mark = if targets.contains(address) { '>' } else { ' ' };
        write!(out, "{mark}{address:07X}  ")?;
        if !args.raw {
            for word in bytes.chunks(4) {
                for byte in word {
                    write!(out, "{byte:02X}")?;
                }
                write!(out, " ")?;
            }
            write!(out, " ")?;
        }
        match instruction {
            Some(instruction) => writeln!(out, "{instruction}")?,
            None => writeln!(out, "illegal opcode ${:02X}", bytes.first().copied().unwrap_or(0))?,
        }
    }
    out.flush()?;
    Ok(Outcome::Done)
}

/// A place for an instruction: address, instruction if it is one, bytes.
type Slot = (u32, Option<Instruction>, [u8; INSTRUCTION_LEN as usize]);

fn slots(image: &ImageFile) -> Result<Vec<Slot>> {
    let memory = image.memory();
    let (start, end) = (image.header.code, image.header.data.min(image.header.payload_end()));
    if end <= start {
        return Err(refused("header field data at offset $0C: the script has no room"));
    }
    let mut slots = Vec::new();
    for address in (start..end).step_by(INSTRUCTION_LEN as usize) {
        let mut bytes = [0; INSTRUCTION_LEN as usize];
        if memory.read(address, &mut bytes).is_err() {
            break;
        }
        slots.push((address, Instruction::decode(&bytes), bytes));
    }
    Ok(slots)
}

fn target(instruction: Instruction) -> Option<u32> {
    let words = [instruction.x, instruction.y, instruction.z];
    let (_, word) = instruction.op.info().words.iter().zip(words).find(|(kind, _)| **kind == Operand::Target)?;
    match Address::decode(word) {
        Address::Absolute(address) => Some(address),
        Address::Indirect { .. } => None,
    }
}
