//! A conversation with a decoder image, and a turn of it as a state machine (specification, sections 8 and 14).
//!
//! The program puts tokens into the token buffer, starts a job, and looks at the runtime block until the core is idle.
//! Nothing here waits: [`Session::poll`] is called again and again, so that a keyboard can be read in between.
//!
//! A prompt is processed in jobs of a few positions each, because the script sees a stop request only after a generated
//! token. With a temperature the core generates one token a job, and the choice is made here from its logits.

use core::fmt;

use crate::header::Header;
use crate::map::TOKENS;
use crate::mem::{Fault, Memory};
use crate::recent::Recent;
use crate::rng::Rng;
use crate::runtime::{self, StopReason};
use crate::sampler::{self, Candidate, SampleError, Settings};

/// What the core is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoreState {
    /// A job is running.
    Busy,
    /// No job is running, and the last one ended well.
    Idle,
    /// The last job ended with this error code ([`crate::registers::JobError`]).
    Failed(u8),
}

/// The accelerator, as a program sees it.
pub trait Core: Memory {
    /// Starts the job at this address.
    fn go(&mut self, job: u32);
    /// Looks at the status register; an emulator may run the job up to its next SYNC here.
    fn state(&mut self) -> CoreState;
}

/// Positions that a prompt job processes before a stop can take effect.
pub const PROMPT_CHUNK: u32 = 16;

/// What a call of [`Session::poll`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The core is at work.
    Working,
    /// Some of the prompt has been processed.
    Prompt {
        /// Positions of this turn's prompt that are done.
        done: u32,
        /// Positions in all.
        total: u32,
    },
    /// The next token of the answer.
    Token(u32),
    /// The turn is over.
    Done(StopReason),
}

/// Why a turn could not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnError {
    /// The text does not fit into what is left of the context.
    ContextFull {
        /// Tokens that would stand in the context.
        needed: u32,
        /// Tokens that it holds.
        context: u32,
    },
    /// A token that the vocabulary does not have.
    NoSuchToken {
        /// The token.
        token: u32,
        /// Tokens in the vocabulary.
        n_vocab: u32,
    },
    /// The core stopped with an error code.
    Core(u8),
    /// The runtime block holds a value that no script writes.
    Runtime {
        /// Address of the word.
        address: u32,
        /// What it holds.
        found: u32,
    },
    /// No token could be chosen.
    Sample(SampleError),
    /// Memory that cannot be reached.
    Memory(Fault),
}

impl From<Fault> for TurnError {
    fn from(fault: Fault) -> Self {
        Self::Memory(fault)
    }
}

impl From<SampleError> for TurnError {
    fn from(error: SampleError) -> Self {
        Self::Sample(error)
    }
}

impl fmt::Display for TurnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ContextFull { needed, context } => {
                write!(f, "context full: {needed} tokens, context {context}; /reset starts afresh")
            }
            Self::NoSuchToken { token, n_vocab } => {
                write!(f, "token {token} does not exist: the vocabulary has {n_vocab} tokens")
            }
            Self::Core(code) => match crate::registers::JobError::from_code(*code) {
                Some(error) => write!(f, "the core stopped: {} (error {code})", error.text()),
                None => write!(f, "the core stopped with the unknown error {code}"),
            },
            Self::Runtime { address, found } => {
                write!(f, "the runtime block holds {found} at ${address:07X}: the model's script is damaged")
            }
            Self::Sample(error) => error.fmt(f),
            Self::Memory(fault) => fault.fmt(f),
        }
    }
}

impl core::error::Error for TurnError {}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing has been started.
    Resting,
    /// A job processes the prompt up to position `end`; the token in slot `end` was `saved`.
    Prompt { end: u32, saved: u32 },
    /// A job generates; `told` of its tokens have been reported.
    Generating { told: u32, ended: Option<StopReason> },
    /// The turn is over.
    Over(StopReason),
}

/// A conversation: what stands in the token buffer and how the next token is chosen.
#[derive(Debug)]
pub struct Session<'a> {
    code: u32,
    context: u32,
    n_vocab: u32,
    eos: u32,
    logits: u32,
    rows: u32,
    /// Tokens in the buffer.
    len: u32,
    /// First position that has not been processed.
    pos: u32,
    /// Position where the turn began.
    from: u32,
    remaining: u32,
    stopping: bool,
    phase: Phase,
    recent: Recent,
    rng: Rng,
    room: &'a mut [Candidate],
    /// How tokens are chosen; may be changed between turns.
    pub settings: Settings,
}

impl<'a> Session<'a> {
    /// An empty conversation. `room` is lent for sampling: `top_k` places.
    pub fn new(header: &Header, settings: Settings, seed: u32, room: &'a mut [Candidate]) -> Self {
        Self {
            code: header.code,
            context: header.context,
            n_vocab: header.n_vocab,
            eos: header.eos,
            logits: header.output,
            rows: header.output_len,
            len: 0,
            pos: 0,
            from: 0,
            remaining: 0,
            stopping: false,
            phase: Phase::Resting,
            recent: Recent::new(),
            rng: Rng::new(seed),
            room,
            settings,
        }
    }

