//! Files in and out: `-` is standard input or output, an output file is whole or absent.

use crate::exit::refused;
use crate::{interrupt, out};
use anyhow::{Context, Result, bail};
use std::fs::{self, File, Permissions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// Nothing that is read whole is longer: an image fills at most the 128 MB that the emulator has.
const MOST: u64 = 129 << 20;

/// Opens a file; `-` is standard input.
///
/// # Errors
/// The file cannot be opened; the message names it.
pub fn open(path: &Path) -> Result<Box<dyn Read>> {
    if is_dash(path) {
        return Ok(Box::new(io::stdin().lock()));
    }
    Ok(Box::new(File::open(path).with_context(|| format!("cannot read {}", path.display()))?))
}

/// Reads a whole file, of a pipe or a device no more than it can need; `-` reads standard input.
///
/// # Errors
/// The file cannot be read, or does not end; the message names it.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    read_on(open(path)?, path)
}

/// As [`read`], of a file that is open already.
///
/// # Errors
/// As [`read`].
pub fn read_on(reader: impl Read, path: &Path) -> Result<Vec<u8>> {
    ssnail_gguf::read_to_limit(reader, MOST).with_context(|| format!("cannot read {}", name(path)))
}

/// How messages call an input.
pub fn name(path: &Path) -> String {
    if is_dash(path) { "standard input".to_owned() } else { path.display().to_string() }
}

/// Reads a whole text file; `-` reads standard input.
///
/// # Errors
/// The file cannot be read or is not UTF-8; the message names it.
pub fn read_text(path: &Path) -> Result<String> {
    String::from_utf8(read(path)?).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        refused(format_args!("{} is not UTF-8 text: wrong byte at offset {at}", name(path)))
    })
}

/// True for `-`, standard input or output.
pub fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// An output that appears under its name only when [`Output::commit`] is called.
#[derive(Debug)]
pub struct Output {
    target: Target,
}

#[derive(Debug)]
enum Target {
    Stdout(out::Stdout),
    /// A pipe or device (`/dev/null`, a FIFO): nothing to rename onto.
    Direct(File, PathBuf),
    Temporary(NamedTempFile, PathBuf, interrupt::Litter),
}

impl Output {
    /// Opens an output for `path`; `-` is standard output.
    ///
    /// # Errors
    /// The folder does not exist or cannot be written; the message names the path.
    pub fn create(path: &Path) -> Result<Self> {
        if is_dash(path) {
            return Ok(Self { target: Target::Stdout(out::stdout()) });
        }
        let cannot = || format!("cannot write {}", path.display());
        let real = behind_links(path).with_context(cannot)?;
        if let Ok(meta) = fs::metadata(&real) {
            if meta.is_dir() {
                bail!("{}: it is a folder", cannot());
            }
            if !meta.is_file() {
                let file = File::options().write(true).open(&real).with_context(cannot)?;
                return Ok(Self { target: Target::Direct(file, real) });
            }
        }
        let folder = match real.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let mut builder = Builder::new();
        builder.prefix(".ssnail-").suffix(".partial");
        let permissions = ordinary_permissions(&real);
        if let Some(permissions) = permissions {
            builder.permissions(permissions);
        }
        let made = interrupt::Litter::make(|| builder.tempfile_in(folder));
        let (file, litter) = made.map_err(|error| unnamed(&error)).with_context(cannot)?;
        Ok(Self { target: Target::Temporary(file, real, litter) })
    }

    /// The file behind, to be written at any place; `None` for standard output, pipes and devices.
    pub fn file(&self) -> Option<&File> {
        match &self.target {
            Target::Temporary(file, ..) => Some(file.as_file()),
            Target::Stdout(_) | Target::Direct(..) => None,
        }
    }

