//! A conversation with a model that writes text.

#![allow(unsafe_code)]

use super::{After, App, TITLE};
use crate::hw::clock::{self, Stopwatch};
use crate::hw::core::Accelerator;
use crate::hw::{keys, vic};
use crate::out::Line;
use ssnail_shared::command::{self, Command, HELP, HELP_NATIVE};
use ssnail_shared::fold::AsciiFolder;
use ssnail_shared::header::Header;
use ssnail_shared::mem::ReadMemory;
use ssnail_shared::registers::JobError;
use ssnail_shared::runtime::StopReason;
use ssnail_shared::sampler::{self, Candidate, SampleError, Settings};
use ssnail_shared::session::{Event, Session, TurnError};
use ssnail_shared::tokenizer::{self, Place, Rules, SinkFull, Tables, WORDS_PER_BYTE, encode};
use ssnail_shared::ui::Style;
use ssnail_shared::ui::editor::{Key, LINE_MAX};

/// Candidates that fit; `/topk` goes up to this.
pub const TOP_K_MAX: usize = 64;
/// The end is shown from this probability on, in percent.
const WORTH_SHOWING: u32 = 5;
/// A core that shows nothing new for this long is given up, in milliseconds.
const PATIENCE: u32 = 60_000;
/// The status line is renewed this often while an answer comes, in milliseconds.
const STATUS_EVERY: u32 = 250;

static mut SCRATCH: [u32; LINE_MAX * WORDS_PER_BYTE as usize] = [0; LINE_MAX * WORDS_PER_BYTE as usize];

/// The tokenizer's work memory.
pub fn scratch() -> &'static mut [u32] {
    // SAFETY: one thread, no interrupts, and each caller is done with it before the next begins.
    unsafe { &mut *(&raw mut SCRATCH) }
}

/// What is said about an answer.
struct Turn {
    watch: Stopwatch,
    tokens: u32,
}

/// A conversation under way.
struct Chat<'a, 'r> {
    app: &'a mut App,
    header: &'a Header,
    core: Accelerator,
    session: Session<'r>,
    room: &'a mut [Candidate],
    folder: AsciiFolder,
    n: u32,
    show_end: bool,
    seed: u32,
    /// Tokens generated, and milliseconds spent, since the model was loaded.
    tokens: u32,
    time: u32,
}

/// Talks until the person leaves.
pub fn run(app: &mut App, header: &Header) -> After {
    let mut room = [Candidate::default(); TOP_K_MAX];
    let mut own = [Candidate::default(); TOP_K_MAX];
    let core = app.machine.accelerator();
    let mut settings = app.config.settings;
    // Logits beyond what the processor can read leave the choice to the core.
    let readable = core.check(header.output, header.output_len.saturating_mul(4)).is_ok();
    if !readable {
        settings = Settings::GREEDY;
    }
    let seed = app.config.seed.unwrap_or(clock::ticks());
    let session = Session::new(header, settings, seed, &mut room);
    let n = app.config.n;
    let mut chat = Chat {
        app,
        header,
        core,
        session,
        room: &mut own,
        folder: AsciiFolder::new(),
        n,
        show_end: false,
        seed,
        tokens: 0,
        time: 0,
    };
    chat.greet(readable);
    chat.converse()
}

impl Chat<'_, '_> {
    fn greet(&mut self, readable: bool) {
        vic::clear();
        self.app.console.redraw(TITLE);
        let mut line = Line::new();
        line.text(b"[").text(self.header.description_bytes()).text(b"]");
        self.app.console.note(&line);
        let mut line = Line::new();
        line.text(b"[").text(self.header.architecture.name().as_bytes()).text(b" decoder, context ");
        line.number(self.header.context).text(b", vocab ").number(self.header.n_vocab).text(b"]");
        self.app.console.note(&line);
        if !readable {
            self.app.console.say(b"[the logits lie where the processor cannot read: greedy only]", Style::Note);
        }
        self.settings_line();
        self.app.console.say(b"Type a text to go on from; /help lists the commands.", Style::Note);
        self.status(None);
    }