    /// Forgets the conversation; the random numbers go on.
    pub fn reset(&mut self) {
        self.len = 0;
        self.pos = 0;
        self.phase = Phase::Resting;
        self.recent.clear();
    }

    /// Starts the random numbers afresh.
    pub fn seed(&mut self, seed: u32) {
        self.rng = Rng::new(seed);
    }

    /// Tokens in the context.
    #[must_use]
    pub const fn len(&self) -> u32 {
        self.len
    }

    /// Whether nothing has been said yet: the next text is the first one.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Positions that the context holds.
    #[must_use]
    pub const fn context(&self) -> u32 {
        self.context
    }

    /// Whether a turn is under way.
    #[must_use]
    pub const fn is_running(&self) -> bool {
        matches!(self.phase, Phase::Prompt { .. } | Phase::Generating { .. })
    }

    /// Appends a token of the prompt.
    ///
    /// # Errors
    /// [`TurnError::ContextFull`], [`TurnError::NoSuchToken`]: the token is not appended. After an error,
    /// [`Session::truncate`] takes back what was appended before.
    pub fn push<C: Core>(&mut self, core: &mut C, token: u32) -> Result<(), TurnError> {
        if token >= self.n_vocab && token >= self.rows {
            return Err(TurnError::NoSuchToken { token, n_vocab: self.n_vocab });
        }
        if self.len >= self.context {
            return Err(TurnError::ContextFull { needed: self.len + 1, context: self.context });
        }
        core.write_u32(TOKENS + 4 * self.len, token)?;
        self.len += 1;
        self.recent.push(token);
        Ok(())
    }

    /// Takes back prompt tokens that no job has seen: `len` as it was before they were appended.
    ///
    /// # Errors
    /// [`TurnError::Memory`].
    pub fn truncate<C: Core>(&mut self, core: &C, len: u32) -> Result<(), TurnError> {
        if len < self.len && len >= self.pos {
            self.len = len;
            self.recent.clear();
            let mut at = len.saturating_sub(crate::recent::WINDOW as u32);
            while at < len {
                self.recent.push(core.read_u32(TOKENS + 4 * at)?);
                at += 1;
            }
        }
        Ok(())
    }

    /// Starts a turn: what was appended is processed, then at most `n` tokens are generated.
    ///
    /// # Errors
    /// [`TurnError::ContextFull`] where not even one more position can be processed; [`TurnError::Memory`].
    pub fn begin<C: Core>(&mut self, core: &mut C, n: u32) -> Result<(), TurnError> {
        self.stopping = false;
        self.remaining = n;
        self.from = self.pos;
        if self.len == 0 || n == 0 {
            self.phase = Phase::Over(StopReason::Count);
            return Ok(());
        }
        if self.pos >= self.context {
            return Err(TurnError::ContextFull { needed: self.len + 1, context: self.context });
        }
        self.next_job(core)
    }

    /// Asks for the end of the turn after the current token (or the current part of the prompt).
    ///
    /// # Errors
    /// [`TurnError::Memory`].
    pub fn stop<C: Core>(&mut self, core: &mut C) -> Result<(), TurnError> {
        self.stopping = true;
        if matches!(self.phase, Phase::Generating { .. }) {
            core.write_u32(runtime::STOP_REQUEST, 1)?;
        }
        Ok(())
    }

    /// Ends the turn at once, in the middle of a token, where what computes can be left alone and begins anew with the
    /// next job. What was reported stays.
    ///
    /// # Errors
    /// [`TurnError::Memory`].
    pub fn abandon<C: Core>(&mut self, core: &mut C) -> Result<(), TurnError> {
        if let Phase::Prompt { end, saved } = self.phase {
            core.write_u32(TOKENS + 4 * end, saved)?;
        }
        self.phase = Phase::Over(StopReason::Requested);
        Ok(())
    }

    /// Looks how far the turn is. Call until [`Event::Done`] or an error.
    ///
    /// # Errors
    /// [`TurnError`]; the turn is then over, and the conversation is as the core left it.
    pub fn poll<C: Core>(&mut self, core: &mut C) -> Result<Event, TurnError> {
        let result = self.step(core);
        if result.is_err() {
            self.phase = Phase::Resting;
        }
        result
    }

    fn step<C: Core>(&mut self, core: &mut C) -> Result<Event, TurnError> {
        match self.phase {
            Phase::Resting => Ok(Event::Done(StopReason::Count)),
            Phase::Over(reason) => {
                self.phase = Phase::Resting;
                Ok(Event::Done(reason))
            }
            Phase::Prompt { end, saved } => match core.state() {
                CoreState::Busy => Ok(Event::Working),
                CoreState::Failed(code) => Err(TurnError::Core(code)),
                CoreState::Idle => {
                    // The job wrote the token it generated over the prompt's own.
                    core.write_u32(TOKENS + 4 * end, saved)?;
                    self.pos = end;
                    let event = Event::Prompt { done: self.pos - self.from, total: self.len - self.from };
                    if self.stopping {
                        self.phase = Phase::Over(StopReason::Requested);
                    } else {
                        self.next_job(core)?;
                    }
                    Ok(event)
                }
            },
            Phase::Generating { told, ended: None } => self.generating(core, told),
            Phase::Generating { told, ended: Some(reason) } => self.after_job(core, told, reason),
        }
    }

