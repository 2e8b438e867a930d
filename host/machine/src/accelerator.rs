//! An image in a machine: prompts, generation, embeddings, and the [`Core`](ssnail_shared::session::Core) that a conversation drives.

mod core;
mod error;
mod watch;

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ssnail_shared::caches;
use ssnail_shared::header::Header;
use ssnail_shared::map::{HEADER_LEN, TOKEN_SLOTS, TOKENS};
use ssnail_shared::mem::{self, ReadMemory};
use ssnail_shared::runtime::{self, StopReason};

use crate::fault::Fault;
use crate::image::{self, ImageError};
use crate::kernel::Numerics;
use crate::machine::Machine;
use crate::memory::Memory;
use crate::stats::Stats;
pub use error::{PromptError, RunError};
use watch::RunHooks;
pub use watch::Watch;

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

/// A loaded image.
#[derive(Debug)]
pub struct Accelerator {
    machine: Machine,
    header: Header,
    limit: u64,
    stop: Arc<AtomicBool>,
    job: Job,
}

/// The job that [`Core::go`](ssnail_shared::session::Core::go) started.
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
        caches::check(machine.memory(), &header)?;
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

    /// The fault that ended the last job started by [`Core::go`](ssnail_shared::session::Core::go).
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