    fn settings_line(&mut self) {
        let s = self.session.settings;
        let mut line = Line::new();
        if s.is_greedy() {
            line.text(b"[greedy");
        } else {
            line.text(b"[temperature ").decimal(s.temperature).text(b", top-k ").number(s.top_k);
            line.text(b", penalty ").decimal(s.penalty).text(b", seed ").number(self.seed);
        }
        line.text(b", at most ").number(self.n).text(b" tokens]");
        self.app.console.note(&line);
    }

    fn status(&mut self, turn: Option<&Turn>) {
        let mut line = Line::new();
        let description = self.header.description_bytes();
        line.text(&description[..description.len().min(30)]);
        let context = self.session.context();
        let used = self.session.len().min(context);
        line.text(b" | context ").number(used).text(b"/").number(context);
        if let Some(turn) = turn {
            let time = turn.watch.milliseconds() + 1;
            line.text(b" | ").tenths((turn.tokens * 10_000).div_ceil(time)).text(b" tokens/s | ");
            line.tenths(time / 100).text(b" s");
        }
        self.app.console.status(line.bytes());
    }

    fn converse(&mut self) -> After {
        self.app.console.fresh_input();
        loop {
            let Some(key) = keys::next() else { continue };
            if key == Key::Help {
                self.help();
                continue;
            }
            if !self.app.console.key(key) {
                continue;
            }
            let mut text = [0u8; LINE_MAX];
            let line = self.app.console.editor.line();
            let len = line.len();
            text[..len].copy_from_slice(line);
            self.app.console.fresh_input();
            let text = &text[..len];
            if let Some(parsed) = command::parse(text) {
                match parsed {
                    Ok(command) => {
                        if let Some(after) = self.command(command) {
                            return after;
                        }
                    }
                    Err(error) => {
                        let mut line = Line::new();
                        line.text(b"[").text(error.command.as_bytes()).text(b" takes ");
                        line.text(error.expected.as_bytes()).text(b"]");
                        self.app.console.note(&line);
                    }
                }
                continue;
            }
            self.turn(text);
        }
    }

    fn help(&mut self) {
        for (name, what) in HELP.iter().chain(HELP_NATIVE) {
            let mut line = Line::new();
            line.text(b"  ").text(name.as_bytes());
            while line.bytes().len() < 16 {
                line.text(b" ");
            }
            line.text(what.as_bytes());
            self.app.console.note(&line);
        }
        self.app.console.say(b"  RUN/STOP stops an answer, F5 and F7 look back.", Style::Note);
    }

    fn command(&mut self, command: Command<'_>) -> Option<After> {
        match command {
            Command::N(n) => self.n = n,
            Command::Temp(t) => self.session.settings.temperature = t,
            Command::TopK(k) if k == 0 || k > TOP_K_MAX as u32 => {
                self.app.console.say(b"[/topk takes 1 to 64 on the MEGA65]", Style::Note);
                return None;
            }
            Command::TopK(k) => self.session.settings.top_k = k,
            Command::Penalty(p) => self.session.settings.penalty = p,
            Command::Greedy => self.session.settings = Settings::GREEDY,
            Command::Seed(seed) => {
                self.seed = seed;
                self.session.seed(seed);
            }
            Command::Eos => {
                self.show_end = !self.show_end;
                let text: &[u8] = if self.show_end { b"[the end is shown]" } else { b"[the end is not shown]" };
                self.app.console.say(text, Style::Note);
                return None;
            }
            Command::Stats => {
                self.stats();
                return None;
            }
            Command::Reset => {
                self.session.reset();
                self.folder.reset();
                self.app.console.say(b"[a fresh context]", Style::Note);
                self.status(None);
                return None;
            }
            Command::Model(_) => return Some(After::Menu),
            Command::Save(_) => {
                self.app.console.say(b"[this card's DOS cannot write: nothing was saved]", Style::Note);
                return None;
            }
            Command::Core(_) => {
                self.app.console.say(b"[the SSNAIL core computes]", Style::Note);
                return None;
            }
            Command::Quit => return Some(After::Leave),
            Command::Help | Command::Numerics(_) => {
                self.help();
                return None;
            }
        }
        self.settings_line();
        None
    }

