//! The models on a card: which files are models, what their headers say, and whether they fit this machine.

use core::fmt;

use crate::header::{DESCRIPTION_LEN, Header, HeaderError};
use crate::map::{HEADER_LEN, MEGABYTE};
use crate::mem::{Fault, Memory, ReadMemory};

/// Directories that are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Directory {
    /// The card's root.
    Root = 0,
    /// `/SSNAIL/`.
    Ssnail = 1,
}

/// Whether a directory entry is a model by its name: `.SSN` or `.SSNAIL` in any case.
/// `long` is empty where the entry has no long name; `short` is the 8.3 name padded with blanks.
#[must_use]
pub fn is_model_name(long: &[u8], short: &[u8; 11]) -> bool {
    let ends = |name: &[u8], tail: &[u8]| {
        name.len() > tail.len() && name[name.len() - tail.len()..].eq_ignore_ascii_case(tail)
    };
    if long.first() == Some(&b'.') {
        // Such as the ._ files that some systems leave beside every file.
        return false;
    }
    ends(long, b".ssn") || ends(long, b".ssnail") || (long.is_empty() && short[8..].eq_ignore_ascii_case(b"SSN"))
}

/// What the header of a file says about using it here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It can be loaded.
    Fits,
    /// It needs more memory than the machine has.
    TooBig,
    /// The file's length is not what its header states.
    WrongLength,
    /// Its header was refused: the place of the field in the file.
    BadHeader {
        /// Offset of the field.
        offset: u8,
    },
    /// The card could not be read.
    Unreadable,
    /// A vector is longer than what the processor computes without the core.
    TooWide {
        /// Elements of the longest.
        elements: u32,
    },
}

/// Looks at the first bytes of a file.
///
/// # Errors
/// What is wrong with the header.
pub fn judge(
    bytes: &[u8; HEADER_LEN as usize],
    file_len: u32,
    memory_len: u32,
) -> Result<(Header, Verdict), HeaderError> {
    let header = Header::parse(bytes)?;
    let verdict = if header.file_len() != file_len {
        Verdict::WrongLength
    } else if header.memory_needed > memory_len {
        Verdict::TooBig
    } else {
        Verdict::Fits
    };
    Ok((header, verdict))
}

/// A size in megabytes with one decimal place, rounded up, so that "needs 8.1 MB" never reads as 8.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Megabytes(pub u32);

impl Megabytes {
    /// Whole megabytes and tenths.
    #[must_use]
    pub const fn parts(self) -> (u32, u32) {
        let whole = self.0 / MEGABYTE;
        let rest = self.0 % MEGABYTE;
        let tenths = (rest * 10).div_ceil(MEGABYTE);
        if tenths == 10 { (whole + 1, 0) } else { (whole, tenths) }
    }
}

impl fmt::Display for Megabytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, tenths) = self.parts();
        write!(f, "{whole}.{tenths}")
    }
}

/// Bytes from one record to the next in the list's memory.
pub const RECORD_LEN: u32 = 256;
/// Longest name that is kept.
pub const NAME_MAX: usize = 63;

/// One model of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where it lies.
    pub directory: Directory,
    /// 8.3 name, padded with blanks: the name it is opened by.
    pub short: [u8; 11],
    /// Length of the file in bytes.
    pub file_len: u32,
    /// Memory that it needs, 0 where the header is bad.
    pub memory_needed: u32,
    /// What a token takes without the core; 0 where that is not known.
    pub milliseconds: u32,
    /// Whether it can be used.
    pub verdict: Verdict,
    /// Name to show; ASCII.
    pub name: [u8; NAME_MAX],
    /// Its length.
    pub name_len: u8,
    /// Description as in the header.
    pub description: [u8; DESCRIPTION_LEN],
}

impl Entry {
    /// The name to show.
    #[must_use]
    pub fn name(&self) -> &[u8] {
        &self.name[..usize::from(self.name_len).min(NAME_MAX)]
    }

    /// The description up to its zero.
    #[must_use]
    pub fn description(&self) -> &[u8] {
        let end = self.description.iter().position(|&b| b == 0).unwrap_or(DESCRIPTION_LEN);
        &self.description[..end]
    }

