//! Models on the card: the list, the settings file, and reading a model's beginning.

#![allow(unsafe_code)]

use crate::hw::far::Far;
use crate::hw::hdos::{self, Entry as DirEntry, Error};
use crate::hw::part::{Part, NAME};
use ssnail_shared::catalogue::{is_model_name, judge, Catalogue, Directory, Entry, Verdict, NAME_MAX, RECORD_LEN};
use ssnail_shared::config::Config;
use ssnail_shared::header::{HeaderError, DESCRIPTION_LEN};
use ssnail_shared::map::HEADER_LEN;
use ssnail_shared::mem::ReadMemory;
use ssnail_shared::work::VECTOR_MAX;

/// Models that the list holds.
const CAPACITY: u16 = 120;
const FOLDER: &[u8; 11] = b"SSNAIL     ";
const CONFIG: &[u8; 11] = b"CONFIG  TXT";

static mut LIST: [u8; CAPACITY as usize * RECORD_LEN as usize] = [0; CAPACITY as usize * RECORD_LEN as usize];

/// An empty list.
pub fn catalogue() -> Catalogue {
    // Only the address is taken: the list is reached through far memory.
    Catalogue::new((&raw const LIST) as u32, CAPACITY)
}

/// Goes to a folder of the card.
pub fn go_to(directory: Directory) -> Result<(), Error> {
    hdos::to_root()?;
    match directory {
        Directory::Root => Ok(()),
        Directory::Ssnail => hdos::enter(FOLDER),
    }
}

/// Fills the list from `/` and `/SSNAIL/`. A missing folder is no error.
pub fn scan(
    list: &mut Catalogue,
    memory_len: u32,
    computer: Option<Part>,
    mut progress: impl FnMut(u16),
) -> Result<(), Error> {
    list.clear();
    for directory in [Directory::Root, Directory::Ssnail] {
        match go_to(directory) {
            Ok(()) => {}
            Err(Error(0x88 | 0x87)) if directory == Directory::Ssnail => continue,
            Err(error) => return Err(error),
        }
        hdos::each_entry(|e| {
            let long = &e.long[..usize::from(e.long_len)];
            if e.attributes & 0x10 == 0 && is_model_name(long, &e.short) {
                let mut entry = unjudged(directory, e);
                look(&mut entry, memory_len, computer);
                let _ = list.add(&mut Far, &entry);
                progress(list.len());
            }
        })?;
    }
    hdos::close();
    Ok(())
}

#[inline(never)]
fn unjudged(directory: Directory, e: &DirEntry) -> Entry {
    let mut entry = Entry {
        directory,
        short: e.short,
        file_len: e.size,
        memory_needed: 0,
        milliseconds: 0,
        verdict: Verdict::Unreadable,
        name: [0; NAME_MAX],
        name_len: 0,
        description: [0; DESCRIPTION_LEN],
    };
    let mut push = |b: u8| {
        if usize::from(entry.name_len) < NAME_MAX {
            entry.name[usize::from(entry.name_len)] = if b.is_ascii_graphic() || b == b' ' { b } else { b'?' };
            entry.name_len += 1;
        }
    };
    if e.long_len > 0 {
        e.long[..usize::from(e.long_len)].iter().for_each(|b| push(*b));
    } else {
        for (i, b) in e.short.iter().enumerate() {
            if i == 8 && e.short[8] != b' ' {
                push(b'.');
            }
            if *b != b' ' {
                push(*b);
            }
        }
    }
    entry
}

/// Reads the header of the file whose entry was read last and judges it.
#[inline(never)]
fn look(entry: &mut Entry, memory_len: u32, computer: Option<Part>) {
    let opened = hdos::open_entry();
    match opened.and_then(|_| first_sector()) {
        Ok(bytes) => match judge(&bytes, entry.file_len, memory_len) {
            Ok((header, verdict)) => {
                entry.memory_needed = header.memory_needed;
                entry.description = header.description;
                entry.verdict = verdict;
                if let (Verdict::Fits, Some(computer)) = (verdict, computer) {
                    let (milliseconds, widest) = computer.estimate(&header);
                    entry.milliseconds = milliseconds;
                    if widest > VECTOR_MAX {
                        entry.verdict = Verdict::TooWide { elements: widest };
                    }
                }
            }
            Err(HeaderError { offset, .. }) => entry.verdict = Verdict::BadHeader { offset: offset as u8 },
        },
        Err(Error(0)) => entry.verdict = Verdict::WrongLength,
        Err(_) => entry.verdict = Verdict::Unreadable,
    }
    if let Ok(handle) = opened {
        hdos::close_file(handle);
    }
}

/// Opens the part that computes without the core, in `/SSNAIL/` or `/`.
#[inline(never)]
pub fn open_part() -> Result<(), Error> {
    let open = |directory| go_to(directory).and_then(|()| hdos::open(NAME));
    open(Directory::Ssnail).or_else(|_| open(Directory::Root))
}

/// Opens a listed file and reads its first sector into the buffer; gives the header. Code 0: shorter than a header.
pub fn read_header(entry: &Entry) -> Result<[u8; HEADER_LEN as usize], Error> {
    go_to(entry.directory)?;
    hdos::open(&entry.short)?;
    first_sector()
}

/// Reads the first sector of the open file; gives the header.
#[inline(never)]
fn first_sector() -> Result<[u8; HEADER_LEN as usize], Error> {
    let count = hdos::read()?;
    if u32::from(count) < HEADER_LEN {
        return Err(Error(0));
    }
    let mut bytes = [0; HEADER_LEN as usize];
    let _ = Far.read(hdos::BUFFER, &mut bytes);
    Ok(bytes)
}

/// Reads `/SSNAIL/CONFIG.TXT`, at most one sector of it; the defaults where it is absent. The number is of a bad line.
#[inline(never)]
pub fn config() -> (Config, Option<u16>) {
    let found = go_to(Directory::Ssnail).and_then(|()| hdos::open(CONFIG)).and_then(|()| hdos::read());
    let mut text = [0; hdos::SECTOR as usize];
    let count = usize::from(found.unwrap_or(0));
    let _ = Far.read(hdos::BUFFER, &mut text[..count]);
    hdos::close();
    Config::read(&text[..count])
}
