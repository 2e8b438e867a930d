//! Directory entries: 32 bytes, and the long names stored in further entries before them.

use super::upper;
use std::fmt;
use std::time::{Duration, SystemTime};

/// Attribute bits of an entry (FAT specification, section 6).
pub mod attribute {
    /// Not to be written.
    pub const READ_ONLY: u8 = 0x01;
    /// Not shown; HYPPO skips it.
    pub const HIDDEN: u8 = 0x02;
    /// Belongs to the system; HYPPO skips it.
    pub const SYSTEM: u8 = 0x04;
    /// The volume's name, no file.
    pub const VOLUME: u8 = 0x08;
    /// A folder.
    pub const DIRECTORY: u8 = 0x10;
    /// Changed since the last backup.
    pub const ARCHIVE: u8 = 0x20;
    /// All four lowest bits: a piece of a long name.
    pub const LONG_NAME: u8 = 0x0F;
    /// The bits that decide whether it is a piece of a long name.
    pub const LONG_NAME_MASK: u8 = 0x3F;
}

/// Bytes in a directory entry.
pub(super) const ENTRY_BYTES: usize = 32;
/// First byte of a deleted entry.
pub(super) const DELETED: u8 = 0xE5;
/// Stands for $E5 as the first letter of a name.
const E5_ALIAS: u8 = 0x05;
/// Letters of a long name in one entry.
pub(super) const LONG_PIECE: usize = 13;
/// Offsets of those letters.
const LONG_AT: [usize; LONG_PIECE] = [1, 3, 5, 7, 9, 14, 16, 18, 20, 22, 24, 28, 30];
/// Marks the last piece, which comes first on the card.
const LONG_LAST: u8 = 0x40;
/// Most letters of a long name.
pub(super) const LONG_MAX: usize = 255;

/// Bits of byte 12 by which Windows NT says "lower case" without a long name.
const NT_LOWER_BASE: u8 = 0x08;
const NT_LOWER_EXTENSION: u8 = 0x10;

/// A long name as stored: UTF-16, at most 255 units, not always valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LongName(pub Vec<u16>);

impl LongName {
    /// The lowest byte of each unit, which is all that HYPPO keeps of a long name.
    pub fn low_bytes(&self) -> impl Iterator<Item = u8> + '_ {
        self.0.iter().map(|&u| u.to_le_bytes()[0])
    }
}

impl fmt::Display for LongName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf16_lossy(&self.0))
    }
}

/// A time as FAT stores it: two seconds' resolution, 1980 to 2107, no time zone (UTC is used here).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp {
    /// Year since 1980 in bits 9-15, month in bits 5-8, day in bits 0-4.
    pub date: u16,
    /// Hour in bits 11-15, minute in bits 5-10, seconds / 2 in bits 0-4.
    pub time: u16,
}

impl Stamp {
    /// The first moment FAT knows: 1 January 1980.
    pub const EPOCH: Self = Self { date: 0x21, time: 0 };

    /// From the year, month (1-12), day (1-31), hour, minute and second; out of FAT's range it is clamped.
    #[must_use]
    pub fn new(year: u16, month: u16, day: u16, hour: u16, minute: u16, second: u16) -> Self {
        let year = year.clamp(1980, 2107) - 1980;
        Self {
            date: year << 9 | month.clamp(1, 12) << 5 | day.clamp(1, 31),
            time: hour.min(23) << 11 | minute.min(59) << 5 | (second.min(59) / 2),
        }
    }

    /// Year, month, day, hour, minute, second.
    #[must_use]
    pub fn parts(self) -> [u16; 6] {
        let (d, t) = (self.date, self.time);
        [1980 + (d >> 9), d >> 5 & 15, d & 31, t >> 11, t >> 5 & 63, (t & 31) * 2]
    }
}

impl From<SystemTime> for Stamp {
    fn from(t: SystemTime) -> Self {
        let secs = t.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
        let (days, rest) = (secs / 86_400, secs % 86_400);
        // Years run from March here, so that the leap day is the last of its year.
        let z = days + 719_468;
        let era = z / 146_097;
        let doe = z % 146_097;
        let yoe = (doe - doe / 1_460 + doe / 36_524 - doe / 146_096) / 365;
        let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
        let mp = (5 * doy + 2) / 153;
        let day = doy - (153 * mp + 2) / 5 + 1;
        let month = if mp < 10 { mp + 3 } else { mp - 9 };
        let year = yoe + era * 400 + u64::from(month <= 2);
        if year < 1980 {
            return Self::EPOCH;
        }
        let small = |n: u64| u16::try_from(n).unwrap_or(u16::MAX);
        Self::new(small(year), small(month), small(day), small(rest / 3600), small(rest / 60 % 60), small(rest % 60))
    }
}

