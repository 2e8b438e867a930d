//! Plays a scenario, first in `ssnail-m65`, then in Xemu, where everything has to be as it was.

use crate::emulated::{Emulated, Look};
use crate::reference::{self, Choosing};
use crate::scenarios::{Begin, Play, Step};
use crate::xemu::{self, Xemu};
use crate::{boot, card, part};
use ssnail_disk::block::{BlockDevice, MemDevice};
use ssnail_disk::d81::{Source, demo_disk};
use ssnail_m65::expansion::Defect;
use ssnail_m65::hdos::Options;
use ssnail_m65::io::card::Card;
use ssnail_m65::{Machine, Model, Scenario, Stop};
use ssnail_shared::map::MEGABYTE;
use ssnail_shared::sampler::Settings;
use ssnail_shared::tokenizer::Place;
use std::path::Path;
use std::time::{Duration, Instant};

/// Attic RAM of both machines that is compared.
const ATTIC: u32 = 8 * MEGABYTE - RESERVE;
/// Looks of ten frames at the machine here until a text counts as missing: two minutes and a half.
const LOOKS: usize = 750;
/// The same for a whole answer.
const ANSWER_LOOKS: usize = 10_000;
/// Looks without a change behind which the screen stands still.
const STILL: usize = 3;
/// The same for Xemu, in time, for it may run slowly.
const PATIENCE: Duration = Duration::from_secs(600);
/// How long a screen may take to become the one that it was here.
const SAME: Duration = Duration::from_secs(120);
/// End of the line that `/stats` gives.
const ANSWERED: &str = "tokens of context]";
/// Row below the conversation.
const PANE_END: usize = 46;
/// Attic RAM that the program itself uses where it computes without the core: times are among it.
const RESERVE: u32 = 0x3_0000;

/// What the machine here showed and held.
pub struct Record {
    looks: Vec<Look>,
    attic: Vec<u8>,
}

/// The program on its card or disk, for both machines.
pub struct Media {
    card: MemDevice,
    disk: Vec<u8>,
    prg: Vec<u8>,
}

/// Makes the card and the disk of a scenario; nothing where a model is absent, which is said.
pub fn media(play: &Play, prg: &[u8]) -> Option<Media> {
    let contents: Option<Vec<Vec<u8>>> = play.files.iter().map(|f| f.content.bytes()).collect();
    let contents = contents?;
    let part = part()?;
    let overlay = Source { name: "SSNAIL.CPU", data: &part };
    let disk = demo_disk(prg, &[overlay], "SSNAIL", None).expect("a disk with room").disk.to_bytes();
    let mut files: Vec<card::File<'_>> = Vec::new();
    match play.begin {
        Begin::Program => {}
        Begin::AttachedDisk => files.push(card::File::new("/SSNAIL.D81", &disk)),
        Begin::DefaultDisk => files.push(card::File::new("/MEGA65.D81", &disk)),
        Begin::DriveDisk => {}
    }
    files.extend(play.files.iter().zip(&contents).map(|(f, data)| card::File { path: f.path, data, layout: f.layout }));
    let mut card = Card::new(card::card(&files));
    (play.damage)(&mut card);
    // A copy of what is on the card: the damage included.
    let mut copy = MemDevice::new(card.sectors());
    let mut sector = [0; 512];
    for lba in 0..card.sectors() {
        card.read(lba, &mut sector).expect("a sector of memory");
        if sector != [0; 512] {
            copy.write(lba, &sector).expect("memory takes everything");
        }
    }
    Some(Media { card: copy, disk, prg: prg.to_vec() })
}

/// What is put into the machine, and where it starts.
fn first_program(begin: Begin, prg: &[u8]) -> (Vec<u8>, u16) {
    match begin {
        Begin::Program => (prg.to_vec(), xemu::entry(prg)),
        Begin::AttachedDisk => (boot::program(true, xemu::entry(prg)), boot::BOOT),
        Begin::DriveDisk | Begin::DefaultDisk => (boot::program(false, xemu::entry(prg)), boot::BOOT),
    }
}

