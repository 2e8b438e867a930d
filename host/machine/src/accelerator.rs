//! An image in a machine: prompts, generation, embeddings, and the [`Core`] that a conversation drives.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ssnail_shared::header::Header;
use ssnail_shared::map::{HEADER_LEN, TOKEN_SLOTS, TOKENS};
use ssnail_shared::mem::{self, Memory as _, ReadMemory};
use ssnail_shared::registers::JobError;
use ssnail_shared::runtime::{self, StopReason};
use ssnail_shared::session::{Core, CoreState};
use thiserror::Error;

use crate::fault::Fault;
use crate::image::{self, ImageError};
use crate::kernel::Numerics;
use crate::machine::{Executed, Hooks, Machine, Registers, Step};
use crate::memory::Memory;
use crate::stats::Stats;

/// How an image is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Rules of the arithmetic.
    pub numerics: Numerics,
    /// Threads that multiply, at least one.
    pub threads: usize,
    /// Most instructions in one run.
    pub max_instructions: u64,
    /// One position after the other, see [`Machine::set_plain`].
    pub plain: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { numerics: Numerics::Float, threads: 1, max_instructions: 50_000_000, plain: false }
    }
}

/// Why a prompt was refused. Nothing has been written then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PromptError {
    /// More tokens than the image holds.
    #[error("the prompt has {length} tokens, the context holds {context}: shorten it, or convert with a larger --ctx")]
    TooLong {
        /// Tokens in the prompt.
        length: usize,
        /// Positions of the image.
        context: u32,
    },
    /// A token without a row in the embedding.
    #[error("token {token} (number {index} of the prompt) does not exist: the vocabulary ends at {last}")]
    NoSuchToken {
        /// The token.
        token: u32,
        /// Its place in the prompt, from 0.
        index: usize,
        /// The largest token.
        last: u32,
    },
    /// An encoder image was asked to generate, or a decoder image to embed.
    #[error("{0}")]
    WrongKind(&'static str),
}

/// Why a run ended without a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RunError {
    /// The prompt was refused.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// The script faulted.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// An access to the runtime block or the token buffer failed.
    #[error("{0}")]
    Memory(mem::Fault),
    /// The script ended without a known stop reason.
    #[error("the runtime word at ${address:07X} holds {found}: the image's script is damaged, convert it again")]
    Runtime {
        /// Address of the word.
        address: u32,
        /// What it holds.
        found: u32,
    },
}

impl From<mem::Fault> for RunError {
    fn from(fault: mem::Fault) -> Self {
        Self::Memory(fault)
    }
}

/// What a run of a decoder left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Tokens generated, the end-of-sequence token included.
    pub generated: Vec<u32>,
    /// Why it stopped.
    pub reason: StopReason,
    /// The runtime block's position.
    pub pos: u32,
    /// What this run moved.
    pub stats: Stats,
}

/// What a caller may watch while a decoder runs. Every method has a default that does nothing.
pub trait Watch {
    /// A token was generated; `false` asks for a stop.
    fn token(&mut self, _token: u32) -> bool {
        true
    }

    /// The logits of a position, prompt positions included.
    fn logits(&mut self, _pos: u32, _logits: &[f32]) {}

    /// Whether [`Watch::logits`] is wanted: prompt positions are otherwise free to skip their classifier.
    fn wants_logits(&self) -> bool {
        false
    }

    /// Chooses the token that follows `pos`, where one is generated; `largest` is the greedy choice.
    fn choose(&mut self, _pos: u32, _logits: &[f32], largest: u32) -> u32 {
        largest
    }

    /// An instruction was executed (HALT is not reported).
    fn instruction(&mut self, _executed: &Executed<'_>) {}

    /// Whether [`Watch::instruction`] is wanted.
    fn wants_instructions(&self) -> bool {
        false
    }
}

/// Nothing to watch.
impl Watch for () {}

/// A loaded image.
#[derive(Debug)]
pub struct Accelerator {
    machine: Machine,
    header: Header,
    limit: u64,
    stop: Arc<AtomicBool>,
    job: Job,
}

/// The job that [`Core::go`] started.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Job {
    Idle,
    Running { left: u64 },
    Failed(Fault),
}

impl Accelerator {
    /// Checks and loads an image file through the load port; `progress` is told the bytes sent so far.
    ///
    /// # Errors
    /// [`ImageError`].
    pub fn open(path: &Path, options: &Options, progress: impl FnMut(u64)) -> Result<Self, ImageError> {
        let read = |error| ImageError::Read { error };
        let mut file = File::open(path).map_err(read)?;
        let length = file.metadata().map_err(read)?.len();
        let mut start = Vec::new();
        file.by_ref().take(u64::from(HEADER_LEN)).read_to_end(&mut start).map_err(read)?;
        let header = image::check_start(&start, length)?;
        Self::from_reader(header, (&start[..]).chain(file), options, progress)
    }

