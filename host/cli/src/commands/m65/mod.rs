//! `ssnail m65`: a MEGA65 that runs a program, headless or in the terminal.

mod card;
mod dump;
mod given;
mod interactive;
mod script;
mod trace;

use crate::exit::{Outcome, Refuse, refused};
use crate::{files, out};
use anyhow::Result;
use dump::Dump;
use script::Action;
use ssnail_m65::expansion::Defect;
use ssnail_m65::{Machine, Model, Outcome as Wait, Scenario, Stop};
use std::io::{IsTerminal, Write, stdin, stdout};
use std::path::PathBuf;

/// Frames that a run without --frames may take.
const FRAMES: u64 = 3000;
/// Length of a ROM file.
const ROM_BYTES: usize = 128 << 10;
/// Still frames after which a run without --until and --frames ends.
const STILL: u64 = 100;

/// Runs a MEGA65 program on an emulated machine.
///
///   ssnail m65 SSNAIL.PRG                                  in the terminal; Ctrl-] leaves
///   ssnail m65 SSNAIL.D81 --card CARD.img                  the models are on the card
///   ssnail m65 SSNAIL.D81 --type 'hello<RETURN>' --until there --frames 500
///   ssnail m65 X.PRG --frames 100 --screenshot x.png --dump '$8000000:256:head.bin'
///
/// With any of --type, --script, --frames, --until, --screenshot, --dump, or without a terminal, it
/// runs headless and prints the final screen. Keys: <RETURN> <DEL> <F5> <RUN/STOP> <UP> <CTRL-C> …
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// PRG file, or D81 disk: the program that its AUTOBOOT.C65 runs, else its first; the disk is in drive 0
    file: PathBuf,
    /// Board: R3, R4, R5, R6 or Nexys4DDR
    #[arg(long, default_value = "R3")]
    model: Model,
    /// ROM file (128 KB); without one KERNAL calls do nothing and are reported
    #[arg(long, value_name = "FILE")]
    rom: Option<PathBuf>,
    /// Text to type, with escapes
    #[arg(long = "type", value_name = "TEXT", conflicts_with = "script")]
    typed: Option<String>,
    /// File of steps: type TEXT, wait TEXT, frames N, one a line
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// Run this many frames; with --until at most this many
    #[arg(long, value_name = "N")]
    frames: Option<u64>,
    /// Run until this text is on the screen; exit code 1 if it does not come
    #[arg(long, value_name = "TEXT")]
    until: Option<String>,
    /// Write a picture of the final screen
    #[arg(long, value_name = "FILE.png")]
    screenshot: Option<PathBuf>,
    /// Write memory at the end; addresses as the accelerator sees them, $ or 0x for hexadecimal
    #[arg(long, value_name = "ADDR:LEN:FILE")]
    dump: Vec<Dump>,
    /// Put a file into memory first (hexadecimal address as for --dump)
    #[arg(long, value_name = "ADDR:FILE")]
    preload: Vec<dump::Preload>,
    #[command(flatten)]
    card: card::CardArgs,
    /// Leave the accelerator out
    #[arg(long)]
    no_accelerator: bool,
    /// Make the accelerator faulty: never-ready, load-error, hangs, or error:N
    #[arg(long, value_name = "DEFECT", value_parser = defect, conflicts_with = "no_accelerator")]
    defect: Option<Defect>,
    /// Bytes per second of the accelerator's memory in millions; 0 for no waiting at all
    #[arg(long, value_name = "MB/S", default_value_t = 130.0)]
    bandwidth: f64,
    /// Print every instruction to standard error
    #[arg(long)]
    trace: bool,
    /// In the terminal: as fast as possible instead of real time
    #[arg(long)]
    fast: bool,
}

fn defect(text: &str) -> Result<Defect, String> {
    match text {
        "never-ready" => Ok(Defect::NeverReady),
        "load-error" => Ok(Defect::LoadError),
        "hangs" => Ok(Defect::Hangs),
        _ => text
            .strip_prefix("error:")
            .and_then(|n| n.parse().ok())
            .map(Defect::JobError)
            .ok_or_else(|| "use never-ready, load-error, hangs or error:N".to_owned()),
    }
}

/// Runs the program.
///
/// # Errors
/// A file is refused or cannot be read or written.
pub fn run(args: &Args) -> Result<Outcome> {
    let machine = machine(args)?;
    let headless = args.typed.is_some()
        || args.script.is_some()
        || args.frames.is_some()
        || args.until.is_some()
        || args.screenshot.is_some()
        || !args.dump.is_empty()
        || args.trace;
    if !headless && stdout().is_terminal() && stdin().is_terminal() {
        return interactive::run(machine, !args.fast);
    }
    let mut scenario = Scenario::new(machine);
    let result = drive(args, &mut scenario)?;
    finish(args, &scenario)?;
    Ok(result)
}

