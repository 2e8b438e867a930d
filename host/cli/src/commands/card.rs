//! `ssnail card`: FAT32 card images, and cards in this computer.

use crate::exit::{Outcome, refused};
use crate::files::Output;
use crate::media::{Target, count, judge, refuse_existing, report};
use crate::{interrupt, out, progress};
use anyhow::{Context, Result};
use ssnail_disk::block::FileDevice;
use ssnail_disk::fat::{
    self, CardWriter, Entry, Fat32, FatError, FormatOptions, copy_file, free_clusters, lookup, walk,
};
use ssnail_disk::fill::add_to_card;
use ssnail_disk::install::{Installer, Pieces};
use ssnail_disk::spec::{CardItem, card_size, card_size_for, cluster_size, host_name};
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Makes, lists and checks SD card images, and copies models onto a card in this computer.
///
///   ssnail card create OUT.img --size 1G story.ssnail SSNAIL.D81 config.txt
///   ssnail card list OUT.img
///   ssnail card extract OUT.img /SSNAIL/STORY.SSN -o story.ssnail
///   ssnail card add OUT.img other.ssnail=/SSNAIL/OTHER.SSN
///   ssnail card check OUT.img
///   ssnail card install /media/me/MEGA65 story.ssnail
///
/// FILE[=PATH]: without PATH, models and CONFIG.TXT go to /SSNAIL, everything else to the root. The MEGA65
/// finds files by upper-case names of 8 + 3 characters; longer names get one and keep the long name besides.
///
/// An image has one FAT32 partition: no MEGA65 system partition, no ROM. It is for emulators, for the second
/// card slot, or to be copied from; a card for the inner slot is best formatted on the MEGA65 itself and then
/// filled with `ssnail card install`.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Make a new image; each file in one piece, in the order given
    Create(Create),
    /// Print what is on an image
    List(Image),
    /// Copy files off an image
    Extract(Extract),
    /// Copy files onto an image
    Add(Add),
    /// Follow every chain and compare the FATs; exit code 1 when there are errors
    Check(Image),
    /// Copy files into a folder, such as a card in this computer, and read them back
    Install(Install),
}

#[derive(Debug, clap::Args)]
struct Image {
    /// Card image
    image: PathBuf,
}

