//! What a run is watched for: text to print, files to fill, tokens to choose.

use crate::exit::refused;
use crate::files::Output;
use crate::stream::TextStream;
use crate::vocabulary::Pieces;
use anyhow::Result;
use ssnail_machine::{Executed, Watch, trace};
use ssnail_shared::mem::SliceMemory;
use ssnail_shared::recent::Recent;
use ssnail_shared::rng::Rng;
use ssnail_shared::sampler::{self, Candidate, SampleError, Settings};
use std::io::{BufWriter, Write};
use std::path::Path;

/// Files that a run fills.
pub struct Files {
    logits: Option<BufWriter<Output>>,
    trace: Option<BufWriter<Output>>,
}

/// Opens an output file if one is wanted.
fn create(path: Option<&Path>) -> Result<Option<BufWriter<Output>>> {
    path.map(|path| Ok(BufWriter::new(Output::create(path)?))).transpose()
}

impl Files {
    /// Opens what is wanted.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn open(logits: Option<&Path>, trace: Option<&Path>) -> Result<Self> {
        Ok(Self { logits: create(logits)?, trace: create(trace)? })
    }

    /// Appends values to the file of logits.
    ///
    /// # Errors
    /// The disk is full.
    pub fn write_logits(&mut self, values: &[f32]) -> Result<()> {
        if let Some(file) = &mut self.logits {
            for value in values {
                file.write_all(&value.to_le_bytes())?;
            }
        }
        Ok(())
    }

    /// Makes the files appear.
    ///
    /// # Errors
    /// The disk is full.
    pub fn commit(self) -> Result<()> {
        for file in [self.logits, self.trace].into_iter().flatten() {
            file.into_inner().map_err(std::io::IntoInnerError::into_error)?.commit()?;
        }
        Ok(())
    }
}

/// Watches a run: prints text, fills files, chooses tokens. The first error ends the run.
pub struct Watching<'a> {
    files: &'a mut Files,
    chooser: Option<Chooser>,
    /// Where text goes, and the bytes of every token.
    pub stream: Option<(TextStream, Pieces)>,
    error: Option<anyhow::Error>,
}

impl<'a> Watching<'a> {
    /// Fills files only.
    pub fn quiet(files: &'a mut Files) -> Self {
        Self { files, chooser: None, stream: None, error: None }
    }

    /// Chooses tokens, and prints them where there is a stream.
    pub fn choosing(files: &'a mut Files, chooser: Chooser, stream: Option<(TextStream, Pieces)>) -> Self {
        Self { files, chooser: Some(chooser), stream, error: None }
    }

    fn keep(&mut self, result: Result<()>) {
        if let Err(error) = result {
            self.error.get_or_insert(error);
        }
    }

    /// The first error, if there was one.
    ///
    /// # Errors
    /// That one.
    pub fn finish(self) -> Result<()> {
        self.error.map_or(Ok(()), Err)
    }
}

impl Watch for Watching<'_> {
    fn token(&mut self, token: u32) -> bool {
        if let Some((stream, pieces)) = &mut self.stream {
            let result = stream.push(pieces.get(token)).map_err(anyhow::Error::from);
            self.keep(result);
        }
        self.error.is_none()
    }

    fn logits(&mut self, _pos: u32, logits: &[f32]) {
        let result = self.files.write_logits(logits);
        self.keep(result);
    }

    fn wants_logits(&self) -> bool {
        self.files.logits.is_some()
    }

    fn choose(&mut self, pos: u32, logits: &[f32], largest: u32) -> u32 {
        let Some(chooser) = &mut self.chooser else { return largest };
        match chooser.choose(logits) {
            Ok(token) => token,
            Err(error) => {
                self.keep(Err(refused(format_args!("position {pos}: {error}: the weights or the image are damaged"))));
                largest
            }
        }
    }

    fn instruction(&mut self, executed: &Executed<'_>) {
        if let Some(file) = &mut self.files.trace {
            let result = writeln!(file, "{}", trace::line(executed)).map_err(anyhow::Error::from);
            self.keep(result);
        }
    }

    fn wants_instructions(&self) -> bool {
        self.files.trace.is_some()
    }
}

/// Chooses the next token by the sampler that the MEGA65 uses as well.
pub struct Chooser {
    settings: Settings,
    recent: Recent,
    rng: Rng,
    room: Vec<Candidate>,
}

impl Chooser {
    /// A chooser after `prompt`, for `rows` logits.
    pub fn new(settings: Settings, seed: u32, prompt: &[u32], rows: u32) -> Self {
        let mut recent = Recent::new();
        prompt.iter().for_each(|&token| recent.push(token));
        Self { settings, recent, rng: Rng::new(seed), room: vec![Candidate::default(); rows as usize] }
    }

    fn choose(&mut self, logits: &[f32]) -> Result<u32, SampleError> {
        let bytes: Vec<u8> = logits.iter().flat_map(|value| value.to_le_bytes()).collect();
        let memory = SliceMemory::new(0, bytes);
        let rows = logits.len() as u32;
        let Self { settings, recent, rng, room } = self;
        let token = sampler::sample(&memory, 0, rows, settings, recent, rng, room)?;
        recent.push(token);
        Ok(token)
    }
}
