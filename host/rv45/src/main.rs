//! `rv45 ELF -o X.PRG [--map FILE] [--list FILE] [--hot NAME,..] [--cold NAME,..]`
#![allow(clippy::print_stdout, clippy::print_stderr)]

use rv45::command::{self, WriteError};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The output that is being written, under the name that it has until it is whole.
static PARTIAL: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Status of a process that Ctrl-C ended, as shells report it.
const INTERRUPTED: i32 = 130;

fn main() -> ExitCode {
    // Where there can be no handler, Ctrl-C simply kills.
    let _ = ctrlc::set_handler(|| {
        let _no_further_file = abandon();
        std::process::exit(INTERRUPTED)
    });
    let args: Result<Vec<String>, _> = std::env::args_os().skip(1).map(std::ffi::OsString::into_string).collect();
    let args = match args {
        Ok(args) => args,
        Err(arg) => {
            eprintln!("rv45: {}: names have to be UTF-8", arg.display());
            return ExitCode::from(2);
        }
    };
    match command::run(args, write) {
        Ok(report) => {
            // A reader that has seen enough is no fault.
            let _ = io::stdout().write_all(report.as_bytes());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("rv45: {error}");
            ExitCode::from(2)
        }
    }
}

/// Removes what is being written. While the result lives, nothing else is begun.
fn abandon() -> MutexGuard<'static, Option<PathBuf>> {
    let partial = PARTIAL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(partial) = &*partial {
        let _ = fs::remove_file(partial);
    }
    partial
}

/// Writes a file that is whole or, where that fails, as it was before.
fn write(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    replace(path, bytes).map_err(|error| format!("cannot write {}: {error}", path.display()).into())
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // Pipes and devices cannot be renamed onto.
    if fs::metadata(path).is_ok_and(|meta| !meta.is_file()) {
        return fs::write(path, bytes);
    }
    // A symbolic link stays one: what it points at is replaced.
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let mut partial = real.clone().into_os_string();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    let written = begin(&partial).and_then(|mut file| file.write_all(bytes)).and_then(|()| fs::rename(&partial, &real));
    let mut known = PARTIAL.lock().unwrap_or_else(PoisonError::into_inner);
    if written.is_err() {
        // What went wrong is said by the first error.
        let _ = fs::remove_file(&partial);
    }
    *known = None;
    written
}

/// Makes the file; there is no moment at which it is there and [`abandon`] does not know it.
fn begin(partial: &Path) -> io::Result<File> {
    let mut known = PARTIAL.lock().unwrap_or_else(PoisonError::into_inner);
    let file = File::create(partial)?;
    *known = Some(partial.to_path_buf());
    Ok(file)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_leaves_the_old_file_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (old, partial) = (folder.path().join("x"), folder.path().join("x.partial"));
        fs::write(&old, "old").unwrap();
        begin(&partial).unwrap().write_all(b"ne").unwrap();
        assert!(partial.exists());
        drop(abandon());
        assert!(!partial.exists());
        write(&old, b"new").unwrap();
        assert_eq!(fs::read(&old).unwrap(), b"new");
        assert_eq!(*abandon(), None);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