#[derive(Debug, clap::Args)]
struct Create {
    /// Image to write
    out: PathBuf,
    /// Size of the card, 64M to 32G; the image takes only the room of its content
    /// [default: 1G, or more if the files need it]
    #[arg(long, value_parser = card_size)]
    size: Option<u32>,
    /// Size of a cluster, 512 to 64K [default: 4K as on the MEGA65, less on cards under 260M]
    #[arg(long, value_parser = cluster_size)]
    cluster: Option<u32>,
    /// Name of the card, up to 11 characters
    #[arg(long, default_value = "SSNAIL")]
    label: String,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
    /// Files, in the order of their places on the card
    #[arg(value_name = "FILE[=PATH]")]
    files: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
struct Extract {
    /// Card image
    image: PathBuf,
    /// Files or folders to copy [default: all]
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
    /// File (for one file; - for standard output) or folder to write [default: this folder]
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Replace existing files
    #[arg(long)]
    force: bool,
}

#[derive(Debug, clap::Args)]
struct Add {
    /// Card image to change
    image: PathBuf,
    /// Files to add
    #[arg(value_name = "FILE[=PATH]", required = true)]
    files: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
struct Install {
    /// Folder where the card is mounted
    dir: PathBuf,
    /// Models and other files
    #[arg(value_name = "FILE[=PATH]", required = true)]
    files: Vec<OsString>,
    /// Replace other files of the same name
    #[arg(long)]
    force: bool,
}

/// Runs a subcommand.
///
/// # Errors
/// Refused if the card or the files are at fault, an error if this machine is.
pub fn run(args: &Args) -> Result<Outcome> {
    match &args.command {
        Command::Create(args) => create(args),
        Command::List(args) => list(args),
        Command::Extract(args) => extract(args),
        Command::Add(args) => add(args),
        Command::Check(args) => check(args),
        Command::Install(args) => install(args),
    }
}

/// The files with their places, and their bytes together.
fn items(args: &[OsString]) -> Result<(Vec<CardItem>, u64)> {
    let items: Vec<CardItem> = args.iter().map(|a| CardItem::parse(a)).collect::<Result<_, _>>()?;
    // What cannot be read is told when it is opened.
    let bytes = items.iter().filter_map(|i| fs::metadata(&i.file).ok()).map(|m| m.len()).sum();
    Ok((items, bytes))
}

fn fill(card: &mut CardWriter<FileDevice>, items: &[CardItem], bytes: u64) -> Result<()> {
    let bar = progress::bytes("copy", bytes);
    let mut added = Vec::new();
    for item in items {
        let (done, warning) = add_to_card(card, item, &mut |n| bar.inc(n)).map_err(|e| judge(None, e))?;
        if let Some(warning) = warning {
            out::note(format_args!("warning: {warning}"));
        }
        added.push(done);
    }
    bar.finish_and_clear();
    for a in added {
        out::note(format_args!("{} as {}", a.path, a.short_name));
    }
    Ok(())
}

fn create(args: &Create) -> Result<Outcome> {
    refuse_existing(&args.out, args.force)?;
    let (items, bytes) = items(&args.files)?;
    let sectors = args.size.or_else(|| card_size_for(bytes)).ok_or_else(|| {
        refused(format_args!("the files have {bytes} bytes together, which is more than a card of 32G holds; use two"))
    })?;
    let output = Output::create(&args.out)?;
    let file =
        output.file().ok_or_else(|| refused("a card image cannot be written to a pipe or device; name a file"))?;
    let cannot = || format!("cannot write {}", args.out.display());
    file.set_len(u64::from(sectors) * 512).with_context(cannot)?;
    let device = FileDevice::from_file(file.try_clone().with_context(cannot)?).with_context(cannot)?;
    let options = FormatOptions {
        cluster_sectors: args.cluster,
        label: args.label.clone(),
        // A fixed number: the same files make the same image.
        serial: u32::from_le_bytes(*b"SSNL"),
        stamp: None,
    };
    let mut card = CardWriter::format(device, &options).map_err(|e| judge(Some(&args.out), e))?;
    fill(&mut card, &items, bytes).map_err(|e| e.context(args.out.display().to_string()))?;
    card.finish().map_err(|e| judge(Some(&args.out), e))?;
    output.commit()?;
    Ok(Outcome::Done)
}

fn open(path: &Path) -> Result<(FileDevice, Fat32)> {
    let mut device = FileDevice::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let fat = Fat32::find(&mut device).map_err(|e| judge(Some(path), e))?;
    Ok((device, fat))
}

/// Everything on the card, with its path.
fn everything(image: &Path, device: &mut FileDevice, fat: Fat32) -> Result<Vec<(String, Entry)>> {
    let mut all = Vec::new();
    walk(device, fat, &mut |path, entry| {
        all.push((path.to_owned(), entry.clone()));
        Ok(())
    })
    .map_err(|e| judge(Some(image), e))?;
    Ok(all)
}

fn list(args: &Image) -> Result<Outcome> {
    let (mut device, fat) = open(&args.image)?;
    let mut stdout = out::stdout();
    let (mut files, mut bytes) = (0u32, 0u64);
    for (path, entry) in everything(&args.image, &mut device, fat)? {
        let [year, month, day, hour, minute, _] = entry.modified.parts();
        let size = if entry.is_directory() { "folder".to_owned() } else { entry.size.to_string() };
        let slash = if entry.is_directory() { "/" } else { "" };
        writeln!(
            stdout,
            "{size:>10}  {year}-{month:02}-{day:02} {hour:02}:{minute:02}  {:12}  {}{slash}",
            entry.short_name(),
            out::name(&path)
        )?;
        files += u32::from(entry.is_file());
        bytes += u64::from(entry.size);
    }
    let free = u64::from(free_clusters(&mut device, fat).map_err(|e| judge(Some(&args.image), e))?);
    let free = free * u64::from(fat.cluster_bytes());
    writeln!(
        stdout,
        "{}, {bytes} bytes; {free} bytes free in clusters of {}",
        count(files.into(), "file"),
        fat.cluster_bytes()
    )?;
    Ok(Outcome::Done)
}

fn extract(args: &Extract) -> Result<Outcome> {
    let (mut device, fat) = open(&args.image)?;
    let fail = |e| judge(Some(&args.image), e);
    let mut wanted: Vec<(String, Entry)> = Vec::new();
    if args.paths.is_empty() {
        wanted = everything(&args.image, &mut device, fat)?;
    }
    let mut single = args.paths.len() == 1;
    for path in &args.paths {
        let entry = lookup(&mut device, fat, path).map_err(fail)?;
        if entry.is_file() {
            wanted.push((entry.name(), entry));
            continue;
        }
        single = false;
        let inside: Vec<_> = everything(&args.image, &mut device, fat)?;
        let Some((folder, _)) = inside.iter().find(|(_, e)| e.location == entry.location) else { continue };
        let prefix = format!("{folder}/");
        wanted.extend(inside.iter().filter(|(p, _)| p.starts_with(&prefix)).cloned());
    }
    let target = Target::new(args.output.as_deref(), single, args.force);
    for (path, entry) in wanted.iter().filter(|(_, e)| e.is_file()) {
        let parts: Vec<String> = path.split('/').filter(|p| !p.is_empty()).map(host_name).collect();
        target.write(&parts, |output| match copy_file(&mut device, fat, entry, output) {
            Ok(_) => Ok(()),
            Err(FatError::Sink(e)) => Err(e.into()),
            Err(e) => Err(judge(Some(&args.image), e).context(path.clone())),
        })?;
    }
    Ok(Outcome::Done)
}

fn add(args: &Add) -> Result<Outcome> {
    let (items, bytes) = items(&args.files)?;
    let device =
        FileDevice::open_writable(&args.image).with_context(|| format!("cannot change {}", args.image.display()))?;
    let mut card = CardWriter::open(device).map_err(|e| judge(Some(&args.image), e))?;
    fill(&mut card, &items, bytes).map_err(|e| e.context(args.image.display().to_string()))?;
    // The tables are written in one go: Ctrl-C waits for that.
    let _listening = interrupt::listen();
    card.finish().map_err(|e| judge(Some(&args.image), e))?;
    Ok(Outcome::Done)
}

fn check(args: &Image) -> Result<Outcome> {
    let (mut device, fat) = open(&args.image)?;
    let found = fat::check(&mut device).map_err(|e| judge(Some(&args.image), e))?;
    let findings: Vec<_> = found.findings.iter().map(|f| (f.severity(), f)).collect();
    let free = u64::from(found.free_clusters) * u64::from(fat.cluster_bytes());
    report(
        &findings,
        found.more,
        format_args!(
            "{}, {}, {free} bytes free",
            count(found.files.into(), "file"),
            count(found.folders.into(), "folder")
        ),
    )
}

fn install(args: &Install) -> Result<Outcome> {
    let (items, bytes) = items(&args.files)?;
    let mut installer = Installer::new(&args.dir, args.force).map_err(|e| judge(None, e))?;
    installer.guard_unfinished(|path| Box::new(interrupt::Litter::new(path)));
    let bar = progress::bytes("copy", bytes);
    for item in &items {
        let done = installer.install(item, &mut |n| bar.inc(n)).map_err(|e| judge(None, e))?;
        let how = match (done.unchanged, done.pieces) {
            (true, _) => "was there already",
            (false, Pieces::Known(0 | 1)) => "copied and read back, in one piece",
            (false, _) => "copied and read back",
        };
        bar.suspend(|| {
            out::note(format_args!("{}: {} bytes, {how}", done.target.display(), done.size));
            for warning in &done.warnings {
                out::note(format_args!("warning: {warning}"));
            }
        });
        writeln!(out::stdout(), "{}", done.target.display())?;
    }
    bar.finish_and_clear();
    out::note("unmount the card (eject it) before taking it out");
    Ok(Outcome::Done)
}
