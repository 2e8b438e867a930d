//! `ssnail disk`: D81 images.

use crate::exit::{Outcome, refused};
use crate::files::{self, Output};
use crate::media::{Target, count, judge, refuse_existing, report};
use crate::out;
use anyhow::{Context, Result};
use ssnail_disk::d81::{D81, FileType, NameUse, PetsciiName, Source, demo_disk};
use ssnail_disk::fill::add_to_disk;
use ssnail_disk::spec::{DiskItem, host_name};
use std::collections::HashSet;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Makes, lists and checks D81 images, the disks of the MEGA65: 3160 blocks (802,640 bytes), 296 files.
///
///   ssnail disk create OUT.d81 --name SSNAIL --id SN ssnail.prg readme.txt=README,SEQ =----------------
///   ssnail disk list OUT.d81
///   ssnail disk extract OUT.d81 README -o readme.seq
///   ssnail disk add OUT.d81 model.ssnail
///   ssnail disk remove OUT.d81 README
///   ssnail disk check OUT.d81
///
/// FILE[=NAME][,TYPE]: NAME has up to 16 characters. Letters become the ones that the MEGA65 shows as capitals and types without SHIFT, accents
/// are dropped, and " , : * ? = are not possible. Without NAME, the file's own is made to fit. TYPE is PRG,
/// SEQ or USR; without it, .txt, .seq, .cfg and models are SEQ, .usr is USR, all else is PRG.
/// `=NAME` without a file is a line in the directory.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Make a new disk
    Create(Create),
    /// Print the directory
    List(Image),
    /// Copy files off the disk
    Extract(Extract),
    /// Copy files onto the disk
    Add(Add),
    /// Remove files from the disk
    Remove(Remove),
    /// Follow every chain and compare the block map; exit code 1 when there are errors
    Check(Image),
    /// Make the disk that SSNAIL comes on
    Demo(Demo),
}

#[derive(Debug, clap::Args)]
struct Image {
    /// D81 image (- for standard input)
    image: PathBuf,
}

