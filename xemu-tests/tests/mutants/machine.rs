//! SSNAIL.PRG with a list of changed images: each is chosen, and what comes is held against what is due.

use std::collections::BTreeSet;

use ssnail_m65::diagnostics::Report;
use ssnail_m65::expansion::Defect;
use ssnail_m65::{Model, Scenario, keys};
use ssnail_shared::header::Header;
use ssnail_shared::map::{MEMORY_BASE, TOKENS};
use ssnail_xemu_tests::card::File;
use ssnail_xemu_tests::part;
use ssnail_xemu_tests::scenario::{CHAT, LIST, Setup, shown, tokens};

use super::host::{Answer, Due, End, N, memory};

const ENCODER: &str = "Type a line; the most similar";
/// Row of the list for what went wrong.
const MESSAGE_ROW: u32 = 46;
/// Rows of the conversation.
const PANE: std::ops::RangeInclusive<usize> = 2..=45;
/// Frames for the list, a load or a command.
const SHORT: u64 = 1500;
/// Frames for an answer that the processor computes.
const LONG: u64 = 6000;
/// Chip RAM that holds code and constants: the program's, its overlays, the ROM's.
pub const CODE: [std::ops::Range<usize>; 2] = [0x2001..0xB000, 0x1_2000..0x1_E000];

/// A machine with images in its list.
pub struct Bench {
    s: Scenario,
    core: bool,
    /// What the program did before the first image that was strange.
    known: BTreeSet<(Report, u32)>,
    code: Vec<u8>,
    /// Places of the code that sound images change.
    restless: BTreeSet<usize>,
    /// Answers so far: lines that mark their ends differ.
    answers: u32,
}

impl Bench {
    /// A machine with these images in its list, in this order; nothing where the program has not been built.
    pub fn new(images: &[Vec<u8>], core: bool, restless: &BTreeSet<usize>) -> Option<Result<Self, String>> {
        assert!(images.len() < 100);
        let part = part()?;
        let config = format!("temp=0\nn={N}\n");
        let mut files: Vec<(String, &[u8])> =
            images.iter().enumerate().map(|(n, image)| (format!("/SSNAIL/M{n:02}.SSN"), image.as_slice())).collect();
        files.push(("/SSNAIL/CONFIG.TXT".into(), config.as_bytes()));
        if !core {
            files.push(("/SSNAIL/SSNAIL.CPU".into(), &part));
        }
        let files: Vec<File<'_>> = files.iter().map(|(path, data)| File::new(path, data)).collect();
        let mut setup = Setup::with(Model::R3, &files);
        setup.defect = if core { Defect::None } else { Defect::Absent };
        let mut s = setup.start()?;
        s.machine.board.expansion.accelerator.bandwidth = None;
        if let Some(card) = &mut s.machine.board.storage.card {
            card.sector_cycles = 200;
        }
        let mut bench =
            Self { s, core, known: BTreeSet::new(), code: Vec::new(), restless: restless.clone(), answers: 0 };
        let count = if images.len() == 1 { "1 model".into() } else { format!("{} models", images.len()) };
        Some(bench.wait(SHORT + 100 * images.len() as u64, |s| s.screen().contains(LIST)).and_then(|()| {
            if !bench.s.screen().contains(&count) {
                return Err(format!("not {count}:\n{}", shown(&bench.s)));
            }
            bench.known = bench.reports();
            bench.code = bench.code();
            Ok(bench)
        }))
    }

    fn reports(&self) -> BTreeSet<(Report, u32)> {
        self.s.machine.board.diagnostics.entries().map(|(report, address, _)| (report, address)).collect()
    }

    fn code(&self) -> Vec<u8> {
        let ram = self.s.machine.board.chip_ram();
        CODE.iter().flat_map(|range| ram[range.clone()].iter().copied()).collect()
    }

    fn wait(&mut self, frames: u64, done: impl Fn(&Scenario) -> bool) -> Result<(), String> {
        for _ in 0..frames {
            if done(&self.s) {
                return Ok(());
            }
            if let Some(stop) = self.s.frame() {
                return Err(format!("the program ended: {stop}\n{}", shown(&self.s)));
            }
        }
        Err(format!("nothing for {frames} frames:\n{}", shown(&self.s)))
    }

    /// Types at once, as fast as the program takes keys.
    fn keys(&mut self, text: &str) -> Result<(), String> {
        for key in keys::parse(text).map_err(|e| e.to_string())? {
            self.s.machine.board.keyboard.press(key);
            self.wait(LONG, |s| s.machine.board.keyboard.is_empty())?;
        }
        Ok(())
    }

    fn message(&self) -> String {
        self.s.screen().row(MESSAGE_ROW as usize)
    }