    /// Makes the output appear under its name, replacing what was there.
    ///
    /// # Errors
    /// The disk is full or the folder went away; then nothing appears.
    pub fn commit(self) -> Result<()> {
        match self.target {
            Target::Stdout(mut stdout) => Ok(stdout.flush()?),
            Target::Direct(mut file, path) => file.flush().with_context(|| format!("cannot write {}", path.display())),
            Target::Temporary(file, path, litter) => {
                let cannot = || format!("cannot write {}", path.display());
                file.as_file().sync_all().with_context(cannot)?;
                file.persist(&path).map_err(|error| error.error).with_context(cannot)?;
                drop(litter);
                Ok(())
            }
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.target {
            Target::Stdout(stdout) => stdout.write(bytes).map_err(|error| shortened(&error).unwrap_or(error)),
            Target::Direct(file, path) => file.write(bytes).map_err(|error| named(&error, path)),
            Target::Temporary(file, path, _) => file.write(bytes).map_err(|error| named(&error, path)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.target {
            Target::Stdout(stdout) => stdout.flush(),
            Target::Direct(file, path) => file.flush().map_err(|error| named(&error, path)),
            Target::Temporary(file, path, _) => file.flush().map_err(|error| named(&error, path)),
        }
    }
}

/// A symbolic link stays one: what it points at is replaced, or made where there is nothing yet.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    // As many as Linux follows.
    const LINKS: u32 = 40;
    let mut real = path.to_path_buf();
    for _ in 0..LINKS {
        if let Ok(there) = fs::canonicalize(&real) {
            return Ok(there);
        }
        match fs::read_link(&real) {
            Ok(target) => real = real.parent().unwrap_or(Path::new("")).join(target),
            Err(_) => return Ok(real),
        }
    }
    Err(io::Error::other("its symbolic links lead in a circle"))
}

/// Where what is written is part of a mapped file that another program has shortened, the write fails in place of the
/// signal that a read of it raises ([`interrupt`]): no fault of the output's.
fn shortened(error: &io::Error) -> Option<io::Error> {
    #[cfg(unix)]
    if error.raw_os_error() == Some(nix::errno::Errno::EFAULT as i32) {
        return Some(io::Error::other(interrupt::SHORTER));
    }
    let _ = error;
    None
}

/// The error with the name that was asked for.
fn named(error: &io::Error, path: &Path) -> io::Error {
    if let Some(error) = shortened(error) {
        return error;
    }
    io::Error::new(error.kind(), format!("cannot write {}: {}", path.display(), unnamed(error)))
}

/// The error without the name of the temporary file, which means nothing to anyone. The library that makes the file
/// keeps the system's error to itself; only its text can be had.
fn unnamed(error: &io::Error) -> io::Error {
    let text = error.to_string();
    let reason = text.rsplit_once(" at path ").map_or(text.as_str(), |(reason, _)| reason);
    io::Error::new(error.kind(), reason.to_owned())
}

/// Temporary files are private; the finished file has the permissions of the one it replaces,
/// or those that any new file gets.
#[cfg(unix)]
fn ordinary_permissions(path: &Path) -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    let existing = fs::metadata(path).ok().map(|meta| meta.permissions());
    Some(existing.unwrap_or_else(|| Permissions::from_mode(0o666)))
}

#[cfg(not(unix))]
fn ordinary_permissions(_: &Path) -> Option<Permissions> {
    None
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn a_lost_part_of_the_input_is_not_blamed_on_the_output() {
        let lost = io::Error::from_raw_os_error(nix::errno::Errno::EFAULT as i32);
        assert_eq!(named(&lost, Path::new("out")).to_string(), interrupt::SHORTER);
        let full = io::Error::from_raw_os_error(nix::errno::Errno::ENOSPC as i32);
        assert!(named(&full, Path::new("out")).to_string().starts_with("cannot write out: "));
    }

    #[test]
    fn nothing_appears_before_the_commit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.bin");
        let mut output = Output::create(&path).unwrap();
        output.write_all(b"abc").unwrap();
        assert!(!path.exists());
        output.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"abc");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn an_abandoned_output_leaves_the_old_file_and_no_litter() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.bin");
        fs::write(&path, b"old").unwrap();
        let mut output = Output::create(&path).unwrap();
        output.write_all(b"new").unwrap();
        drop(output);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_symbolic_link_is_written_through() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("x.bin"), folder.path().join("link"));
        fs::write(&path, b"old").unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let mut output = Output::create(&link).unwrap();
        output.write_all(b"new").unwrap();
        output.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[cfg(unix)]
    #[test]
    fn a_symbolic_link_to_nothing_yet_stays_and_a_circle_is_refused() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("inner")).unwrap();
        symlink("inner/second", at("first")).unwrap();
        symlink("x.bin", at("inner/second")).unwrap();
        let mut output = Output::create(&at("first")).unwrap();
        output.write_all(b"new").unwrap();
        output.commit().unwrap();
        assert_eq!(fs::read(at("inner/x.bin")).unwrap(), b"new");
        assert!(fs::symlink_metadata(at("first")).unwrap().is_symlink());
        symlink("circle", at("circle")).unwrap();
        let error = Output::create(&at("circle")).unwrap_err();
        assert!(format!("{error:#}").contains("circle"), "{error:#}");
        assert!(fs::symlink_metadata(at("circle")).unwrap().is_symlink());
    }
}
