//! The disk that SSNAIL comes on.

use super::name::{NameUse, PetsciiName, name_from_host};
use super::{D81, D81Error, FileType};

/// First line of the directory listing.
const DISK_NAME: &str = "SSNAIL";
const DISK_ID: [u8; 2] = *b"SN";
/// The main program: `RUN "*"` starts it, because it is first.
const MAIN: &str = "SSNAIL";
/// What BOOT loads and runs.
const AUTOBOOT: &str = "AUTOBOOT.C65";
const README: &str = "README";
const LINE: &str = "----------------";

/// A file for the disk.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Its name on the host, without folder.
    pub name: &'a str,
    /// Its content.
    pub data: &'a [u8],
}

/// A disk, and what had to be left out.
#[derive(Debug, Clone)]
pub struct DemoDisk {
    /// The disk.
    pub disk: D81,
    /// Why the model is not on it.
    pub left_out: Option<String>,
}

/// The program that BOOT runs: one line of BASIC, `10 RUN "SSNAIL"`.
#[must_use]
pub fn autoboot_program() -> Vec<u8> {
    const LOAD_ADDRESS: u16 = 0x2001;
    const TOKEN_RUN: u8 = 0x8A;
    let mut line = vec![10, 0, TOKEN_RUN];
    line.extend_from_slice(b" \"SSNAIL\"\0");
    let next = LOAD_ADDRESS + 2 + u16::try_from(line.len()).unwrap_or(0);
    [&LOAD_ADDRESS.to_le_bytes()[..], &next.to_le_bytes(), &line, &[0, 0]].concat()
}

/// Builds the disk: the program first, then its overlays, AUTOBOOT.C65, a readme, and the model where it fits.
///
/// `prg` is the program with its load address; overlays are of type PRG, the readme (ASCII text) and the model
/// of type SEQ.
///
/// # Errors
/// [`D81Error`] when something other than the model does not fit or has an impossible name.
pub fn demo_disk(
    prg: &[u8],
    overlays: &[Source<'_>],
    readme: &str,
    model: Option<Source<'_>>,
) -> Result<DemoDisk, D81Error> {
    let file = |name: &str| PetsciiName::new(name, NameUse::File);
    let line = PetsciiName::new(LINE, NameUse::Decoration)?;
    let mut disk = D81::new(&PetsciiName::new(DISK_NAME, NameUse::Decoration)?, DISK_ID);
    disk.add(&file(MAIN)?, FileType::Prg, prg)?;
    for overlay in overlays {
        disk.add(&name_from_host(overlay.name), FileType::Prg, overlay.data)?;
    }
    disk.add_divider(&line)?;
    disk.add(&file(AUTOBOOT)?, FileType::Prg, &autoboot_program())?;
    disk.add(&file(README)?, FileType::Seq, &petscii_text(readme))?;
    let mut left_out = None;
    if let Some(model) = model {
        // The line belongs to the model: without one there is none.
        let mut with_model = disk.clone();
        with_model.add_divider(&line)?;
        match with_model.add(&name_from_host(model.name), FileType::Seq, model.data) {
            Ok(_) => disk = with_model,
            Err(e @ (D81Error::TooLarge { .. } | D81Error::Full { .. })) => left_out = Some(e.to_string()),
            Err(e) => return Err(e),
        }
    }
    Ok(DemoDisk { disk, left_out })
}

/// Text as BASIC and the editor show it in upper and lower case: letters swapped, lines ended by CR.
fn petscii_text(text: &str) -> Vec<u8> {
    text.chars()
        .filter(|&c| c != '\r')
        .map(|c| match c {
            '\n' => 0x0D,
            'a'..='z' => c as u8 - 0x20,
            'A'..='Z' => c as u8 + 0x80,
            ' '..='@' | '[' | ']' => c as u8,
            _ => b'?',
        })
        .collect()
}
