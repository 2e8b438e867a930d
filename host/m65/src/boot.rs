//! Starting a program from a disk, as BOOT and `RUN "*"` do.

use crate::Machine;
use crate::io::f011::{DiskKind, Image};
use crate::prg::{self, PrgError};
use ssnail_disk::block::MemDevice;
use ssnail_disk::d81::{D81, D81Error, FileType, IMAGE_BYTES};

/// The program that BOOT looks for.
const AUTOBOOT: &str = "AUTOBOOT.C65";
const TOKEN_RUN: u8 = 0x8a;
/// Programs that may start one another.
const MAX_STEPS: usize = 4;

/// Why nothing could be started.
#[derive(Debug, thiserror::Error)]
pub enum BootError {
    /// Not an image, or a file on it is damaged or missing.
    #[error(transparent)]
    Disk(#[from] D81Error),
    /// Nothing to start.
    #[error("there is no program (PRG) on this disk")]
    NoProgram,
    /// The program cannot be run.
    #[error("{name}: {source}")]
    Program {
        /// Its name on the disk.
        name: String,
        /// Why not.
        source: PrgError,
    },
    /// `AUTOBOOT.C65` starts a program that starts another, and so on.
    #[error("{name} is the {MAX_STEPS}th program in a row that only starts another")]
    Circle {
        /// Where it was given up.
        name: String,
    },
}

/// A program on a disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskProgram {
    /// Its name.
    pub name: String,
    /// The file, load address first.
    pub file: Vec<u8>,
}

/// The program that a user gets: the one that `AUTOBOOT.C65` runs, or the first of the directory.
///
/// # Errors
/// [`BootError`].
pub fn program_on(disk: &D81) -> Result<DiskProgram, BootError> {
    let entries = disk.entries();
    let program = |e: &&_| matches!(e, ssnail_disk::d81::DirEntry { kind: FileType::Prg, .. });
    let mut entry = match disk.find(AUTOBOOT) {
        Ok(entry) if entry.kind == FileType::Prg => entry,
        _ => entries.iter().filter(program).find(|e| !e.is_divider()).ok_or(BootError::NoProgram)?.clone(),
    };
    for _ in 0..MAX_STEPS {
        let (name, file) = (entry.name.to_string(), disk.read(&entry)?);
        match next_program(&file) {
            Some(next) => entry = disk.find(&next)?,
            None => return Ok(DiskProgram { name, file }),
        }
    }
    Err(BootError::Circle { name: entry.name.to_string() })
}

/// The name behind RUN in a BASIC program that has no SYS.
fn next_program(file: &[u8]) -> Option<String> {
    let text = file.strip_prefix(&prg::BASIC_START.to_le_bytes())?;
    if prg::find_sys(text).is_some() {
        return None;
    }
    let run = text.iter().position(|&b| b == TOKEN_RUN)?;
    let name = text.get(run + 1..)?.trim_ascii_start().strip_prefix(b"\"")?;
    let end = name.iter().position(|b| matches!(b, b'"' | 0))?;
    Some(name.get(..end)?.iter().map(|&b| char::from(b)).collect())
}

impl Machine {
    /// Puts a D81 image into drive 0 of the floppy controller. What is written stays in memory.
    ///
    /// # Errors
    /// [`D81Error::Size`].
    pub fn insert_disk(&mut self, image: &[u8], writable: bool) -> Result<(), D81Error> {
        D81::from_bytes(image)?;
        let device = MemDevice::from_bytes(image.get(..IMAGE_BYTES).unwrap_or(image));
        self.board.storage.floppy.mount(0, Image::Device(Box::new(device)), DiskKind::D81, writable);
        Ok(())
    }

    /// Inserts a disk and prepares to run its program; returns the program's name.
    ///
    /// # Errors
    /// [`BootError`].
    pub fn boot_disk(&mut self, image: &[u8]) -> Result<String, BootError> {
        let DiskProgram { name, file } = program_on(&D81::from_bytes(image)?)?;
        self.insert_disk(image, true)?;
        match self.load_prg(&file) {
            Ok(()) => Ok(name),
            Err(source) => Err(BootError::Program { name, source }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Model;
    use ssnail_disk::d81::{NameUse, PetsciiName, autoboot_program, demo_disk};

    /// 10 SYS 8205 and an RTS.
    const PROGRAM: &[u8] = &[1, 0x20, 0x0b, 0x20, 10, 0, 0x9e, b'8', b'2', b'0', b'5', 0, 0, 0, 0x60];

    fn name(text: &str) -> PetsciiName {
        PetsciiName::new(text, NameUse::File).unwrap()
    }

    #[test]
    fn autoboot_leads_to_the_program() {
        let mut disk = D81::new(&name("X"), *b"XX");
        disk.add(&name("FIRST"), FileType::Prg, &[0, 0x10, 0x60]).unwrap();
        disk.add(&name("SSNAIL"), FileType::Prg, PROGRAM).unwrap();
        assert_eq!(program_on(&disk).unwrap().name, "FIRST");
        disk.add(&name("AUTOBOOT.C65"), FileType::Prg, &autoboot_program()).unwrap();
        assert_eq!(program_on(&disk).unwrap(), DiskProgram { name: "SSNAIL".into(), file: PROGRAM.to_vec() });
    }

    #[test]
    fn the_disk_of_the_project_starts_and_is_mounted() {
        let image = demo_disk(PROGRAM, &[], "readme", None).unwrap().disk.to_bytes();
        let mut machine = Machine::new(Model::R3);
        assert_eq!(machine.boot_disk(&image).unwrap(), "SSNAIL");
        assert_eq!(machine.run_frame(), Some(crate::Stop::Returned));
        assert_eq!(machine.read_flat(0x0ffd_368b), 7);
    }

    #[test]
    fn disks_without_a_program_and_circles_are_refused() {
        let mut disk = D81::new(&name("X"), *b"XX");
        assert!(matches!(program_on(&disk), Err(BootError::NoProgram)));
        disk.add(&name("SSNAIL"), FileType::Prg, &autoboot_program()).unwrap();
        assert!(matches!(program_on(&disk), Err(BootError::Circle { .. })));
        assert!(matches!(Machine::new(Model::R3).boot_disk(&[0; 100]), Err(BootError::Disk(_))));
    }
}