    /// Loads the image at this place of the list, talks to it where that can be, and comes back to the list.
    ///
    /// # Errors
    /// What was not as it is due.
    pub fn trial(&mut self, place: usize, image: &[u8], due: &Due, text: &str) -> Result<(), String> {
        // What an earlier model left behind this one's payload is not this one's doing.
        let free = memory(self.core);
        self.s.machine.board.expansion.slice_mut(MEMORY_BASE, free).ok_or("no memory")?.fill(0);
        self.keys(&format!("{}", place + 1))?;
        // Another page may have been drawn, with what was said last.
        self.s.frames(10);
        let vic = &self.s.machine.board.vic;
        let row = (vic.screen_address() + MESSAGE_ROW * vic.line_step()) as usize;
        self.s.machine.board.chip_ram_mut()[row..row + 80].fill(b' ');
        self.keys("<RETURN>")?;
        self.wait(SHORT, |s| {
            let screen = s.screen();
            let listed = screen.contains(LIST) && !screen.row(MESSAGE_ROW as usize).is_empty();
            listed || screen.contains(CHAT) || screen.contains(ENCODER)
        })?;
        let said = self.message();
        let refused = self.s.screen().contains(LIST);
        match (due, refused) {
            (Due::Refused(words), true) => {
                if !words.iter().any(|words| said.contains(words)) {
                    return Err(format!("{words:?} is due, `{said}` was said"));
                }
                if self.s.screen().contains("still in memory") {
                    return Err(format!("refused, and offered nevertheless: {said}"));
                }
            }
            (Due::Refused(words), false) => return Err(format!("accepted; {words:?} is due:\n{}", shown(&self.s))),
            (Due::Answer(_), true) => return Err(format!("refused: `{said}`; a conversation is due")),
            (Due::Answer(answer), false) => self.talk(image, answer, text)?,
        }
        self.usable()?;
        let new: Vec<_> = self.reports().difference(&self.known).copied().collect();
        if !new.is_empty() {
            self.known.extend(new.iter().copied());
            let all = self.s.machine.board.diagnostics.to_string();
            return Err(format!("the machine reports {new:X?}:\n{all}"));
        }
        match self.changed().difference(&self.restless).next() {
            Some(at) => Err(format!("code was changed at ${at:05X}")),
            None => Ok(()),
        }
    }

    /// Places of the code that are not as they were when the list came for the first time.
    pub fn changed(&self) -> BTreeSet<usize> {
        let places = CODE.iter().flat_map(Clone::clone);
        let pairs = self.code.iter().zip(self.code());
        places.zip(pairs).filter(|(_, (before, now))| *before != now).map(|(at, _)| at).collect()
    }

    /// The list is there and takes keys.
    fn usable(&mut self) -> Result<(), String> {
        self.wait(SHORT, |s| s.screen().contains(LIST))?;
        self.keys("<HELP>")?;
        self.wait(SHORT, |s| s.screen().contains("Press a key"))?;
        self.keys(" ")?;
        self.wait(SHORT, |s| s.screen().contains(LIST))
    }

    fn talk(&mut self, image: &[u8], due: &Answer, text: &str) -> Result<(), String> {
        let header = Header::parse(image.first_chunk().ok_or("no header")?).map_err(|e| e.to_string())?;
        self.answers += 1;
        if due.end == End::Endless {
            return self.endless(&header, text);
        }
        let end = if header.is_encoder() {
            self.keys(&format!("{text}<RETURN>"))?;
            self.wait(LONG, |s| after(s, text).is_some_and(|rows| rows.iter().any(|row| !row.is_empty())))?;
            // The row is being written.
            self.s.frames(4);
            None
        } else {
            let end = format!("[greedy, at most {} tokens]", 1000 + self.answers);
            self.keys(&format!("{text}<RETURN>/n {}<RETURN>", 1000 + self.answers))?;
            self.wait(LONG, |s| s.screen().contains(&end))?;
            Some(end)
        };
        let mut rows = after(&self.s, text).unwrap_or_else(|| PANE.map(|row| self.s.screen().row(row)).collect());
        if let Some(end) = &end {
            rows.truncate(rows.iter().rposition(|row| row == end).unwrap_or(rows.len()));
        }
        let all = rows.concat();
        let squeezed: String = all.chars().filter(|c| !c.is_whitespace()).collect();
        let squeeze = |words: &str| words.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        let (words, error) = match &due.end {
            End::Note(words) => (squeeze(words), false),
            End::Error(words) => (squeeze(words), true),
            End::Endless => unreachable!(),
        };
        let is = || format!("{due:?} is due:\n{}", shown(&self.s));
        if !squeezed.contains(&words) {
            return Err(is());
        }
        let told = if error || !words.is_empty() { squeezed.split('[').next().unwrap_or("") } else { &squeezed[..] };
        // A long text has left the screen at its top; one with a bracket in it ends there.
        let text = due.text.split('[').next().unwrap_or("");
        if !(told == due.text || told == text || due.text.len() > 2000 && due.text.ends_with(told)) {
            return Err(is());
        }
        if tokens(&self.s, due.tokens.len()) != due.tokens {
            let found = tokens(&self.s, due.tokens.len());
            return Err(format!("tokens {found:X?} from ${TOKENS:X} on, {}", is()));
        }
        let length = 4 * due.vector.len() as u32;
        if length > 0 {
            let bytes = ssnail_m65::scenario::dump(&self.s.machine, header.output, length).ok_or("no vector")?;
            let found: Vec<u32> = bytes.as_chunks().0.iter().map(|b| u32::from_le_bytes(*b)).collect();
            if found != due.vector {
                return Err(format!("another vector: {found:X?}, {}", is()));
            }
        }
        self.keys("/model<RETURN>")
    }

    /// A job that does not end, or takes long: RUN/STOP ends it.
    fn endless(&mut self, header: &Header, text: &str) -> Result<(), String> {
        self.keys(&format!("{text}<RETURN>"))?;
        for _ in 0..100 {
            if let Some(stop) = self.s.frame() {
                return Err(format!("the program ended: {stop}"));
            }
        }
        self.keys("<RUN/STOP>")?;
        self.wait(SHORT, |s| after(s, text).is_some_and(|rows| rows.iter().any(|row| row.starts_with('['))))?;
        let _ = header;
        self.keys("/model<RETURN>")
    }
}

/// Rows of the conversation behind the last line that is `line`.
fn after(s: &Scenario, line: &str) -> Option<Vec<String>> {
    let screen = s.screen();
    let rows: Vec<String> = PANE.map(|row| screen.row(row)).collect();
    let from = rows.iter().rposition(|row| row == line)?;
    Some(rows[from + 1..].to_vec())
}