/// Plays here.
///
/// # Errors
/// What went wrong, with the screen.
pub fn here(play: &Play, media: &Media) -> Result<Record, String> {
    let mut machine = Machine::new(Model::R3);
    machine.insert_card(Card::new(media.card.clone()), Options::default());
    machine.board.expansion.accelerator.defect = Defect::Absent;
    if matches!(play.begin, Begin::DriveDisk | Begin::DefaultDisk) {
        machine.insert_disk(&media.disk, true).map_err(|e| e.to_string())?;
    }
    let (program, _) = first_program(play.begin, &media.prg);
    machine.load_prg(&program).map_err(|e| e.to_string())?;
    let mut scenario = Scenario::new(machine);
    let looks = Player { machine: &mut scenario, play, ids: Vec::new(), looks: Vec::new(), before: None }.run()?;
    let attic = scenario.machine.board.expansion.memory()[..ATTIC as usize].to_vec();
    if let Some(keys) = play.leave {
        scenario.type_text(keys).map_err(|e| e.to_string())?;
        if scenario.frames(400) != Some(Stop::Returned) {
            return Err(format!("the program did not return to BASIC ({:?})", scenario.machine.stopped()));
        }
    }
    Ok(Record { looks, attic })
}

/// Plays in Xemu and compares.
///
/// # Errors
/// What went wrong, with the screen.
pub fn there(play: &Play, media: &Media, record: &Record, emulator: &Path) -> Result<(), String> {
    let (program, entry) = first_program(play.begin, &media.prg);
    let start = xemu::Start {
        prg: &program,
        entry,
        card: media.card.clone(),
        disk: (play.begin == Begin::DriveDisk).then_some(&media.disk[..]),
        default_disk: play.begin == Begin::DefaultDisk,
    };
    let mut other = Xemu::start(emulator, start)?;
    let player = Player { machine: &mut other, play, ids: Vec::new(), looks: Vec::new(), before: Some(record) };
    if let Err(e) = player.run() {
        return Err(format!("{e}\nXemu says:\n{}", other.log()));
    }
    if !play.attic {
        return Ok(());
    }
    let attic = other.attic(ATTIC)?;
    match attic.iter().zip(&record.attic).position(|(a, b)| a != b) {
        None if attic.len() == record.attic.len() => Ok(()),
        None => Err(format!("{} bytes of attic RAM here, {} there", record.attic.len(), attic.len())),
        Some(at) => {
            let count = attic.iter().zip(&record.attic).filter(|(a, b)| a != b).count();
            let part = |m: &[u8]| m[at..(at + 16).min(m.len())].to_vec();
            let (ours, theirs) = (part(&record.attic), part(&attic));
            Err(format!(
                "attic RAM differs in {count} bytes, first at ${:07X}: {ours:02x?} here, {theirs:02x?} there",
                0x800_0000 + at
            ))
        }
    }
}

/// Waits until a text is in so many rows.
fn wait_for(machine: &mut dyn Emulated, text: &str, count: usize, in_xemu: bool) -> Result<Look, String> {
    let begun = Instant::now();
    let mut looks = 0;
    loop {
        let look = machine.look();
        if look.rows().iter().filter(|row| row.contains(text)).count() >= count {
            return Ok(look);
        }
        looks += 1;
        if in_xemu && begun.elapsed() > PATIENCE || !in_xemu && looks > LOOKS {
            return Err(format!("`{text}` did not come:\n{}", look.text()));
        }
        machine.wait();
    }
}

struct Player<'a> {
    machine: &'a mut dyn Emulated,
    play: &'a Play,
    /// Ids of the conversation so far.
    ids: Vec<u32>,
    looks: Vec<Look>,
    /// What the machine here did before.
    before: Option<&'a Record>,
}