    fn generating<C: Core>(&mut self, core: &mut C, told: u32) -> Result<Event, TurnError> {
        let state = core.state();
        if let CoreState::Failed(code) = state {
            return Err(TurnError::Core(code));
        }
        let greedy = self.settings.is_greedy();
        if state == CoreState::Busy {
            return if greedy { self.tell(core, told, None) } else { Ok(Event::Working) };
        }
        let word = core.read_u32(runtime::STOP_REASON)?;
        let Some(reason) = StopReason::from_word(word) else {
            return Err(TurnError::Runtime { address: runtime::STOP_REASON, found: word });
        };
        self.phase = Phase::Generating { told, ended: Some(reason) };
        self.after_job(core, told, reason)
    }

    /// Reports the next token that the script has published, if there is one.
    fn tell<C: Core>(&mut self, core: &C, told: u32, ended: Option<StopReason>) -> Result<Event, TurnError> {
        let generated = core.read_u32(runtime::GENERATED)?;
        if generated <= told {
            return Ok(Event::Working);
        }
        if self.len > self.context {
            return Err(TurnError::Runtime { address: runtime::GENERATED, found: generated });
        }
        let token = core.read_u32(TOKENS + 4 * self.len)?;
        self.len += 1;
        self.pos = self.len - 1;
        self.recent.push(token);
        self.phase = Phase::Generating { told: told + 1, ended };
        Ok(Event::Token(token))
    }

    fn after_job<C: Core>(&mut self, core: &mut C, told: u32, reason: StopReason) -> Result<Event, TurnError> {
        if self.settings.is_greedy() {
            let event = self.tell(core, told, Some(reason))?;
            if event != Event::Working {
                return Ok(event);
            }
            return self.over(core, reason, told);
        }
        if core.read_u32(runtime::GENERATED)? == 0 {
            return self.over(core, reason, 0);
        }
        if told == 0 {
            let token =
                sampler::draw(core, self.logits, self.rows, &self.settings, &self.recent, &mut self.rng, self.room)?;
            core.write_u32(TOKENS + 4 * self.len, token)?;
            self.len += 1;
            self.pos = self.len - 1;
            self.recent.push(token);
            self.remaining -= 1;
            self.phase = Phase::Generating { told: 1, ended: Some(reason) };
            if token == self.eos {
                self.phase = Phase::Over(StopReason::Eos);
            } else if self.remaining == 0 {
                self.phase = Phase::Over(StopReason::Count);
            } else if self.stopping {
                self.phase = Phase::Over(StopReason::Requested);
            }
            return Ok(Event::Token(token));
        }
        if self.stopping {
            self.phase = Phase::Resting;
            return Ok(Event::Done(StopReason::Requested));
        }
        self.next_job(core)?;
        Ok(Event::Working)
    }

    fn over<C: Core>(&mut self, core: &C, reason: StopReason, told: u32) -> Result<Event, TurnError> {
        let pos = core.read_u32(runtime::POS)?;
        if pos > self.context || pos > self.len {
            return Err(TurnError::Runtime { address: runtime::POS, found: pos });
        }
        self.pos = pos;
        self.phase = Phase::Resting;
        // The core chooses from anything; whether it was numbers shows only here.
        if told > 0 && core.check(self.logits, self.rows.saturating_mul(4)).is_ok() {
            sampler::check(core, self.logits, self.rows)?;
        }
        Ok(Event::Done(reason))
    }

    /// Starts the next job: a part of the prompt, or the generation.
    fn next_job<C: Core>(&mut self, core: &mut C) -> Result<(), TurnError> {
        let waiting = self.len - self.pos;
        let (prompt_len, n) = if waiting > PROMPT_CHUNK {
            let end = self.pos + PROMPT_CHUNK;
            let saved = core.read_u32(TOKENS + 4 * end)?;
            self.phase = Phase::Prompt { end, saved };
            (end, 1)
        } else {
            self.phase = Phase::Generating { told: 0, ended: None };
            (self.len, if self.settings.is_greedy() { self.remaining } else { 1 })
        };
        core.write_u32(runtime::POS, self.pos)?;
        core.write_u32(runtime::PROMPT_LEN, prompt_len)?;
        core.write_u32(runtime::N_GENERATE, n)?;
        core.write_u32(runtime::GENERATED, 0)?;
        core.write_u32(runtime::STOP_REQUEST, u32::from(self.stopping))?;
        core.write_u32(runtime::STOP_REASON, 0)?;
        core.go(self.code);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
