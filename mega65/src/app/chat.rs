//! A conversation with a model that writes text.

#![allow(unsafe_code)]

use super::{After, App, TITLE};
use crate::hw::clock::{self, Stopwatch};
use crate::hw::core::Accelerator;
use crate::hw::keys;
use crate::hw::vic::{self, Screen};
use crate::out::Line;
use ssnail_shared::caches;
use ssnail_shared::command::{self, Command, HELP, HELP_NATIVE};
use ssnail_shared::fold::AsciiFolder;
use ssnail_shared::header::Header;
use ssnail_shared::mem::ReadMemory;
use ssnail_shared::registers::JobError;
use ssnail_shared::runtime::StopReason;
use ssnail_shared::sampler::{self, Candidate, SampleError, Settings};
use ssnail_shared::session::{Event, Session, TurnError};
use ssnail_shared::tokenizer::{self, encode, Place, Rules, SinkFull, Tables, WORDS_PER_BYTE};
use ssnail_shared::ui::editor::{Key, LINE_MAX};
use ssnail_shared::ui::{Style, Surface};

/// Candidates that fit; `/topk` goes up to this.
pub const TOP_K_MAX: usize = 64;
/// The end is shown from this probability on, in percent.
const WORTH_SHOWING: u32 = 5;
/// Empty on every screen that the vocabulary is opened from.
const CHECKING_ROW: u8 = 47;
/// A core that shows nothing new for this long is given up, in milliseconds.
const PATIENCE: u32 = 60_000;
/// The status line is renewed this often while an answer comes, in milliseconds.
const STATUS_EVERY: u32 = 250;

static mut SCRATCH: [u32; LINE_MAX * WORDS_PER_BYTE as usize] = [0; LINE_MAX * WORDS_PER_BYTE as usize];

/// Opens the vocabulary; says on the list's screen what is wrong with it.
#[inline(never)]
pub fn open_tables<'m>(app: &mut App, reader: &'m Accelerator, header: &Header) -> Option<Tables<'m, Accelerator>> {
    // With 49,152 tokens two seconds.
    Screen.text(CHECKING_ROW, 0, b"Checking the vocabulary", Style::Note);
    let checked = Tables::open(reader, header).and_then(|tables| {
        caches::check(reader, header)?;
        tables.check()?;
        Ok(tables)
    });
    match checked {
        Ok(tables) => Some(tables),
        Err(error) => {
            let (template, what, number) = tables_fault(&error);
            app.message.put(template, &[number], &[what]);
            super::load::forget(reader.part);
            None
        }
    }
}

/// Tokenizes a line. One copy of the tokenizer serves both kinds of model.
#[inline(never)]
pub fn tokenize(
    tables: &mut Tables<'_, Accelerator>,
    text: &[u8],
    place: Place,
    sink: &mut dyn FnMut(u32) -> Result<(), SinkFull>,
) -> Result<(), tokenizer::Error> {
    // SAFETY: one thread, no interrupts, and the tokenizer does not call itself.
    let scratch = unsafe { &mut *(&raw mut SCRATCH) };
    encode(tables, text, place, Rules::TYPED, &mut scratch[..], sink).map(|_| ())
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
    tables: Tables<'r, Accelerator>,
    session: Session<'r>,
    room: &'a mut [Candidate],
    folder: AsciiFolder,
    n: u32,
    show_end: bool,
    /// RETURN was pressed while an answer came.
    entered: bool,
    seed: u32,
    /// Tokens generated, and milliseconds spent, since the model was loaded.
    tokens: u32,
    time: u32,
}

/// Talks until the person leaves.
#[inline(never)]
pub fn run(app: &mut App, header: &Header) -> After {
    let mut room = [Candidate::default(); TOP_K_MAX];
    let mut own = [Candidate::default(); TOP_K_MAX];
    let core = app.machine.accelerator();
    let reader = app.machine.accelerator();
    app.message = Line::new();
    let Some(tables) = open_tables(app, &reader, header) else { return After::Menu };
    let mut settings = app.config.settings;
    // What `/topk` takes, from the settings file as well; the sampler's loops rest on it.
    if settings.top_k.wrapping_sub(1) >= TOP_K_MAX as u32 {
        settings.top_k = TOP_K_MAX as u32;
    }
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
        tables,
        session,
        room: &mut own,
        folder: AsciiFolder::new(),
        n,
        show_end: false,
        entered: false,
        seed,
        tokens: 0,
        time: 0,
    };
    chat.greet(readable);
    chat.converse()
}

impl Chat<'_, '_> {
    #[inline(never)]
    fn greet(&mut self, readable: bool) {
        vic::clear();
        self.app.console.redraw(TITLE);
        introduce(&mut self.app.console, self.header, b"decoder");
        if !readable {
            self.app.console.note(b"[the logits lie where the processor cannot read: greedy only]");
        }
        self.settings_line();
        self.app.console.note(b"Type a text to go on from; /help lists the commands.");
        self.status(None);
    }