impl Player<'_> {
    fn run(mut self) -> Result<Vec<Look>, String> {
        for step in &self.play.steps {
            self.step(step).map_err(|e| format!("{step:?}: {e}"))?;
        }
        Ok(self.looks)
    }

    fn wait_for(&mut self, text: &str, count: usize) -> Result<Look, String> {
        wait_for(self.machine, text, count, self.before.is_some())
    }

    fn step(&mut self, step: &Step) -> Result<(), String> {
        match *step {
            Step::Type(text) => self.machine.type_text(text),
            Step::Press(text) => self.machine.press(text),
            Step::Seen(text) => self.wait_for(text, 1).map(drop),
            Step::Expect(text) => {
                self.wait_for(text, 1)?;
                self.compare()
            }
            Step::Never(text) => {
                let look = self.machine.look();
                if look.contains(text) { Err(format!("`{text}` came:\n{}", look.text())) } else { Ok(()) }
            }
            Step::Fresh => {
                self.ids.clear();
                self.machine.type_text("/reset<RETURN>")?;
                self.wait_for("fresh context", 1).map(drop)
            }
            Step::Answer { file, prompt, tokens } => self.answer(file, prompt, tokens),
            Step::Stopped { file, prompt, after } => self.stopped(file, prompt, after),
        }
    }

    /// The screen stands still here and is noted; there it becomes the noted one.
    fn compare(&mut self) -> Result<(), String> {
        if let Some(record) = self.before {
            let wanted = record.looks.get(self.looks.len()).ok_or("this was not reached here")?;
            let begun = Instant::now();
            loop {
                let look = self.machine.look();
                let differences = wanted.differences(&look);
                if differences.is_empty() {
                    self.looks.push(look);
                    return Ok(());
                }
                if begun.elapsed() > SAME {
                    return Err(format!("the screens differ:\n{}\nit shows\n{}", differences.join("\n"), look.text()));
                }
            }
        }
        let mut look = self.machine.look();
        let mut still = 0;
        for _ in 0..LOOKS {
            self.machine.wait();
            let now = self.machine.look();
            still = if now == look { still + 1 } else { 0 };
            look = now;
            if still == STILL {
                break;
            }
        }
        self.looks.push(look);
        Ok(())
    }

    /// What the golden model says to the conversation so far.
    fn golden(&mut self, file: usize, prompt: &str, tokens: u32) -> Result<Vec<u32>, String> {
        let image = self.play.files[file].content.bytes().ok_or("the model is absent")?;
        let place = if self.ids.is_empty() { Place::First } else { Place::Later };
        let greedy = Choosing { settings: Settings::GREEDY, seed: 0 };
        let answer = reference::answer_to(&image, &self.ids, prompt, place, tokens, greedy);
        self.ids = answer.prompt;
        self.ids.extend(&answer.ids);
        Ok(answer.ids)
    }

    fn text(&self, file: usize, ids: &[u32]) -> Result<String, String> {
        let image = self.play.files[file].content.bytes().ok_or("the model is absent")?;
        Ok(reference::text(&image, ids))
    }

    /// Words of the conversation behind the last line that is `line`.
    fn words_after(&mut self, line: &str) -> Result<Vec<String>, String> {
        let look = self.machine.look();
        let mut rows = look.rows();
        rows.truncate(PANE_END);
        let from =
            rows.iter().rposition(|row| row == line).ok_or_else(|| format!("no `{line}` in\n{}", look.text()))?;
        Ok(rows[from + 1..].iter().flat_map(|row| row.split_whitespace().map(str::to_owned)).collect())
    }

    fn answer(&mut self, file: usize, prompt: &str, tokens: u32) -> Result<(), String> {
        let ids = self.golden(file, prompt, tokens)?;
        let wanted = self.text(file, &ids)?;
        let expected: Vec<&str> = wanted.split_whitespace().collect();
        let before = self.machine.look().rows().iter().filter(|row| row.contains(ANSWERED)).count();
        self.machine.type_text(&format!("{prompt}<RETURN>"))?;
        let begun = Instant::now();
        for looks in 0.. {
            let words = self.words_after(prompt).unwrap_or_default();
            let end = words.iter().position(|word| word.starts_with('[')).unwrap_or(words.len());
            if words.len() >= expected.len() && words[..expected.len()] == expected {
                break;
            }
            // A word may still grow; what is behind it or ended may not.
            let whole = if end < words.len() { end } else { end.saturating_sub(1) };
            let wrong = words[..whole].iter().zip(&expected).any(|(a, b)| a != b) || end < words.len();
            let late = if self.before.is_some() { begun.elapsed() > PATIENCE } else { looks > ANSWER_LOOKS };
            if wrong || late {
                return Err(format!("the golden model says `{wanted}`, the screen `{}`", words.join(" ")));
            }
            self.machine.wait();
        }
        self.machine.type_text("/stats<RETURN>")?;
        self.wait_for(ANSWERED, before + 1)?;
        self.compare()
    }

    fn stopped(&mut self, file: usize, prompt: &str, after: &str) -> Result<(), String> {
        const MANY: u32 = 60;
        let ids = self.golden(file, prompt, MANY)?;
        let wanted = self.text(file, &ids)?;
        self.machine.type_text(&format!("{prompt}<RETURN>"))?;
        self.wait_for(after, 1)?;
        self.machine.press("<RUN/STOP>")?;
        self.wait_for("[stopped]", 1)?;
        let words = self.words_after(prompt)?;
        let said: Vec<&str> = words.iter().map(String::as_str).take_while(|word| !word.starts_with('[')).collect();
        // The last word may be a part of one.
        if said.is_empty() || !wanted.split_whitespace().collect::<Vec<_>>().join(" ").starts_with(&said.join(" ")) {
            return Err(format!("the golden model says `{wanted}`, the screen `{}`", said.join(" ")));
        }
        Ok(())
    }
}