    fn encode(&self) -> [u8; RECORD_LEN as usize] {
        let mut r = [0; RECORD_LEN as usize];
        r[0] = self.directory as u8;
        let (code, offset) = match self.verdict {
            Verdict::Fits => (0, 0),
            Verdict::TooBig => (1, 0),
            Verdict::WrongLength => (2, 0),
            Verdict::BadHeader { offset } => (3, offset),
            Verdict::Unreadable => (4, 0),
            Verdict::TooWide { elements } => {
                r[92..96].copy_from_slice(&elements.to_le_bytes());
                (5, 0)
            }
        };
        r[88..92].copy_from_slice(&self.milliseconds.to_le_bytes());
        r[1] = code;
        r[2] = offset;
        r[3] = self.name_len;
        r[4..8].copy_from_slice(&self.file_len.to_le_bytes());
        r[8..12].copy_from_slice(&self.memory_needed.to_le_bytes());
        r[12..23].copy_from_slice(&self.short);
        r[24..24 + NAME_MAX].copy_from_slice(&self.name);
        r[RECORD_LEN as usize - DESCRIPTION_LEN..].copy_from_slice(&self.description);
        r
    }

    fn decode(r: &[u8; RECORD_LEN as usize]) -> Self {
        let word = |i: usize| u32::from_le_bytes([r[i], r[i + 1], r[i + 2], r[i + 3]]);
        let mut e = Self {
            directory: if r[0] == 0 { Directory::Root } else { Directory::Ssnail },
            short: [0; 11],
            file_len: word(4),
            memory_needed: word(8),
            milliseconds: word(88),
            verdict: match r[1] {
                0 => Verdict::Fits,
                1 => Verdict::TooBig,
                2 => Verdict::WrongLength,
                3 => Verdict::BadHeader { offset: r[2] },
                5 => Verdict::TooWide { elements: word(92) },
                _ => Verdict::Unreadable,
            },
            name: [0; NAME_MAX],
            name_len: r[3],
            description: [0; DESCRIPTION_LEN],
        };
        e.short.copy_from_slice(&r[12..23]);
        e.name.copy_from_slice(&r[24..24 + NAME_MAX]);
        e.description.copy_from_slice(&r[RECORD_LEN as usize - DESCRIPTION_LEN..]);
        e
    }
}

/// The list, kept sorted by name in some memory.
#[derive(Debug)]
pub struct Catalogue {
    base: u32,
    capacity: u16,
    len: u16,
    /// Models that found no room.
    dropped: u16,
}

impl Catalogue {
    /// An empty list; `base..base + capacity * RECORD_LEN` is its own.
    #[must_use]
    pub const fn new(base: u32, capacity: u16) -> Self {
        Self { base, capacity, len: 0, dropped: 0 }
    }

