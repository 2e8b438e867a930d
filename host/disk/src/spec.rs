//! What is typed on the command line: sizes, and files with the names they are to get.

use crate::block::SECTOR;
use crate::d81::{FileType, NameError, NameUse, PetsciiName, name_from_host};
use crate::fat::{FatError, card_name_from_host};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Smallest card: fewer sectors do not make FAT32.
const SMALLEST: u64 = 64 << 20;
/// Largest card: what SDHC can be.
const LARGEST: u64 = 32 << 30;
/// The capacity of an SDHC card is a multiple of this.
const GRAIN: u64 = 512 << 10;
/// Where models and the settings are looked for.
const MODEL_FOLDER: &str = "/SSNAIL";

/// Why an argument is not usable.
#[derive(Debug, thiserror::Error)]
pub enum SpecError {
    /// No size.
    #[error("\"{text}\" is no size; write for example 512M or 4G (M = 1024 K, G = 1024 M)")]
    Size {
        /// What was typed.
        text: String,
    },
    /// A size that no card has.
    #[error("a card of {text} is not possible: 64M to 32G, in steps of 512K")]
    CardSize {
        /// What was typed.
        text: String,
    },
    /// A cluster size that FAT does not have.
    #[error("a cluster of {text} is not possible: 512 bytes to 64K, doubling")]
    ClusterSize {
        /// What was typed.
        text: String,
    },
    /// A file without a name.
    #[error("\"{arg}\": no file is named before the \"=\"")]
    NoFile {
        /// What was typed.
        arg: String,
    },
    /// A type that is not one.
    #[error("\"{arg}\": \"{kind}\" is no type of file; use PRG, SEQ, USR or DEL after the comma")]
    Type {
        /// What was typed.
        arg: String,
        /// The letters after the comma.
        kind: String,
    },
    /// A name that a D81 cannot hold.
    #[error("\"{arg}\": {source}")]
    DiskName {
        /// What was typed.
        arg: String,
        /// Why not.
        source: NameError,
    },
    /// A name that a card cannot hold.
    #[error(transparent)]
    CardName(#[from] FatError),
}

/// Bytes of a size such as `64M`, `1G` or `4096`; `K`, `M` and `G` are powers of 1024.
fn bytes(text: &str) -> Option<u64> {
    let lower = text.trim().to_ascii_lowercase();
    let digits = lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let scale = match lower.get(digits.len()..)? {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(scale)
}

/// Sectors of a card from a size such as `1G`.
///
/// # Errors
/// [`SpecError::Size`] and [`SpecError::CardSize`].
pub fn card_size(text: &str) -> Result<u32, SpecError> {
    let size = bytes(text).ok_or_else(|| SpecError::Size { text: text.to_owned() })?;
    if !(SMALLEST..=LARGEST).contains(&size) || !size.is_multiple_of(GRAIN) {
        return Err(SpecError::CardSize { text: text.to_owned() });
    }
    u32::try_from(size / SECTOR as u64).map_err(|_| SpecError::CardSize { text: text.to_owned() })
}

/// Sectors of a cluster from a size such as `4K`.
///
/// # Errors
/// [`SpecError::Size`] and [`SpecError::ClusterSize`].
pub fn cluster_size(text: &str) -> Result<u32, SpecError> {
    let size = bytes(text).ok_or_else(|| SpecError::Size { text: text.to_owned() })?;
    match u32::try_from(size / SECTOR as u64) {
        Ok(sectors) if size.is_multiple_of(SECTOR as u64) && sectors.is_power_of_two() && sectors <= 128 => Ok(sectors),
        _ => Err(SpecError::ClusterSize { text: text.to_owned() }),
    }
}

/// Sectors of a card with room for so many bytes of files and as much again, at least 1 GB; `None` when no
/// card is large enough.
#[must_use]
pub fn card_size_for(bytes: u64) -> Option<u32> {
    // One percent and a megabyte cover tables, folders and the last clusters of many files.
    let needed = bytes.checked_add(bytes / 100)?.checked_add(1 << 20)?;
    let size = bytes.checked_mul(2)?.clamp(1 << 30, LARGEST).next_power_of_two();
    (needed <= size).then(|| u32::try_from(size / SECTOR as u64).ok()).flatten()
}

/// Splits `FILE=REST`. An argument that names an existing file is all file, whatever it contains.
fn split(arg: &OsStr) -> Result<(Option<PathBuf>, Option<String>), SpecError> {
    let path = Path::new(arg);
    match arg.to_str().and_then(|s| s.rsplit_once('=')) {
        Some((file, rest)) if !path.exists() => {
            Ok(((!file.is_empty()).then(|| PathBuf::from(file)), Some(rest.to_owned())))
        }
        _ => Ok((Some(path.to_path_buf()), None)),
    }
}

/// Name of a file without its folder.
fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn extension(name: &str) -> String {
    name.rsplit_once('.').map_or_else(String::new, |(_, e)| e.to_ascii_lowercase())
}

/// Whether a file is an image of a model, by its extension.
#[must_use]
pub fn is_model(path: &Path) -> bool {
    matches!(extension(&file_name(path)).as_str(), "ssnail" | "ssn")
}

/// Whether a file is a D81 image, by its extension.
#[must_use]
pub fn is_d81(path: &Path) -> bool {
    extension(&file_name(path)) == "d81"
}

/// `FILE[=PATH]`: a file and where it goes on the card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardItem {
    /// The file on the host.
    pub file: PathBuf,
    /// Its path on the card, beginning with `/`.
    pub path: String,
}

impl CardItem {
    /// Parses an argument. Without `=PATH`, models and CONFIG.TXT go to `/SSNAIL`, everything else to `/`;
    /// a PATH that ends in `/` is a folder.
    ///
    /// # Errors
    /// [`SpecError`].
    pub fn parse(arg: &OsStr) -> Result<Self, SpecError> {
        let (file, path) = split(arg)?;
        let file = file.ok_or_else(|| SpecError::NoFile { arg: arg.to_string_lossy().into_owned() })?;
        let own = card_name_from_host(&file_name(&file));
        let path = match path {
            None if is_model(&file) || own.eq_ignore_ascii_case("config.txt") => format!("{MODEL_FOLDER}/{own}"),
            None => format!("/{own}"),
            Some(p) if p.is_empty() || p.ends_with(['/', '\\']) => format!("/{}/{own}", p.trim_matches(['/', '\\'])),
            Some(p) => format!("/{}", p.trim_start_matches(['/', '\\'])),
        };
        let path = path.replace('\\', "/").replace("//", "/");
        for part in path.split('/').filter(|p| !p.is_empty()) {
            crate::fat::check_long_name(part)?;
        }
        Ok(Self { file, path })
    }
}

/// `FILE[=NAME][,TYPE]`, or `=NAME` for a line of the directory without a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskItem {
    /// The file on the host; `None` for a line without a file.
    pub file: Option<PathBuf>,
    /// Its name on the disk.
    pub name: PetsciiName,
    /// Its type.
    pub kind: FileType,
}