#[derive(Debug, clap::Args)]
struct Create {
    /// D81 image to write
    out: PathBuf,
    /// Name of the disk, up to 16 characters [default: the image's name]
    #[arg(long)]
    name: Option<String>,
    /// Two characters by which drives tell disks apart
    #[arg(long, default_value = "SN")]
    id: String,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
    /// Files, in the order of the directory
    #[arg(value_name = "FILE[=NAME][,TYPE]")]
    files: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
struct Extract {
    /// D81 image (- for standard input)
    image: PathBuf,
    /// Files to copy [default: all]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// File (for one NAME; - for standard output) or folder to write [default: this folder]
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Replace existing files
    #[arg(long)]
    force: bool,
}

#[derive(Debug, clap::Args)]
struct Add {
    /// D81 image to change
    image: PathBuf,
    /// Files to add
    #[arg(value_name = "FILE[=NAME][,TYPE]", required = true)]
    files: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
struct Remove {
    /// D81 image to change
    image: PathBuf,
    /// Files to remove
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,
}

#[derive(Debug, clap::Args)]
struct Demo {
    /// D81 image to write
    out: PathBuf,
    /// The program, first in the directory
    #[arg(long, value_name = "FILE")]
    prg: PathBuf,
    /// Parts that the program loads later
    #[arg(long, value_name = "FILE")]
    overlay: Vec<PathBuf>,
    /// Text for README
    #[arg(long, value_name = "FILE")]
    readme: PathBuf,
    /// Model image, left out with a note where it does not fit
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
}

/// Runs a subcommand.
///
/// # Errors
/// Refused if the disk or the files are at fault, an error if this machine is.
pub fn run(args: &Args) -> Result<Outcome> {
    match &args.command {
        Command::Create(args) => create(args),
        Command::List(args) => list(args),
        Command::Extract(args) => extract(args),
        Command::Add(args) => add(args),
        Command::Remove(args) => remove(args),
        Command::Check(args) => check(args),
        Command::Demo(args) => demo(args),
    }
}

fn open(path: &Path) -> Result<D81> {
    D81::from_bytes(&files::read(path)?).map_err(|e| judge(Some(path), e))
}

fn save(disk: &D81, path: &Path) -> Result<()> {
    let mut output = Output::create(path)?;
    output.write_all(&disk.to_bytes())?;
    output.commit()
}

fn fill(disk: &mut D81, files: &[OsString]) -> Result<()> {
    for arg in files {
        let item = DiskItem::parse(arg)?;
        add_to_disk(disk, &item).map_err(|e| judge(None, e))?;
    }
    Ok(())
}

fn create(args: &Create) -> Result<Outcome> {
    refuse_existing(&args.out, args.force)?;
    let name = match &args.name {
        Some(name) => PetsciiName::new(name, NameUse::Decoration).context("--name")?,
        None => {
            let stem = args.out.file_stem().unwrap_or_default().to_string_lossy();
            ssnail_disk::d81::name_from_host(&stem)
        }
    };
    let id = PetsciiName::new(&args.id, NameUse::Decoration).context("--id")?;
    let [a, b] = *id.bytes() else { anyhow::bail!("--id: \"{}\" has not two characters", args.id) };
    let mut disk = D81::new(&name, [a, b]);
    fill(&mut disk, &args.files)?;
    save(&disk, &args.out)?;
    Ok(Outcome::Done)
}

fn list(args: &Image) -> Result<Outcome> {
    let disk = open(&args.image)?;
    let mut stdout = out::stdout();
    let id: String = disk.id().iter().map(|&b| if b.is_ascii_graphic() { char::from(b) } else { ' ' }).collect();
    writeln!(stdout, "0     \"{:16}\" {id}", disk.name())?;
    for e in disk.entries() {
        let (open, locked) = (if e.closed { ' ' } else { '*' }, if e.locked { "<" } else { "" });
        writeln!(stdout, "{:<5} {:18}{open}{}{locked}", e.blocks, format!("\"{}\"", e.name), e.kind)?;
    }
    writeln!(stdout, "{} blocks free.", disk.free_blocks())?;
    Ok(Outcome::Done)
}

fn extract(args: &Extract) -> Result<Outcome> {
    let disk = open(&args.image)?;
    let entries = if args.names.is_empty() {
        disk.entries().into_iter().filter(|e| !e.is_divider() && e.kind != FileType::Cbm).collect()
    } else {
        let found: Result<Vec<_>, _> = args.names.iter().map(|n| disk.find(n)).collect();
        found.map_err(|e| judge(Some(&args.image), e))?
    };
    let target = Target::new(args.output.as_deref(), args.names.len() == 1, args.force);
    let mut taken = HashSet::new();
    let mut damaged = 0;
    for entry in entries {
        let data = match disk.read(&entry) {
            Ok(data) => data,
            // The others may still be whole.
            Err(e) if args.names.is_empty() => {
                out::note(format_args!("{}: {e}", args.image.display()));
                damaged += 1;
                continue;
            }
            Err(e) => return Err(judge(Some(&args.image), e)),
        };
        // With the type behind it, adding the file again gives the same entry.
        let stem = host_name(&entry.name.to_string());
        let kind = entry.kind.to_string().to_lowercase().replace('?', "_");
        let mut name = format!("{stem}.{kind}");
        let mut number = 2;
        while !taken.insert(name.to_lowercase()) {
            name = format!("{stem}_{number}.{kind}");
            number += 1;
        }
        target.write(&[name], |output| Ok(output.write_all(&data)?))?;
    }
    if damaged > 0 {
        return Err(refused(format_args!("{}: {damaged} damaged files were left out", args.image.display())));
    }
    Ok(Outcome::Done)
}

fn add(args: &Add) -> Result<Outcome> {
    let mut disk = open(&args.image)?;
    fill(&mut disk, &args.files).map_err(|e| e.context(args.image.display().to_string()))?;
    save(&disk, &args.image)?;
    Ok(Outcome::Done)
}

fn remove(args: &Remove) -> Result<Outcome> {
    let mut disk = open(&args.image)?;
    for name in &args.names {
        disk.remove(name).map_err(|e| judge(Some(&args.image), e))?;
    }
    save(&disk, &args.image)?;
    Ok(Outcome::Done)
}

fn check(args: &Image) -> Result<Outcome> {
    let found = open(&args.image)?.check();
    let findings: Vec<_> = found.findings.iter().map(|f| (f.severity(), f)).collect();
    report(&findings, 0, format_args!("{}, {} blocks free", count(found.files.into(), "file"), found.free_blocks))
}

fn demo(args: &Demo) -> Result<Outcome> {
    refuse_existing(&args.out, args.force)?;
    let name = |p: &Path| p.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let prg = files::read(&args.prg)?;
    let mut overlays = Vec::new();
    for path in &args.overlay {
        overlays.push((name(path), files::read(path)?));
    }
    let overlays: Vec<Source<'_>> = overlays.iter().map(|(name, data)| Source { name, data }).collect();
    let readme = files::read_text(&args.readme)?;
    let model = args.model.as_ref().map(|p| files::read(p).map(|data| (name(p), data))).transpose()?;
    let model = model.as_ref().map(|(name, data)| Source { name, data });
    let made = demo_disk(&prg, &overlays, &readme, model).map_err(|e| judge(Some(&args.out), e))?;
    if let Some(why) = &made.left_out {
        out::note(format_args!("the model is left out: {why}"));
    }
    save(&made.disk, &args.out)?;
    out::note(format_args!("{}: {} blocks free", args.out.display(), made.disk.free_blocks()));
    Ok(Outcome::Done)
}