    /// Checks and loads an image as [`Accelerator::open`] does.
    ///
    /// # Errors
    /// [`ImageError`].
    pub fn load(file: &[u8], options: &Options, progress: impl FnMut(u64)) -> Result<Self, ImageError> {
        Self::from_reader(image::check(file)?, file, options, progress)
    }

    fn from_reader(
        header: Header,
        file: impl Read,
        options: &Options,
        progress: impl FnMut(u64),
    ) -> Result<Self, ImageError> {
        let length = Memory::length_for(header.memory_needed);
        let mut machine = Machine::new(length, options.numerics, options.threads);
        machine.set_plain(options.plain);
        image::load(&header, file, machine.memory_mut(), progress)?;
        Ok(Self { machine, header, limit: options.max_instructions, stop: Arc::default(), job: Job::Idle })
    }

    /// The image's header.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The machine.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The machine, to be changed between runs.
    pub fn machine_mut(&mut self) -> &mut Machine {
        &mut self.machine
    }

    /// What has been moved since the image was loaded.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.machine.stats
    }

    /// A flag that asks for a stop after the current token, from another thread or a signal handler. Every run clears it.
    #[must_use]
    pub fn stop_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// The fault that ended the last job started by [`Core::go`].
    #[must_use]
    pub fn fault(&self) -> Option<Fault> {
        match self.job {
            Job::Failed(fault) => Some(fault),
            _ => None,
        }
    }

    /// The output vector: the logits of the last position, or the embedding.
    ///
    /// # Errors
    /// [`RunError::Memory`] where the header points outside the memory.
    pub fn output(&self) -> Result<Vec<f32>, RunError> {
        let length = 4 * u64::from(self.header.output_len);
        let fault = mem::Fault { address: self.header.output, length: self.header.output_len.saturating_mul(4) };
        let bytes = self.machine.memory().slice(self.header.output, length).ok_or(fault)?;
        Ok(bytes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect())
    }

    /// Forgets prompt, tokens and stop state, as after loading. The caches keep their contents, which no script reads
    /// before it writes them.
    ///
    /// # Errors
    /// [`RunError::Memory`], which a loaded image does not cause.
    pub fn reset(&mut self) -> Result<(), RunError> {
        self.job = Job::Idle;
        let memory = self.machine.memory_mut();
        memory.write_words(runtime::POS, &[0; 8])?;
        memory.write_words(TOKENS, &[0; TOKEN_SLOTS as usize])?;
        Ok(())
    }

    /// Whether every token of a prompt exists and all of them fit.
    ///
    /// # Errors
    /// [`PromptError`].
    pub fn check_prompt(&self, tokens: &[u32]) -> Result<(), PromptError> {
        let context = self.header.context;
        if tokens.len() > context.min(TOKEN_SLOTS) as usize {
            return Err(PromptError::TooLong { length: tokens.len(), context });
        }
        // An encoder's output is not a vocabulary; a decoder's embedding may have more rows than the token list.
        let rows = if self.header.is_encoder() { 0 } else { self.header.output_len };
        let vocabulary = self.header.n_vocab.max(rows);
        match tokens.iter().position(|&t| t >= vocabulary) {
            Some(index) => {
                Err(PromptError::NoSuchToken { token: tokens[index], index, last: vocabulary.saturating_sub(1) })
            }
            None => Ok(()),
        }
    }

    /// Runs a decoder on a prompt from position 0 and generates at most `n` tokens. An `n` beyond the context stops with
    /// [`StopReason::Context`].
    ///
    /// # Errors
    /// [`RunError`]; a refused prompt has changed nothing.
    pub fn generate(&mut self, prompt: &[u32], n: u32, watch: &mut impl Watch) -> Result<Outcome, RunError> {
        if self.header.is_encoder() {
            return Err(PromptError::WrongKind("this image is an encoder: use embed").into());
        }
        self.run(prompt, n, watch)
    }

    /// Runs an encoder on a sequence and gives the pooled vector.
    ///
    /// # Errors
    /// [`RunError`]; a refused prompt has changed nothing.
    pub fn embed(&mut self, tokens: &[u32], watch: &mut impl Watch) -> Result<Vec<f32>, RunError> {
        if !self.header.is_encoder() {
            return Err(PromptError::WrongKind("this image is a decoder: use run").into());
        }
        if tokens.is_empty() {
            return Err(PromptError::WrongKind("there is nothing to embed").into());
        }
        self.run(tokens, 0, watch)?;
        self.output()
    }

    fn run(&mut self, prompt: &[u32], n: u32, watch: &mut impl Watch) -> Result<Outcome, RunError> {
        self.check_prompt(prompt)?;
        let length = prompt.len() as u32;
        let before = self.machine.stats;
        self.stop.store(false, Ordering::Relaxed);
        let memory = self.machine.memory_mut();
        memory.write_words(TOKENS, prompt)?;
        memory.write_words(runtime::POS, &[0, length, n, 0, 0, 0])?;
        let mut hooks = RunHooks { watch, stop: &self.stop, prompt_len: length, told: 0 };
        self.machine.start(self.header.code);
        self.machine.run(self.limit, &mut hooks)?;
        let stats = before.until(&self.machine.stats);
        let memory = self.machine.memory();
        let found = memory.read_u32(runtime::STOP_REASON)?;
        let reason = StopReason::from_word(found).ok_or(RunError::Runtime { address: runtime::STOP_REASON, found })?;
        let count = memory.read_u32(runtime::GENERATED)?;
        if length.checked_add(count).is_none_or(|end| end > TOKEN_SLOTS) {
            return Err(RunError::Runtime { address: runtime::GENERATED, found: count });
        }
        let generated = (0..count).map(|t| memory.read_u32(TOKENS + 4 * (length + t))).collect::<Result<_, _>>()?;
        Ok(Outcome { generated, reason, pos: memory.read_u32(runtime::POS)?, stats })
    }
}