    /// Models in the list.
    #[must_use]
    pub const fn len(&self) -> u16 {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Models that found no room.
    #[must_use]
    pub const fn dropped(&self) -> u16 {
        self.dropped
    }

    /// Empties the list.
    pub fn clear(&mut self) {
        self.len = 0;
        self.dropped = 0;
    }

    fn address(&self, index: u16) -> u32 {
        self.base + u32::from(index) * RECORD_LEN
    }

    /// Adds a model in its place.
    ///
    /// # Errors
    /// The list's memory cannot be reached.
    pub fn add<M: Memory>(&mut self, memory: &mut M, entry: &Entry) -> Result<(), Fault> {
        if self.len == self.capacity {
            self.dropped += 1;
            return Ok(());
        }
        let mut at = self.len;
        let mut record = [0; RECORD_LEN as usize];
        while at > 0 {
            memory.read(self.address(at - 1), &mut record)?;
            if !before(entry.name(), Entry::decode(&record).name()) {
                break;
            }
            memory.write(self.address(at), &record)?;
            at -= 1;
        }
        memory.write(self.address(at), &entry.encode())?;
        self.len += 1;
        Ok(())
    }

    /// The model at a place.
    ///
    /// # Errors
    /// As [`Catalogue::add`]; a place that does not exist is a fault.
    pub fn get<M: ReadMemory>(&self, memory: &M, index: u16) -> Result<Entry, Fault> {
        let address = self.address(index);
        if index >= self.len {
            return Err(Fault { address, length: RECORD_LEN });
        }
        let mut record = [0; RECORD_LEN as usize];
        memory.read(address, &mut record)?;
        Ok(Entry::decode(&record))
    }

    /// The next model after `index`, round the end, whose name begins with this letter in either case.
    ///
    /// # Errors
    /// As [`Catalogue::add`].
    pub fn by_letter<M: ReadMemory>(&self, memory: &M, index: u16, letter: u8) -> Result<Option<u16>, Fault> {
        let mut i = 1;
        while i <= self.len {
            let at = (index + i) % self.len;
            let entry = self.get(memory, at)?;
            if entry.name().first().is_some_and(|b| b.eq_ignore_ascii_case(&letter)) {
                return Ok(Some(at));
            }
            i += 1;
        }
        Ok(None)
    }

    /// The model whose name (or 8.3 name) is this one, in either case, with or without its extension.
    ///
    /// # Errors
    /// As [`Catalogue::add`].
    pub fn by_name<M: ReadMemory>(&self, memory: &M, name: &[u8]) -> Result<Option<u16>, Fault> {
        let mut i = 0;
        while i < self.len {
            let entry = self.get(memory, i)?;
            if names_match(&entry, name) {
                return Ok(Some(i));
            }
            i += 1;
        }
        Ok(None)
    }
}

fn names_match(entry: &Entry, name: &[u8]) -> bool {
    let stem = |n: &[u8]| n.iter().rposition(|&b| b == b'.').unwrap_or(n.len());
    let own = entry.name();
    let base = entry.short[..8].iter().position(|&b| b == b' ').unwrap_or(8);
    own.eq_ignore_ascii_case(name)
        || own[..stem(own)].eq_ignore_ascii_case(name)
        || entry.short[..base].eq_ignore_ascii_case(&name[..stem(name)])
}

/// Whether one name sorts before another, case aside.
fn before(a: &[u8], b: &[u8]) -> bool {
    let mut i = 0;
    while i < a.len() && i < b.len() {
        let (x, y) = (a[i].to_ascii_lowercase(), b[i].to_ascii_lowercase());
        if x != y {
            return x < y;
        }
        i += 1;
    }
    a.len() < b.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mem::SliceMemory;
    use crate::rng::Rng;

    fn entry(name: &str) -> Entry {
        let mut e = Entry {
            directory: Directory::Ssnail,
            short: *b"XXXXXXXXSSN",
            file_len: 1000,
            milliseconds: 1_234,
            memory_needed: 2000,
            verdict: Verdict::BadHeader { offset: 0x20 },
            name: [0; NAME_MAX],
            name_len: name.len() as u8,
            description: [0; DESCRIPTION_LEN],
        };
        e.name[..name.len()].copy_from_slice(name.as_bytes());
        e.description[..3].copy_from_slice(b"abc");
        e
    }

    #[test]
    fn names_of_models() {
        let none: &[u8; 11] = b"FOO     TXT";
        for name in ["foo.ssn", "FOO.SSN", "foo.8mb.ssnail", "Foo.SSNAIL"] {
            assert!(is_model_name(name.as_bytes(), none), "{name}");
        }
        for name in ["foo.txt", ".ssn", "ssn", "._foo.ssn", "foo.ssnail.gz"] {
            assert!(!is_model_name(name.as_bytes(), none), "{name}");
        }
        assert!(is_model_name(b"", b"FOO     SSN"));
    }

    #[test]
    fn the_list_is_sorted_and_found_by_letter_and_name() {
        let mut rng = Rng::new(2);
        let mut memory = SliceMemory::new(0x40000, vec![0; 130 * RECORD_LEN as usize]);
        let mut list = Catalogue::new(0x40000, 120);
        let mut names = Vec::new();
        for i in 0..125 {
            let name = format!("{}{}.SSN", char::from(b'A' + (rng.next_u32() % 26) as u8), rng.next_u32() % 1000 + i);
            if i < 120 {
                names.push(name.clone());
            }
            list.add(&mut memory, &entry(&name)).unwrap();
        }
        names.sort();
        assert_eq!((list.len(), list.dropped()), (120, 5));
        for (i, name) in names.iter().enumerate() {
            assert_eq!(list.get(&memory, i as u16).unwrap(), entry(name));
        }
        let first = names.iter().position(|n| n.starts_with('K'));
        assert_eq!(list.by_letter(&memory, 119, b'k').unwrap(), first.map(|i| i as u16));
        assert_eq!(list.by_letter(&memory, 0, b'!').unwrap(), None);
        assert_eq!(list.by_name(&memory, names[77].to_lowercase().as_bytes()).unwrap(), Some(77));
        assert_eq!(list.by_name(&memory, names[77].trim_end_matches(".SSN").as_bytes()).unwrap(), Some(77));
        assert!(list.get(&memory, 120).is_err());
    }

    #[test]
    fn sizes_are_never_shown_too_small() {
        assert_eq!(Megabytes(8 * MEGABYTE).to_string(), "8.0");
        assert_eq!(Megabytes(8 * MEGABYTE + 1).to_string(), "8.1");
        assert_eq!(Megabytes(9 * MEGABYTE - 1).to_string(), "9.0");
        assert_eq!(Megabytes(1).to_string(), "0.1");
    }
}