/// A file, folder or volume label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Name and extension as stored: 8 + 3 bytes, padded with blanks.
    pub short: [u8; 11],
    /// Long name, if a valid one belongs to the entry.
    pub long: Option<LongName>,
    /// Bits of [`attribute`].
    pub attributes: u8,
    /// Byte 12 of the entry: Windows NT's lower-case bits.
    pub nt_case: u8,
    /// First cluster, 0 for an empty file. Not checked.
    pub first_cluster: u32,
    /// Bytes of a file; 0 for folders.
    pub size: u32,
    /// Time of the last change.
    pub modified: Stamp,
    /// Sector of the device and offset in it where the entry stands.
    pub location: (u32, u16),
}

impl Entry {
    /// Decodes the 32 bytes of an entry that is neither deleted nor a piece of a long name.
    #[must_use]
    pub(super) fn decode(raw: &[u8; ENTRY_BYTES], long: Option<LongName>, location: (u32, u16)) -> Self {
        let word = |at: usize| u16::from_le_bytes([raw[at], raw[at + 1]]);
        let mut short = [0; 11];
        short.copy_from_slice(&raw[..11]);
        if short[0] == E5_ALIAS {
            short[0] = DELETED;
        }
        Self {
            short,
            long,
            attributes: raw[11],
            nt_case: raw[12],
            first_cluster: (u32::from(word(20)) << 16 | u32::from(word(26))) & 0x0FFF_FFFF,
            size: u32::from_le_bytes([raw[28], raw[29], raw[30], raw[31]]),
            modified: Stamp { date: word(24), time: word(22) },
            location,
        }
    }

    /// Encodes the entry itself, without its long name.
    #[must_use]
    pub(super) fn encode(&self) -> [u8; ENTRY_BYTES] {
        let mut raw = [0; ENTRY_BYTES];
        raw[..11].copy_from_slice(&self.short);
        if raw[0] == DELETED {
            raw[0] = E5_ALIAS;
        }
        raw[11] = self.attributes;
        raw[12] = self.nt_case;
        let Stamp { date, time } = self.modified;
        raw[14..16].copy_from_slice(&time.to_le_bytes());
        raw[16..18].copy_from_slice(&date.to_le_bytes());
        raw[18..20].copy_from_slice(&date.to_le_bytes());
        raw[22..24].copy_from_slice(&time.to_le_bytes());
        raw[24..26].copy_from_slice(&date.to_le_bytes());
        let cluster = self.first_cluster.to_le_bytes();
        raw[26..28].copy_from_slice(&cluster[..2]);
        raw[20..22].copy_from_slice(&cluster[2..]);
        raw[28..].copy_from_slice(&self.size.to_le_bytes());
        raw
    }

    /// Whether it is a folder.
    #[must_use]
    pub fn is_directory(&self) -> bool {
        self.attributes & (attribute::DIRECTORY | attribute::VOLUME) == attribute::DIRECTORY
    }

    /// Whether it is a file.
    #[must_use]
    pub fn is_file(&self) -> bool {
        self.attributes & (attribute::DIRECTORY | attribute::VOLUME) == 0
    }

    /// Whether it is the volume's name.
    #[must_use]
    pub fn is_volume_label(&self) -> bool {
        self.attributes & attribute::VOLUME != 0
    }

    /// Whether it is "." or "..".
    #[must_use]
    pub fn is_dot(&self) -> bool {
        self.short == *b".          " || self.short == *b"..         "
    }

    /// The 8.3 name with its dot, for example `FOO.SSN`. Bytes beyond ASCII show as U+FFFD.
    #[must_use]
    pub fn short_name(&self) -> String {
        short_name_text(&self.short)
    }

    /// The name to show: the long one, otherwise the 8.3 name with NT's lower case.
    #[must_use]
    pub fn name(&self) -> String {
        if let Some(long) = &self.long {
            return long.to_string();
        }
        let mut short = self.short;
        if self.nt_case & NT_LOWER_BASE != 0 {
            short[..8].make_ascii_lowercase();
        }
        if self.nt_case & NT_LOWER_EXTENSION != 0 {
            short[8..].make_ascii_lowercase();
        }
        short_name_text(&short)
    }