    fn stats(&mut self) {
        let mut line = Line::new();
        line.text(b"[").number(self.tokens).text(b" tokens in ").tenths(self.time / 100).text(b" s");
        if self.time > 0 {
            line.text(b", ").tenths((self.tokens * 10_000).div_ceil(self.time)).text(b" tokens/s");
        }
        let context = self.session.context();
        line.text(b"; ").number(self.session.len().min(context)).text(b" of ").number(context);
        line.text(b" tokens of context]");
        self.app.console.note(&line);
    }

    /// Appends a text to the context; says why where it does not go in.
    fn append(&mut self, text: &[u8]) -> bool {
        let before = self.session.len();
        let place = if self.session.is_empty() { Place::First } else { Place::Later };
        let reader = self.app.machine.accelerator();
        let mut refused = None;
        let (session, core) = (&mut self.session, &mut self.core);
        let result = Tables::open(&reader, self.header).and_then(|mut tables| {
            encode(&mut tables, text, place, Rules::TYPED, scratch(), |id| {
                session.push(core, id).map_err(|error| {
                    refused = Some(error);
                    SinkFull
                })
            })
        });
        if let Some(error) = refused {
            let _ = self.session.truncate(&self.core, before);
            self.explain(&error);
            return false;
        }
        match result {
            Ok(_) => true,
            Err(error) => {
                let _ = self.session.truncate(&self.core, before);
                self.explain_tables(&error);
                false
            }
        }
    }

    fn turn(&mut self, text: &[u8]) {
        self.app.console.say(text, Style::Typed);
        if !self.append(text) {
            return;
        }
        if self.session.is_empty() {
            self.app.console.say(b"[nothing to go on from: type a text]", Style::Note);
            return;
        }
        if let Err(error) = self.session.begin(&mut self.core, self.n) {
            self.explain(&error);
            return;
        }
        let mut turn = Turn { watch: Stopwatch::start(), tokens: 0 };
        let result = self.answer(&mut turn);
        for c in self.folder.finish().as_bytes() {
            self.app.console.write(&[*c], Style::Text);
        }
        self.tokens += turn.tokens;
        self.time += turn.watch.milliseconds();
        self.app.console.say(b"", Style::Text);
        match result {
            Ok(StopReason::Eos) => self.app.console.say(b"[end of text]", Style::Note),
            Ok(StopReason::Context) => self.context_full(),
            Ok(StopReason::Requested) => self.app.console.say(b"[stopped]", Style::Note),
            Ok(StopReason::Count) => {}
            Err(Some(error)) => self.explain(&error),
            Err(None) => self.app.console.say(
                b"[the core has been busy for a minute without a token: /model loads the model again]",
                Style::Error,
            ),
        }
        self.status(Some(&turn));
    }

    /// Follows an answer to its end; `Err(None)`: the core does not come back.
    fn answer(&mut self, turn: &mut Turn) -> Result<StopReason, Option<TurnError>> {
        let mut quiet = Stopwatch::start();
        let mut shown = Stopwatch::start();
        let mut stops = 0;
        loop {
            match self.session.poll(&mut self.core).map_err(Some)? {
                Event::Token(token) => {
                    turn.tokens += 1;
                    quiet = Stopwatch::start();
                    if self.show_end {
                        self.end_shown(token);
                    }
                    self.piece(token).map_err(Some)?;
                }
                Event::Prompt { .. } => quiet = Stopwatch::start(),
                Event::Done(reason) => return Ok(reason),
                Event::Working => {
                    if quiet.milliseconds() > PATIENCE {
                        return Err(None);
                    }
                }
            }
            if shown.milliseconds() > STATUS_EVERY {
                shown = Stopwatch::start();
                self.status(Some(turn));
            }
            while let Some(key) = keys::next() {
                if key == Key::Stop {
                    stops += 1;
                    // A core that does not even see the stop is given up at the third press.
                    if stops > 2 {
                        return Err(None);
                    }
                    self.session.stop(&mut self.core).map_err(|fault| Some(fault))?;
                } else if key != Key::Return {
                    // What is typed meanwhile waits in the line.
                    self.app.console.key(key);
                }
            }
        }
    }

