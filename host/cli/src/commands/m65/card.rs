//! The card in the emulated machine's slot.

use crate::exit::{Refuse, refused};
use anyhow::{Context, Result};
use ssnail_disk::fat::Fat32;
use ssnail_m65::Machine;
use ssnail_m65::hdos::{EndOfFile, LongNames, Options};
use ssnail_m65::io::card::{Card, Effect, Fault, Trigger};
use std::path::PathBuf;

/// Flags about the card.
#[derive(Debug, clap::Args)]
pub struct CardArgs {
    /// Image of an SD card (FAT32); what the machine writes is forgotten
    #[arg(long, value_name = "CARD.img")]
    card: Option<PathBuf>,
    /// Write to the image what the machine writes
    #[arg(long, requires = "card")]
    card_writable: bool,
    /// A fault of the card: error:SECTOR, stale:SECTOR, silent:SECTOR, or remove:N at the N-th read
    #[arg(long, value_name = "FAULT", value_parser = fault, requires = "card")]
    card_fault: Vec<Fault>,
    /// Speed of the card in million bytes per second
    #[arg(long, value_name = "MB/S", default_value_t = 1.0, requires = "card")]
    card_speed: f64,
    /// Long names on the card: off, capitals (HDOS 1.2), as-stored (earlier)
    #[arg(long, value_name = "MODE", default_value = "off", value_parser = long_names, requires = "card")]
    long_names: LongNames,
    /// Carry at the end of a file: clear (the hypervisor) or set (Xemu's virtual HDOS)
    #[arg(long, value_name = "STATE", default_value = "clear", value_parser = end_of_file, requires = "card")]
    end_of_file: EndOfFile,
}

fn fault(text: &str) -> Result<Fault, String> {
    let usage = || "use error:SECTOR, stale:SECTOR, silent:SECTOR or remove:N".to_owned();
    let (kind, number) = text.split_once(':').ok_or_else(usage)?;
    let number: u32 = number.parse().map_err(|_| usage())?;
    let effect = match kind {
        "error" => Effect::Error,
        "stale" => Effect::Stale,
        "silent" => Effect::Silence,
        "remove" => Effect::Remove,
        _ => return Err(usage()),
    };
    let trigger = if effect == Effect::Remove { Trigger::Read(number.into()) } else { Trigger::Sector(number) };
    Ok(Fault { trigger, effect, times: u32::MAX })
}

fn long_names(text: &str) -> Result<LongNames, String> {
    match text {
        "off" => Ok(LongNames::Off),
        "capitals" => Ok(LongNames::Capitals),
        "as-stored" => Ok(LongNames::AsStored),
        _ => Err("use off, capitals or as-stored".to_owned()),
    }
}

fn end_of_file(text: &str) -> Result<EndOfFile, String> {
    match text {
        "clear" => Ok(EndOfFile::CarryClear),
        "set" => Ok(EndOfFile::CarrySet),
        _ => Err("use clear or set".to_owned()),
    }
}

/// Cycles in which 512 bytes pass at a million bytes per second.
const CYCLES_AT_1_MB: f64 = ssnail_m65::io::card::SECTOR_CYCLES as f64;

impl CardArgs {
    /// Puts the card into the slot.
    ///
    /// # Errors
    /// The image cannot be opened.
    pub fn apply(&self, machine: &mut Machine) -> Result<()> {
        let Some(path) = &self.card else {
            return Ok(());
        };
        let open = if self.card_writable { Card::open_writable } else { Card::open };
        let place = || path.display().to_string();
        if path.is_dir() {
            let sentence = "it is a folder, not an image of a card (ssnail card create makes one)";
            return Err(refused(sentence)).with_context(place);
        }
        let mut card = open(path).with_context(place)?;
        Fat32::find(&mut card).refuse().with_context(place)?;
        card.reads = 0;
        if self.card_speed > 0.0 {
            card.sector_cycles = (CYCLES_AT_1_MB / self.card_speed) as u32;
        } else {
            card.sector_cycles = 0;
        }
        for fault in &self.card_fault {
            card.inject(fault.clone());
        }
        let options = Options { end_of_file: self.end_of_file, long_names: self.long_names, ..Options::default() };
        machine.insert_card(card, options);
        Ok(())
    }
}