/// A [`Watch`] as the machine's [`Hooks`].
struct RunHooks<'a, W> {
    watch: &'a mut W,
    stop: &'a AtomicBool,
    prompt_len: u32,
    told: u32,
}

impl<W: Watch> Hooks for RunHooks<'_, W> {
    fn sync(&mut self, memory: &mut Memory) {
        // Runtime block and token buffer lie in every memory; a word that cannot be read is a token not told.
        let generated = memory.read_u32(runtime::GENERATED).unwrap_or(0);
        while self.told < generated.min(TOKEN_SLOTS) {
            let slot = TOKENS + 4 * self.prompt_len.saturating_add(self.told).min(TOKEN_SLOTS - 1);
            self.told += 1;
            if let Ok(token) = memory.read_u32(slot)
                && !self.watch.token(token)
            {
                self.stop.store(true, Ordering::Relaxed);
            }
        }
        if self.stop.load(Ordering::Relaxed) {
            // The header is inside the memory: the write cannot fail.
            let _ = memory.write_u32(runtime::STOP_REQUEST, 1);
        }
    }

    fn argmax(&mut self, registers: &Registers, values: &[f32], largest: u32) -> u32 {
        let pos = registers.r[0];
        self.watch.logits(pos, values);
        if pos.saturating_add(1) < self.prompt_len { largest } else { self.watch.choose(pos, values, largest) }
    }

    fn every_argmax(&self) -> bool {
        self.watch.wants_logits()
    }

    fn instruction(&mut self, executed: &Executed<'_>) {
        self.watch.instruction(executed);
    }

    fn every_instruction(&self) -> bool {
        self.watch.wants_instructions()
    }
}

impl ReadMemory for Accelerator {
    fn read(&self, address: u32, out: &mut [u8]) -> Result<(), mem::Fault> {
        self.machine.memory().read(address, out)
    }
}

impl mem::Memory for Accelerator {
    fn write(&mut self, address: u32, data: &[u8]) -> Result<(), mem::Fault> {
        self.machine.memory_mut().write(address, data)
    }
}

/// A job runs while its state is looked at: each look runs it to its next SYNC.
impl Core for Accelerator {
    fn go(&mut self, job: u32) {
        if !matches!(self.job, Job::Running { .. }) {
            self.machine.start(job);
            self.job = Job::Running { left: self.limit };
        }
    }

    fn state(&mut self) -> CoreState {
        if let Job::Running { mut left } = self.job {
            self.job = match self.machine.advance(&mut left, &mut ()) {
                Ok(Step::Halt) => Job::Idle,
                Ok(_) => Job::Running { left },
                Err(Fault::Limit { pc, .. }) => Job::Failed(Fault::Limit { limit: self.limit, pc }),
                Err(fault) => Job::Failed(fault),
            };
        }
        match self.job {
            Job::Failed(fault) => CoreState::Failed(fault.job_error().unwrap_or(JobError::Operand) as u8),
            Job::Running { .. } => CoreState::Busy,
            Job::Idle => CoreState::Idle,
        }
    }
}