fn machine(args: &Args) -> Result<Machine> {
    let mut machine = Machine::new(args.model);
    if let Some(rom) = &args.rom {
        let bytes = files::read(rom)?;
        if bytes.len() != ROM_BYTES {
            let (name, length) = (rom.display(), bytes.len());
            return Err(refused(format_args!("{name}: {length} bytes, and a ROM of the MEGA65 has {ROM_BYTES}")));
        }
        machine.board.load_rom(&bytes);
    }
    for preload in &args.preload {
        preload.apply(&mut machine)?;
    }
    let accelerator = &mut machine.board.expansion.accelerator;
    if args.no_accelerator {
        accelerator.defect = Defect::Absent;
    } else if let Some(defect) = args.defect {
        accelerator.defect = defect;
    }
    accelerator.bandwidth = (args.bandwidth > 0.0).then_some((args.bandwidth * 1e6) as u64);
    args.card.apply(&mut machine)?;
    given::start(&mut machine, &args.file)?;
    if args.trace {
        machine.set_trace(trace::print);
    }
    Ok(machine)
}

fn drive(args: &Args, scenario: &mut Scenario) -> Result<Outcome> {
    let limit = args.frames.unwrap_or(FRAMES);
    if let Some(script) = &args.script {
        for action in script::parse(&files::read_text(script)?)? {
            if !perform(&action, scenario, limit)? {
                return Ok(Outcome::Difference);
            }
        }
    }
    if let Some(text) = &args.typed {
        scenario.type_text(text).refuse()?;
    }
    let stop = if let Some(text) = &args.until {
        match scenario.until(text, limit) {
            Wait::Found => return Ok(Outcome::Done),
            Wait::TimedOut => {
                out::note(format_args!("`{text}` did not come within {limit} frames"));
                return Ok(Outcome::Difference);
            }
            Wait::Stopped(stop) => {
                out::note(format_args!("`{text}` did not come: {stop}"));
                return Ok(Outcome::Difference);
            }
        }
    } else if let Some(frames) = args.frames {
        scenario.frames(frames)
    } else {
        settle(scenario, limit)
    };
    Ok(stop.map_or(Outcome::Done, |stop| said(&stop)))
}

/// Runs until everything is typed and the screen has stood still for a while.
fn settle(scenario: &mut Scenario, limit: u64) -> Option<Stop> {
    let (mut still, mut last) = (0, scenario.screen());
    for _ in 0..limit {
        if let Some(stop) = scenario.frame() {
            return Some(stop);
        }
        let now = scenario.screen();
        still = if now == last && scenario.untyped() == 0 { still + 1 } else { 0 };
        last = now;
        if still >= STILL {
            break;
        }
    }
    None
}

fn said(stop: &Stop) -> Outcome {
    out::note(stop);
    match stop {
        Stop::Exit(0) | Stop::Returned => Outcome::Done,
        Stop::Exit(_) | Stop::UndocumentedQ { .. } => Outcome::Difference,
    }
}

/// Performs a step of a script; false where its text did not come.
fn perform(action: &Action, scenario: &mut Scenario, limit: u64) -> Result<bool> {
    match action {
        Action::Type(text) => scenario.type_text(text).refuse()?,
        Action::Frames(n) => {
            scenario.frames(*n);
        }
        Action::Wait(text) => match scenario.until(text, limit) {
            Wait::Found => {}
            Wait::TimedOut => {
                out::note(format_args!("`{text}` did not come within {limit} frames"));
                return Ok(false);
            }
            Wait::Stopped(stop) => {
                out::note(format_args!("`{text}` did not come: {stop}"));
                return Ok(false);
            }
        },
    }
    Ok(true)
}

/// What the program did wrong, and what it missed.
fn say_doubts(machine: &Machine) {
    let doubts = machine.board.diagnostics.to_string();
    if !doubts.is_empty() {
        out::note(doubts.trim_end());
    }
    if machine.board.storage.missed {
        out::note("the program looked for an SD card, and none is in: --card CARD.img (ssnail card create makes one)");
    }
}

/// The final screen, picture, memory, and what the program did wrong.
fn finish(args: &Args, scenario: &Scenario) -> Result<()> {
    let screen = scenario.screen();
    write!(out::stdout(), "{}", screen.text())?;
    if let Some(path) = &args.screenshot {
        let picture = screen.png(&scenario.machine.board)?;
        let mut output = files::Output::create(path)?;
        output.write_all(&picture)?;
        output.commit()?;
    }
    for dump in &args.dump {
        dump.write(&scenario.machine)?;
    }
    say_doubts(&scenario.machine);
    Ok(())
}
