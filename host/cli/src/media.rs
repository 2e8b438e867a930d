//! What `ssnail disk` and `ssnail card` share.

use crate::exit::{Outcome, refused};
use crate::files::Output;
use crate::out;
use anyhow::Result;
use ssnail_disk::Severity;
use std::error::Error;
use std::fmt::Display;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// An error of the machine stays one; everything else is a refusal. `image` is named first.
pub fn judge(image: Option<&Path>, error: impl Error + Send + Sync + 'static) -> anyhow::Error {
    let mut cause: Option<&(dyn Error + 'static)> = Some(&error);
    let mut machine = false;
    while let Some(e) = cause {
        machine |= e.is::<std::io::Error>();
        cause = e.source();
    }
    let place = image.map(|p| format!("{}: ", p.display())).unwrap_or_default();
    let text = format!("{place}{error}");
    if machine { anyhow::Error::new(error).context(text) } else { refused(text) }
}

/// Refuses to replace a file unless told to.
///
/// # Errors
/// A refusal that names the file.
pub fn refuse_existing(path: &Path, force: bool) -> Result<()> {
    if !force && fs::symlink_metadata(path).is_ok() {
        return Err(refused(format_args!("{} exists; give --force to replace it", path.display())));
    }
    Ok(())
}

/// Where extracted files go.
pub struct Target {
    folder: PathBuf,
    file: Option<PathBuf>,
    force: bool,
}

impl Target {
    /// `output` is a file when one file is extracted and it is no folder, otherwise a folder.
    pub fn new(output: Option<&Path>, single: bool, force: bool) -> Self {
        let output = output.map(Path::to_path_buf);
        let ends_open = output.as_ref().is_some_and(|p| p.to_string_lossy().ends_with(['/', '\\']));
        match output {
            Some(file) if single && !ends_open && !file.is_dir() => {
                Self { folder: PathBuf::new(), file: Some(file), force }
            }
            Some(folder) => Self { folder, file: None, force },
            None => Self { folder: PathBuf::from("."), file: None, force },
        }
    }

    /// Writes one file; `parts` are the folders and the name, already safe for the host.
    ///
    /// # Errors
    /// The file exists, or cannot be written.
    pub fn write(&self, parts: &[String], content: impl FnOnce(&mut Output) -> Result<()>) -> Result<()> {
        let path = match &self.file {
            Some(file) => file.clone(),
            None => {
                let path = parts.iter().fold(self.folder.clone(), |p, part| p.join(part));
                if let Some(folder) = path.parent() {
                    fs::create_dir_all(folder)
                        .map_err(|e| anyhow::Error::new(e).context(format!("cannot make {}", folder.display())))?;
                }
                path
            }
        };
        if path.as_os_str() != "-" {
            refuse_existing(&path, self.force)?;
        }
        let mut output = Output::create(&path)?;
        content(&mut output)?;
        output.commit()?;
        if path.as_os_str() != "-" {
            writeln!(out::stdout(), "{}", path.display())?;
        }
        Ok(())
    }
}

/// Prints the findings of a check, errors first, and a last line; errors are a difference.
///
/// # Errors
/// Standard output cannot be written.
pub fn report<F: Display>(findings: &[(Severity, F)], more: u64, summary: impl Display) -> Result<Outcome> {
    let mut stdout = out::stdout();
    let of = |wanted: Severity| findings.iter().filter(move |(s, _)| *s == wanted);
    for (kind, name) in [(Severity::Error, "error"), (Severity::Warning, "warning")] {
        for (_, finding) in of(kind) {
            writeln!(stdout, "{name}: {}", out::name(&finding.to_string()))?;
        }
    }
    if more > 0 {
        writeln!(stdout, "and {more} more")?;
    }
    let (errors, warnings) = (of(Severity::Error).count(), of(Severity::Warning).count());
    writeln!(stdout, "{summary}; {}, {}", count(errors as u64, "error"), count(warnings as u64, "warning"))?;
    Ok(if errors == 0 { Outcome::Done } else { Outcome::Difference })
}

/// "1 file", "2 files".
pub fn count(n: u64, word: &str) -> String {
    if n == 1 { format!("1 {word}") } else { format!("{n} {word}s") }
}
