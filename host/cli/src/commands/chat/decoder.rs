//! A conversation with a model that writes text.

use crate::exit::refused;
use crate::stream::TextStream;
use crate::vocabulary::{Pieces, Vocabulary};
use crate::{interrupt, out};
use anyhow::Result;
use ssnail_machine::Accelerator;
use ssnail_shared::runtime::StopReason;
use ssnail_shared::sampler::{self, Candidate, Settings};
use ssnail_shared::session::{Event, Session, TurnError};
use ssnail_shared::tokenizer::{Place, Rules};
use std::io::Write;

/// The end is shown from this probability on, in percent.
const WORTH_SHOWING: u32 = 5;
/// Bandwidth of the core's memory for the estimate, in 1e6 bytes a second.
const BANDWIDTH: f64 = 130.0;

/// The conversation.
pub struct Conversation<'r> {
    /// The machine.
    pub accelerator: Accelerator,
    name: &'r str,
    /// What was said, and how the next token is chosen.
    pub session: Session<'r>,
    /// Most tokens in an answer.
    pub n: u32,
    /// Show how likely the end is.
    pub show_eos: bool,
    /// Fold answers to ASCII.
    pub ascii: bool,
    /// Start of the random numbers.
    pub seed: u32,
    pieces: Pieces,
    tokens: u64,
    room: Vec<Candidate>,
}

impl<'r> Conversation<'r> {
    /// Nothing said yet. `name` is how messages call the image; `room` is lent to the sampler: a place for every row
    /// of the logits.
    ///
    /// # Errors
    /// A refusal where the vocabulary is damaged.
    pub fn new(
        accelerator: Accelerator,
        name: &'r str,
        settings: Settings,
        seed: u32,
        room: &'r mut [Candidate],
    ) -> Result<Self> {
        let header = accelerator.header();
        let vocabulary = Vocabulary::open(accelerator.machine().memory(), header, name)?;
        let pieces = vocabulary.pieces(header)?;
        let own = vec![Candidate::default(); room.len()];
        let session = Session::new(header, settings, seed, room);
        Ok(Self { accelerator, name, session, n: 0, show_eos: false, ascii: false, seed, pieces, tokens: 0, room: own })
    }

    /// Starts the random numbers afresh.
    pub fn reseed(&mut self, seed: u32) {
        self.seed = seed;
        self.session.seed(seed);
    }

    /// One turn: `text` is appended, the answer printed as it is produced.
    ///
    /// # Errors
    /// A refusal where the text does not fit or the core faults; what was said before stays.
    pub fn turn(&mut self, text: &str) -> Result<()> {
        let ids = self.encode(text)?;
        let before = self.session.len();
        for &id in &ids {
            if let Err(error) = self.session.push(&mut self.accelerator, id) {
                self.session.truncate(&self.accelerator, before).map_err(refused)?;
                return Err(match error {
                    // The session stops at the first token too many; the user wants to know about all of them.
                    TurnError::ContextFull { context, .. } => {
                        let needed = before.saturating_add(u32::try_from(ids.len()).unwrap_or(u32::MAX));
                        self.explain(TurnError::ContextFull { needed, context })
                    }
                    error => self.explain(error),
                });
            }
        }
        if self.session.is_empty() {
            return Err(refused("nothing to go on from: this vocabulary has no token to begin with, type a text"));
        }
        self.session.begin(&mut self.accelerator, self.n).map_err(|error| self.explain(error))?;
        self.tokens += ids.len() as u64;
        let mut stream = TextStream::new(self.ascii);
        let reason = self.answer(&mut stream);
        stream.finish()?;
        let mut out = out::stdout();
        writeln!(out)?;
        match reason? {
            StopReason::Eos => writeln!(out, "[end of text]")?,
            StopReason::Context => writeln!(out, "[{}]", self.context_full())?,
            StopReason::Count | StopReason::Requested => {}
        }
        Ok(())
    }

    fn encode(&self, text: &str) -> Result<Vec<u32>> {
        let (memory, header) = (self.accelerator.machine().memory(), self.accelerator.header());
        let place = if self.session.is_empty() { Place::First } else { Place::Later };
        let (ids, encoded) =
            Vocabulary::open(memory, header, self.name)?.encode(text.as_bytes(), place, Rules::TYPED)?;
        if encoded.lost > 0 {
            writeln!(out::stdout(), "[{} bytes have no token in this vocabulary]", encoded.lost)?;
        }
        Ok(ids)
    }

    /// Polls the core to the end of the answer.
    fn answer(&mut self, stream: &mut TextStream) -> Result<StopReason> {
        let listening = interrupt::listen();
        let mut stopping = false;
        loop {
            if !stopping && listening.requested() {
                stopping = true;
                self.session.stop(&mut self.accelerator).map_err(refused)?;
            }
            match self.session.poll(&mut self.accelerator) {
                Ok(Event::Token(token)) => {
                    self.tokens += 1;
                    self.check_logits()?;
                    if self.show_eos {
                        self.show_end(stream)?;
                    }
                    stream.push(self.pieces.get(token))?;
                }
                Ok(Event::Done(reason)) => return Ok(reason),
                Ok(Event::Working | Event::Prompt { .. }) => {}
                Err(error) => return Err(self.explain(error)),
            }
        }
    }

    /// The sampler refuses logits that are no numbers; the core's own choice takes them, so they are looked at here.
    fn check_logits(&self) -> Result<()> {
        let header = self.accelerator.header();
        if self.session.settings.is_greedy()
            && let Err(error) = sampler::check(&self.accelerator, header.output, header.output_len)
        {
            return Err(refused(format_args!("position {}: {error}", self.session.len().saturating_sub(2))));
        }
        Ok(())
    }

    /// How likely the end was, before the token that was chosen.
    fn show_end(&mut self, stream: &mut TextStream) -> Result<()> {
        let header = self.accelerator.header();
        let (logits, rows, eos) = (header.output, header.output_len, header.eos);
        let settings = self.session.settings;
        let percent = sampler::percent(&self.accelerator, logits, rows, &settings, eos, &mut self.room);
        match percent {
            Ok(percent) if percent >= WORTH_SHOWING => Ok(stream.push(format!("<EOS {percent}%>").as_bytes())?),
            _ => Ok(()),
        }
    }

    /// An error of a turn with what is known beyond its code.
    fn explain(&self, error: TurnError) -> anyhow::Error {
        match (error, self.accelerator.fault()) {
            (TurnError::ContextFull { needed, .. }, _) => {
                refused(format_args!("{} ({needed} tokens would be needed)", self.context_full()))
            }
            (TurnError::Core(_), Some(fault)) => refused(fault),
            (TurnError::Sample(error), _) => {
                refused(format_args!("position {}: {error}", self.session.len().saturating_sub(1)))
            }
            (error, _) => refused(error),
        }
    }

    fn context_full(&self) -> String {
        let context = self.session.context();
        format!(
            "context full: it holds {context} tokens; /reset starts afresh, ssnail convert --ctx makes an image with more"
        )
    }

    /// What `/stats` says.
    pub fn statistics(&self) -> String {
        let stats = self.accelerator.stats();
        let context = self.session.context();
        let (moved, len) = (stats.bytes() as f64 / 1e6, self.session.len().min(context));
        let estimate = match stats.tokens_per_second(BANDWIDTH, self.tokens) {
            Some(rate) => format!("; estimate for the core at {BANDWIDTH} MB/s: {rate:.1} tokens/s"),
            None => String::new(),
        };
        let instructions = stats.instructions;
        format!("{instructions} instructions, {moved:.1} MB moved, {len} of {context} tokens of context{estimate}")
    }
}