    #[inline(never)]
    fn settings_line(&mut self) {
        let s = self.session.settings;
        if s.is_greedy() {
            self.app.console.tell(Style::Note, b"[greedy, at most %n tokens]", &[self.n], &[]);
        } else {
            let numbers = [s.temperature.to_bits(), s.top_k, s.penalty.to_bits(), self.seed, self.n];
            let template = b"[temperature %d, top-k %n, penalty %d, seed %n, at most %n tokens]";
            self.app.console.tell(Style::Note, template, &numbers, &[]);
        }
    }

    #[inline(never)]
    fn status(&mut self, turn: Option<&Turn>) {
        let mut rest = Line::new();
        let description = self.header.description_bytes();
        let context = self.session.context();
        let used = self.session.len().min(context);
        rest.put(b" | context %n/%n", &[used, context], &[]);
        if let Some(turn) = turn {
            let time = turn.watch.milliseconds() + 1;
            rest.put(b" | %t tokens/s | %t s", &[rate(turn.tokens, time), time / 100], &[]);
        }
        let mut line = Line::new();
        let room = 80usize.saturating_sub(rest.bytes().len());
        line.text(&description[..description.len().min(room)]).text(rest.bytes());
        self.app.console.status(line.bytes());
    }

    #[inline(never)]
    fn converse(&mut self) -> After {
        self.app.console.fresh_input();
        loop {
            let entered = core::mem::take(&mut self.entered);
            let Some(key) = (if entered { Some(Key::Return) } else { keys::next() }) else { continue };
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
                        let texts = [error.command.as_bytes(), error.expected.as_bytes()];
                        self.app.console.tell(Style::Note, b"[%s takes %s]", &[], &texts);
                    }
                }
                continue;
            }
            self.turn(text);
        }
    }

    #[inline(never)]
    fn help(&mut self) {
        for (name, what) in HELP.iter().chain(HELP_NATIVE) {
            let pad = &b"              "[name.len().min(14)..];
            self.app.console.tell(Style::Note, b"  %s%s%s", &[], &[name.as_bytes(), pad, what.as_bytes()]);
        }
        self.app.console.note(b"  RUN/STOP stops an answer, F5 and F7 look back.");
    }

    #[inline(never)]
    fn command(&mut self, command: Command<'_>) -> Option<After> {
        match command {
            Command::N(n) => self.n = n,
            Command::Temp(t) => self.session.settings.temperature = t,
            Command::TopK(k) if k == 0 || k > TOP_K_MAX as u32 => {
                self.app.console.note(b"[/topk takes 1 to 64 on the MEGA65]");
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
                self.app.console.note(text);
                return None;
            }
            Command::Stats => {
                self.stats();
                return None;
            }
            Command::Reset => {
                self.session.reset();
                self.folder.reset();
                self.app.console.note(b"[a fresh context]");
                self.status(None);
                return None;
            }
            Command::Model(_) => return Some(After::Menu),
            Command::Save(_) => {
                self.app.console.note(b"[this card's DOS cannot write: nothing was saved]");
                return None;
            }
            Command::Core(word) => {
                self.app.choose_core(word, self.header);
                self.core = self.app.machine.accelerator();
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

    #[inline(never)]
    fn stats(&mut self) {
        let context = self.session.context();
        let used = self.session.len().min(context);
        let numbers = [self.tokens, self.time / 100, rate(self.tokens, self.time), used, context];
        let template = b"[%n tokens in %t s, %t tokens/s; %n of %n tokens of context]";
        self.app.console.tell(Style::Note, template, &numbers, &[]);
    }

    /// Appends a text to the context; says why where it does not go in.
    #[inline(never)]
    fn append(&mut self, text: &[u8]) -> bool {
        let before = self.session.len();
        let place = if self.session.is_empty() { Place::First } else { Place::Later };
        let mut refused = None;
        let (session, core) = (&mut self.session, &mut self.core);
        let result = tokenize(&mut self.tables, text, place, &mut |id| {
            session.push(core, id).map_err(|error| {
                refused = Some(error);
                SinkFull
            })
        });
        if let Some(error) = refused {
            let _ = self.session.truncate(&self.core, before);
            self.explain(&error);
            return false;
        }
        match result {
            Ok(()) => true,
            Err(error) => {
                let _ = self.session.truncate(&self.core, before);
                self.explain_tables(&error);
                false
            }
        }
    }

    #[inline(never)]
    fn turn(&mut self, text: &[u8]) {
        self.app.console.say(text, Style::Typed);
        if !self.append(text) {
            return;
        }
        if self.session.is_empty() {
            self.app.console.note(b"[nothing to go on from: type a text]");
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
            Ok(StopReason::Eos) => self.app.console.note(b"[end of text]"),
            Ok(StopReason::Context) => self.context_full(),
            Ok(StopReason::Requested) => self.app.console.note(b"[stopped]"),
            Ok(StopReason::Count) => {}
            Err(Some(error)) => self.explain(&error),
            Err(None) => self
                .app
                .console
                .say(b"[the core is busy and shows nothing new: /model loads the model again]", Style::Error),
        }
        self.status(Some(&turn));
    }

    /// Follows an answer to its end; `Err(None)`: the core does not come back.
    #[inline(never)]
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
                    if self.core.part.is_none() && quiet.milliseconds() > PATIENCE {
                        return Err(None);
                    }
                }
            }
            if shown.milliseconds() > STATUS_EVERY {
                shown = Stopwatch::start();
                self.status(Some(turn));
            }
            while let Some(key) = keys::next() {
                if key == Key::Stop && self.core.part.is_some() {
                    self.session.abandon(&mut self.core).map_err(Some)?;
                } else if key == Key::Stop {
                    stops += 1;
                    // A core that does not even see the stop is given up at the third press.
                    if stops > 2 {
                        return Err(None);
                    }
                    self.session.stop(&mut self.core).map_err(|fault| Some(fault))?;
                } else if key == Key::Return {
                    self.entered = true;
                } else if !self.entered {
                    // What is typed meanwhile waits in the line, which is taken when the answer is over.
                    self.app.console.key(key);
                }
            }
        }
    }

    /// Shows the text of a token.
    #[inline(never)]
    fn piece(&mut self, token: u32) -> Result<(), TurnError> {
        let (folder, console) = (&mut self.folder, &mut self.app.console);
        let read = self.tables.piece(token, |bytes| {
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
    #[inline(never)]
    fn end_shown(&mut self, token: u32) {
        let settings = self.session.settings;
        let percent = if settings.is_greedy() {
            // The logits are already the next ones'; the core's own choice is known.
            Ok(if token == self.header.eos { 100 } else { 0 })
        } else {
            let h = self.header;
            sampler::percent_drawn(&self.core, h.output, h.output_len, &settings, h.eos, self.room)
        };
        if let Ok(percent) = percent {
            if percent >= WORTH_SHOWING {
                let mut line = Line::new();
                line.put(b"<EOS %n%%>", &[percent], &[]);
                self.app.console.write(line.bytes(), Style::Note);
            }
        }
    }

    #[inline(never)]
    fn context_full(&mut self) {
        let template = b"[context full: it holds %n tokens; /reset starts afresh]";
        self.app.console.tell(Style::Note, template, &[self.session.context()], &[]);
    }

    #[inline(never)]
    fn explain(&mut self, error: &TurnError) {
        let mut why: &[u8] = b"";
        let (template, numbers): (&[u8], [u32; 2]) = match *error {
            TurnError::ContextFull { .. } => return self.context_full(),
            TurnError::NoSuchToken { token, n_vocab } => {
                (b"[token %n does not exist: the vocabulary has %n tokens; the image is damaged]", [token, n_vocab])
            }
            TurnError::Core(code) => {
                why = JobError::from_code(code).map_or(&b"unknown reason"[..], |known| known.text().as_bytes());
                (b"[the core stopped: %s (error %n); /model loads it again]", [u32::from(code), 0])
            }
            TurnError::Runtime { address, found } => {
                (b"[damaged image: %x at %x; /model loads it again]", [found, address])
            }
            TurnError::Sample(SampleError::NotFinite { token }) => {
                (b"[the logit of token %n is not a number: the weights are damaged]", [token, 0])
            }
            TurnError::Sample(_) => (b"[the logits cannot be read; /greedy leaves the choice to the core]", [0, 0]),
            TurnError::Memory(fault) => {
                (b"[the core's memory does not answer at %x; /model loads again]", [fault.address, 0])
            }
        };
        self.app.console.tell(Style::Error, template, &numbers, &[why]);
    }

    #[inline(never)]
    fn explain_tables(&mut self, error: &tokenizer::Error) {
        let (template, what, number) = tables_fault(error);
        self.app.console.tell(Style::Error, template, &[number], &[what]);
    }
}

/// What is wrong with a vocabulary or a text: template, text and number for it.
#[inline(never)]
fn tables_fault(error: &tokenizer::Error) -> (&'static [u8], &'static [u8], u32) {
    match *error {
        tokenizer::Error::Damaged { field, address, .. } => {
            (b"[damaged image: %s at %x; load or convert it again]", field.as_bytes(), address)
        }
        tokenizer::Error::Memory(fault) => {
            (b"[damaged image: a table lies at %x; load or convert it again]", b"", fault.address)
        }
        tokenizer::Error::TextTooLong { capacity } => (b"[the line is too long: at most %n characters]", b"", capacity),
        _ => (b"[the text could not be tokenized]", b"", 0),
    }
}

/// Tenths of tokens a second, rounded up so that a slow model does not read as standing still.
fn rate(tokens: u32, milliseconds: u32) -> u32 {
    if milliseconds == 0 {
        0
    } else {
        (tokens * 10_000).div_ceil(milliseconds)
    }
}

/// The two lines about a model.
#[inline(never)]
pub fn introduce(console: &mut crate::console::Console, header: &Header, kind: &[u8]) {
    console.tell(Style::Note, b"[%s]", &[], &[header.description_bytes()]);
    let texts = [header.architecture.name().as_bytes(), kind];
    console.tell(Style::Note, b"[%s %s, context %n, vocab %n]", &[header.context, header.n_vocab], &texts);
}