    /// Shows the text of a token.
    fn piece(&mut self, token: u32) -> Result<(), TurnError> {
        let reader = self.app.machine.accelerator();
        let Ok(tables) = Tables::open(&reader, self.header) else { return Ok(()) };
        let (folder, console) = (&mut self.folder, &mut self.app.console);
        let read = tables.piece(token, |bytes| {
            for b in bytes {
                console.write(folder.push(*b).as_bytes(), Style::Text);
            }
        });
        match read {
            Ok(()) => Ok(()),
            // Rows beyond the vocabulary have no text.
            Err(tokenizer::Error::NoSuchToken { .. }) => Ok(()),
            Err(tokenizer::Error::Damaged { address, found, .. }) => Err(TurnError::Runtime { address, found }),
            Err(_) => Ok(()),
        }
    }

    /// How likely the end was before this token.
    fn end_shown(&mut self, token: u32) {
        let settings = self.session.settings;
        let percent = if settings.is_greedy() {
            // The logits are already the next ones'; the core's own choice is known.
            Ok(if token == self.header.eos { 100 } else { 0 })
        } else {
            let h = self.header;
            sampler::percent(&self.core, h.output, h.output_len, &settings, h.eos, self.room)
        };
        if let Ok(percent) = percent {
            if percent >= WORTH_SHOWING {
                let mut line = Line::new();
                line.text(b"<EOS ").number(percent).text(b"%>");
                self.app.console.write(line.bytes(), Style::Note);
            }
        }
    }

    fn context_full(&mut self) {
        let mut line = Line::new();
        line.text(b"[context full: it holds ").number(self.session.context());
        line.text(b" tokens; /reset starts afresh]");
        self.app.console.note(&line);
    }

    fn explain(&mut self, error: &TurnError) {
        let mut line = Line::new();
        match *error {
            TurnError::ContextFull { .. } => return self.context_full(),
            TurnError::NoSuchToken { token, n_vocab } => {
                line.text(b"[token ").number(token).text(b" does not exist: the vocabulary has ");
                line.number(n_vocab).text(b" tokens; the image is damaged]");
            }
            TurnError::Core(code) => {
                line.text(b"[the core stopped: ");
                match JobError::from_code(code) {
                    Some(known) => line.text(known.text().as_bytes()),
                    None => line.text(b"unknown reason"),
                };
                line.text(b" (error ").number(u32::from(code)).text(b"); /model loads it again]");
            }
            TurnError::Runtime { address, found } => {
                line.text(b"[damaged image: ").hex(found, 8).text(b" at ").hex(address, 7);
                line.text(b"; /model loads it again]");
            }
            TurnError::Sample(SampleError::NotFinite { token }) => {
                line.text(b"[the logit of token ").number(token).text(b" is not a number: the weights are damaged]");
            }
            TurnError::Sample(_) => {
                line.text(b"[the logits cannot be read; /greedy leaves the choice to the core]");
            }
            TurnError::Memory(fault) => {
                line.text(b"[the core's memory does not answer at ").hex(fault.address, 7).text(b"; /model loads again]");
            }
        }
        let bytes = line;
        self.app.console.say(bytes.bytes(), Style::Error);
    }

    fn explain_tables(&mut self, error: &tokenizer::Error) {
        let mut line = Line::new();
        match *error {
            tokenizer::Error::Damaged { field, address, .. } => {
                line.text(b"[damaged image: ").text(field.as_bytes()).text(b" at ").hex(address, 7);
                line.text(b"; /model loads it again]");
            }
            tokenizer::Error::Memory(fault) => {
                line.text(b"[damaged image: a table lies at ").hex(fault.address, 7).text(b"]");
            }
            tokenizer::Error::TextTooLong { capacity } => {
                line.text(b"[the line is too long: at most ").number(capacity).text(b" characters]");
            }
            _ => {
                line.text(b"[the text could not be tokenized]");
            }
        }
        self.app.console.say(line.bytes(), Style::Error);
    }
}