impl DiskItem {
    /// Parses an argument. Without `=NAME` the name is made from that of the file, without `.prg`, `.seq` and
    /// `.usr`; without a type, `.seq`, `.txt`, `.cfg` and models are SEQ, `.usr` is USR and all else PRG.
    ///
    /// # Errors
    /// [`SpecError`].
    pub fn parse(arg: &OsStr) -> Result<Self, SpecError> {
        let text = || arg.to_string_lossy().into_owned();
        let (file, rest) = split(arg)?;
        let (name, kind) = match rest.as_deref().map(|r| r.rsplit_once(',').map_or((r, None), |(n, k)| (n, Some(k)))) {
            None => (None, None),
            Some((name, None)) => (Some(name), None),
            Some((name, Some(kind))) => {
                let known = FileType::from_letters(kind.trim())
                    .ok_or_else(|| SpecError::Type { arg: text(), kind: kind.to_owned() })?;
                (Some(name), Some(known))
            }
        };
        let name = name.filter(|n| !n.is_empty());
        let bad_name = |source| SpecError::DiskName { arg: text(), source };
        let Some(file) = file else {
            if !matches!(kind, None | Some(FileType::Del)) {
                return Err(SpecError::NoFile { arg: text() });
            }
            let name = PetsciiName::new(name.unwrap_or(""), NameUse::Decoration).map_err(bad_name)?;
            return Ok(Self { file: None, name, kind: FileType::Del });
        };
        let own = file_name(&file);
        let (stem, by_name) = match extension(&own).as_str() {
            "prg" => (own.len() - 4, FileType::Prg),
            "seq" => (own.len() - 4, FileType::Seq),
            "usr" => (own.len() - 4, FileType::Usr),
            "txt" | "cfg" | "ssnail" | "ssn" => (own.len(), FileType::Seq),
            _ => (own.len(), FileType::Prg),
        };
        let name = match name {
            Some(name) => PetsciiName::new(name, NameUse::File).map_err(bad_name)?,
            None => name_from_host(own.get(..stem).filter(|s| !s.is_empty()).unwrap_or(&own)),
        };
        Ok(Self { file: Some(file), name, kind: kind.unwrap_or(by_name) })
    }
}