    /// Whether `name` is this entry's long or short name, upper and lower case being the same.
    #[must_use]
    pub fn is_named(&self, name: &str) -> bool {
        let name = upper(name);
        self.long.as_ref().is_some_and(|l| upper(&l.to_string()) == name) || upper(&self.short_name()) == name
    }
}

/// An 8.3 name with its dot.
#[must_use]
pub fn short_name_text(short: &[u8; 11]) -> String {
    let text = |bytes: &[u8]| -> String {
        let end = bytes.iter().rposition(|&b| b != b' ').map_or(0, |i| i + 1);
        bytes.iter().take(end).map(|&b| if matches!(b, 0x20..=0x7E) { char::from(b) } else { '\u{FFFD}' }).collect()
    };
    let (base, extension) = (text(&short[..8]), text(&short[8..]));
    if extension.is_empty() { base } else { format!("{base}.{extension}") }
}

/// The sum by which the pieces of a long name know their entry.
pub(super) fn short_checksum(short: &[u8]) -> u8 {
    short.iter().fold(0u8, |sum, &b| sum.rotate_right(1).wrapping_add(b))
}

/// The entries that carry a long name, in the order in which they stand on the card.
pub(super) fn encode_long(name: &[u16], short: &[u8; 11]) -> Vec<[u8; ENTRY_BYTES]> {
    let sum = short_checksum(short);
    let pieces = name.len().div_ceil(LONG_PIECE);
    (0..pieces)
        .rev()
        .map(|piece| {
            let mut raw = [0; ENTRY_BYTES];
            let last = if piece + 1 == pieces { LONG_LAST } else { 0 };
            raw[0] = u8::try_from(piece + 1).unwrap_or(0) | last;
            raw[11] = attribute::LONG_NAME;
            raw[13] = sum;
            for (i, at) in (piece * LONG_PIECE..).zip(LONG_AT) {
                let unit = match name.get(i) {
                    Some(&u) => u,
                    None if i == name.len() => 0,
                    None => 0xFFFF,
                };
                raw[at..at + 2].copy_from_slice(&unit.to_le_bytes());
            }
            raw
        })
        .collect()
}

/// Puts the pieces of a long name together as they come by.
#[derive(Debug, Clone, Default)]
pub(super) struct LongAssembler {
    /// Units so far, filled from the end; empty when no name is under way.
    units: Vec<u16>,
    /// Number of the piece that has to come next; 0 when the name is complete.
    expected: u8,
    sum: u8,
    active: bool,
}

impl LongAssembler {
    /// Takes one piece. Returns false when pieces were dropped because they do not belong together.
    pub fn piece(&mut self, raw: &[u8; ENTRY_BYTES]) -> bool {
        let order = raw[0] & !LONG_LAST;
        let starts = raw[0] & LONG_LAST != 0;
        let clean = !(starts && self.active);
        if starts {
            *self = Self::default();
            if order == 0 || usize::from(order) > LONG_MAX.div_ceil(LONG_PIECE) {
                return false;
            }
            self.units = vec![0xFFFF; usize::from(order) * LONG_PIECE];
            (self.expected, self.sum, self.active) = (order, raw[13], true);
        } else if !self.active || order != self.expected || raw[13] != self.sum {
            *self = Self::default();
            return false;
        }
        let from = usize::from(self.expected - 1) * LONG_PIECE;
        for (unit, at) in self.units.iter_mut().skip(from).zip(LONG_AT) {
            *unit = u16::from_le_bytes([raw[at], raw[at + 1]]);
        }
        self.expected -= 1;
        clean
    }

    /// Takes the name for the entry that follows its pieces. The second value is false when pieces were
    /// dropped because they do not belong to it.
    pub fn finish(&mut self, short: &[u8]) -> (Option<LongName>, bool) {
        let Self { mut units, expected, sum, active } = std::mem::take(self);
        if !active {
            return (None, true);
        }
        if expected != 0 || sum != short_checksum(short) {
            return (None, false);
        }
        if let Some(end) = units.iter().position(|&u| u == 0) {
            units.truncate(end);
        }
        let usable = !units.is_empty() && units.len() <= LONG_MAX;
        (usable.then_some(LongName(units)), usable)
    }

    /// Forgets the name under way; true when there was one.
    pub fn drop_pending(&mut self) -> bool {
        std::mem::take(self).active
    }
}
