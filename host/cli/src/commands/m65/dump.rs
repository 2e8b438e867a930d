//! `--dump` and `--preload`: memory out and in.

use crate::exit::refused;
use crate::files;
use anyhow::Result;
use ssnail_m65::{Machine, scenario};
use std::io::Write;
use std::path::PathBuf;
use std::str::FromStr;

/// Address, length, file.
#[derive(Clone, Debug)]
pub struct Dump {
    address: u32,
    length: u32,
    file: PathBuf,
}

/// A number: `$` or `0x` for hexadecimal.
fn number(text: &str) -> Result<u32, String> {
    let hex = text.strip_prefix('$').or_else(|| text.strip_prefix("0x"));
    let value = match hex {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => text.parse(),
    };
    value.map_err(|_| format!("`{text}` is no number (hexadecimal with $ or 0x before it)"))
}

impl FromStr for Dump {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.splitn(3, ':').collect();
        match parts[..] {
            [address, length, file] if !file.is_empty() => {
                Ok(Self { address: number(address)?, length: number(length)?, file: file.into() })
            }
            _ => Err("write ADDR:LEN:FILE".into()),
        }
    }
}

impl Dump {
    /// Writes the file.
    ///
    /// # Errors
    /// The range is not memory, or the file cannot be written.
    pub fn write(&self, machine: &Machine) -> Result<()> {
        let bytes = scenario::dump(machine, self.address, self.length).ok_or_else(|| {
            refused(format_args!("${:07X} (+{}) is not wholly memory of this board", self.address, self.length))
        })?;
        let mut output = files::Output::create(&self.file)?;
        output.write_all(&bytes)?;
        output.commit()
    }
}

/// Address and file.
#[derive(Clone, Debug)]
pub struct Preload {
    address: u32,
    file: PathBuf,
}

impl FromStr for Preload {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some((address, file)) if !file.is_empty() => Ok(Self { address: number(address)?, file: file.into() }),
            _ => Err("write ADDR:FILE".into()),
        }
    }
}

impl Preload {
    /// Puts the file into memory.
    ///
    /// # Errors
    /// It cannot be read, or the range is not RAM.
    pub fn apply(&self, machine: &mut Machine) -> Result<()> {
        let bytes = files::read(&self.file)?;
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let start = self.address as usize;
        let board = &mut machine.board;
        let target = match board.expansion.slice_mut(self.address, length) {
            Some(target) => Some(target),
            None => board.chip_ram_mut().get_mut(start..start.saturating_add(bytes.len())),
        };
        let target = target.ok_or_else(|| {
            refused(format_args!("{}: {length} bytes at ${:07X} are not wholly RAM", self.file.display(), self.address))
        })?;
        target.copy_from_slice(&bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_two_bases() {
        let dump: Dump = "$8000000:256:a:b".parse().expect("valid");
        assert_eq!((dump.address, dump.length, dump.file), (0x800_0000, 256, PathBuf::from("a:b")));
        assert!("8000000:1".parse::<Dump>().is_err());
        assert!("x:1:f".parse::<Dump>().is_err());
    }
}