/// The name under which something from a disk or card is written to the host: characters that some system
/// does not allow become `_`, and it is never empty, hidden, or a folder's own or parent's name.
#[must_use]
pub fn host_name(name: &str) -> String {
    let clean: String =
        name.chars().map(|c| if c.is_control() || "/\\:*?\"<>|\u{FFFD}".contains(c) { '_' } else { c }).collect();
    let clean = clean.trim_end_matches([' ', '.']).trim_start();
    match clean.strip_prefix('.') {
        Some(rest) => format!("_{rest}"),
        None if clean.is_empty() => "_".to_owned(),
        None => clean.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(card_size("1G").unwrap(), 1 << 21);
        assert_eq!(card_size("64m").unwrap(), 1 << 17);
        assert_eq!(card_size("32 GiB".replace(' ', "").as_str()).unwrap(), 1 << 26);
        assert_eq!(card_size("67108864").unwrap(), 1 << 17);
        for bad in ["", "G", "1.5G", "-1G", "1T", "99999999999999999999G", "18446744073709551615G"] {
            assert!(matches!(card_size(bad), Err(SpecError::Size { .. })), "{bad}");
        }
        for bad in ["0", "63M", "33G", "65537K", "17179869183G"] {
            assert!(matches!(card_size(bad), Err(SpecError::CardSize { .. })), "{bad}");
        }
        assert_eq!(cluster_size("4K").unwrap(), 8);
        assert_eq!(cluster_size("512").unwrap(), 1);
        for bad in ["0", "513", "3K", "128K"] {
            assert!(matches!(cluster_size(bad), Err(SpecError::ClusterSize { .. })), "{bad}");
        }
        assert_eq!(card_size_for(0), Some(1 << 21));
        assert_eq!(card_size_for(600 << 20), Some(1 << 22));
        assert_eq!(card_size_for(31 << 30), Some(1 << 26));
        assert_eq!(card_size_for(32 << 30), None);
        assert_eq!(card_size_for(u64::MAX), None);
    }

    #[test]
    fn where_files_go_on_a_card() {
        let path = |arg: &str| CardItem::parse(OsStr::new(arg)).map(|i| (i.file.display().to_string(), i.path));
        let is = |arg: &str, file: &str, on_card: &str| {
            assert_eq!(path(arg).unwrap(), (file.to_owned(), on_card.to_owned()));
        };
        is("x/foo.ssnail", "x/foo.ssnail", "/SSNAIL/foo.ssnail");
        is("config.txt", "config.txt", "/SSNAIL/config.txt");
        is("x/SSNAIL.D81", "x/SSNAIL.D81", "/SSNAIL.D81");
        is("a=/B/C.D", "a", "/B/C.D");
        is("a=B\\C.D", "a", "/B/C.D");
        is("a.x=/B/", "a.x", "/B/a.x");
        is("a.x=", "a.x", "/a.x");
        is("a=b=c", "a=b", "/c");
        assert!(matches!(path("=/x"), Err(SpecError::NoFile { .. })));
        assert!(matches!(path("a=/x:y"), Err(SpecError::CardName(_))));
        assert!(matches!(path("a=/../y"), Err(SpecError::CardName(_))));
    }

    #[test]
    fn what_files_are_called_on_a_disk() {
        let item = |arg: &str| DiskItem::parse(OsStr::new(arg)).map(|i| (i.name.to_string(), i.kind));
        let is = |arg: &str, name: &str, kind: FileType| assert_eq!(item(arg).unwrap(), (name.to_owned(), kind));
        is("x/ssnail.prg", "SSNAIL", FileType::Prg);
        is("README.txt", "README.TXT", FileType::Seq);
        is("autoboot.c65", "AUTOBOOT.C65", FileType::Prg);
        is("foo.ssnail", "FOO.SSN", FileType::Seq);
        is("foo.ssnail=model,prg", "MODEL", FileType::Prg);
        is("foo.seq=,USR", "FOO", FileType::Usr);
        is("foo=bar", "BAR", FileType::Prg);
        is(".prg", ".PRG", FileType::Prg);
        is("=--------", "--------", FileType::Del);
        assert!(DiskItem::parse(OsStr::new("=--")).unwrap().file.is_none());
        assert!(matches!(item("=x,prg"), Err(SpecError::NoFile { .. })));
        assert!(matches!(item("foo=a,b"), Err(SpecError::Type { .. })));
        assert!(matches!(item("foo=a:b"), Err(SpecError::DiskName { .. })));
        assert!(matches!(item("foo=seventeen letters,seq"), Err(SpecError::DiskName { .. })));
    }

    #[test]
    fn names_for_the_host_stay_in_their_folder() {
        assert_eq!(host_name("../x"), "_._x");
        assert_eq!(host_name(".."), "_");
        assert_eq!(host_name("a/b\\c:d*"), "a_b_c_d_");
        assert_eq!(host_name(""), "_");
        assert_eq!(host_name("README.TXT"), "README.TXT");
    }
}
