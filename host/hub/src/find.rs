//! From search words to a list of models with the memory that each needs.

use crate::api::{self, Repository};
use crate::fit::{self, Format, MEMORIES};
use crate::header::Prefix;
use crate::names::{self, Model};
use crate::{Client, HubError, Result, Url};
use ssnail_convert::{Options, WeightPolicy, memory_needs};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Words that are searched when none are given.
pub const DEFAULT_QUERIES: [&str; 9] =
    ["tinystories", "smollm", "minilm", "bert-tiny", "bert-mini", "tinyllama", "stories15m", "stories260k", "gpt2"];
/// Architectures that can be converted.
pub const SUPPORTED: [&str; 3] = ["llama", "gpt2", "bert"];
/// Repositories looked at side by side: the time goes into waiting for answers.
const WORKERS: usize = 4;
/// Headers are read of models up to this many bytes of Q4_0 weights; larger ones fit nowhere.
const WORTH_READING: f64 = 80.0 * 1_048_576.0;

/// What to look for.
#[derive(Debug, Clone)]
pub struct Search {
    /// Words; each is a query of its own.
    pub queries: Vec<String>,
    /// Repositories per query.
    pub limit: usize,
    /// Also models that cannot be converted or fit nowhere.
    pub all_arch: bool,
    /// Only models that fit this memory (one of [`MEMORIES`]).
    pub memory: Option<u32>,
    /// Read the headers of the files instead of estimating.
    pub exact: bool,
}

/// A model that was found.
#[derive(Debug, Clone)]
pub struct Found {
    /// Its repository.
    pub repository: Repository,
    /// The file to take: the one with the most bits per weight.
    pub model: Model,
    /// Where that file is downloaded from.
    pub url: Url,
    /// Architecture, if known or guessed.
    pub architecture: Option<String>,
    /// True if the architecture is guessed from the name.
    pub guessed: bool,
    /// Number of weights.
    pub parameters: Option<u64>,
    /// True if number and architecture were read from the file itself.
    pub measured: bool,
    /// Bytes of memory with each weight policy and the default context, computed as converting does;
    /// empty where only an estimate is possible.
    pub needs: Vec<(WeightPolicy, u64)>,
    /// Why it cannot be converted.
    pub refused: Option<String>,
    /// Best format per entry of [`MEMORIES`].
    pub fits: [Option<Format>; MEMORIES.len()],
    /// What else there is to say: gated, split, why it could not be read or converted.
    pub notes: Vec<String>,
}

/// What is told while the search runs.
#[derive(Debug)]
pub enum Progress<'a> {
    /// A query begins.
    Query {
        /// The words.
        words: &'a str,
    },
    /// A query was answered.
    Answered {
        /// Repositories not seen before.
        repositories: usize,
    },
    /// A repository was looked at and belongs into the table.
    Kept(&'a Found),
    /// A repository was looked at and does not.
    Left {
        /// Which.
        repository: &'a str,
        /// Why.
        why: &'a str,
    },
}

/// Runs all queries and gives back the models, smallest first, then most downloaded first.
///
/// # Errors
/// A search that fails ends everything; a repository that fails is left out with the reason.
pub fn find(client: &Client, search: &Search, progress: &(dyn Fn(&Progress<'_>) + Sync)) -> Result<Vec<Found>> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for words in &search.queries {
        progress(&Progress::Query { words });
        let mut repositories = api::search(client, words, search.limit)?;
        repositories.retain(|repository| seen.insert(repository.id.clone()));
        progress(&Progress::Answered { repositories: repositories.len() });
        found.extend(look_at_all(client, search, &repositories, progress));
    }
    found.sort_by(|a, b| {
        let key = |found: &Found| found.parameters.unwrap_or(u64::MAX);
        key(a)
            .cmp(&key(b))
            .then(b.repository.downloads.cmp(&a.repository.downloads))
            .then(a.repository.id.cmp(&b.repository.id))
    });
    Ok(found)
}

fn look_at_all(
    client: &Client,
    search: &Search,
    repositories: &[Repository],
    progress: &(dyn Fn(&Progress<'_>) + Sync),
) -> Vec<Found> {
    let next = AtomicUsize::new(0);
    let kept = Mutex::new(Vec::new());
    let work = || {
        while let Some(repository) = repositories.get(next.fetch_add(1, Ordering::Relaxed)) {
            match look_at(client, search, repository) {
                Ok(found) => {
                    progress(&Progress::Kept(&found));
                    if let Ok(mut kept) = kept.lock() {
                        kept.push(found);
                    }
                }
                Err(why) => progress(&Progress::Left { repository: &repository.id, why: &why }),
            }
        }
    };
    std::thread::scope(|scope| {
        let wanted = WORKERS.min(repositories.len());
        let begin = || std::thread::Builder::new().spawn_scoped(scope, work).is_ok();
        if (0..wanted).filter(|_| begin()).count() == 0 {
            work();
        }
    });
    kept.into_inner().unwrap_or_default()
}

/// Looks at one repository; `Err` says why it is left out.
fn look_at(client: &Client, search: &Search, repository: &Repository) -> std::result::Result<Found, String> {
    let told = repository.architecture.as_deref();
    if !search.all_arch && told.is_some_and(|architecture| !supported(architecture)) {
        return Err(format!("architecture {} is not supported", told.unwrap_or_default()));
    }
    let files = api::files(client, &repository.id, "main").map_err(|error| error.to_string())?;
    let models = names::models(&files);
    let model = names::best(&models).ok_or("no GGUF file of a model")?.clone();
    let url =
        api::download_url(client, &repository.id, "main", &model.first.path).map_err(|error| error.to_string())?;
    let guess = names::architecture(&repository.id);
    let mut found = Found {
        repository: repository.clone(),
        url,
        architecture: told.or(guess).map(|name| name.trim_end_matches('?').to_owned()),
        guessed: told.is_none() && guess.is_some(),
        parameters: repository.parameters.or_else(|| by_size(&models)),
        measured: false,
        needs: Vec::new(),
        refused: None,
        fits: [None; MEMORIES.len()],
        notes: Vec::new(),
        model,
    };
    if found.repository.gated {
        found.notes.push("gated: accept its licence on its page, then use a token".to_owned());
    }
    if found.model.parts > 1 {
        let missing = if found.model.complete { "" } else { " (some are missing)" };
        let parts = found.model.parts;
        found.notes.push(format!("split into {parts} files{missing}: join them before converting"));
    }
    found.fits = estimate(found.parameters);
    if search.exact && worth_reading(&found) {
        measure(client, &mut found);
    }
    keep(search, found)
}

/// Reads the file's own header; where that fails the estimate stays, with the reason.
fn measure(client: &Client, found: &mut Found) {
    let prefix = match Prefix::fetch(client, &found.url, found.model.size) {
        Ok(prefix) => prefix,
        // Said already.
        Err(HubError::Gated { .. }) if found.repository.gated => return,
        Err(error) => return found.notes.push(format!("estimated: {error}")),
    };
    let Ok(gguf) = prefix.gguf() else { return };
    if let Ok(Some(architecture)) = gguf.str("general.architecture") {
        found.architecture = Some(architecture.to_owned());
        found.guessed = false;
    }
    let elements = gguf.tensors().iter().map(ssnail_gguf::TensorInfo::elements);
    found.parameters = Some(elements.fold(0_u64, u64::saturating_add));
    found.measured = true;
    match memory_needs(&gguf, &Options::default()) {
        Ok(needs) => {
            found.fits = MEMORIES.map(|mb| fit::exact(&needs, mb));
            found.needs = needs;
        }
        Err(error) => {
            found.fits = [None; MEMORIES.len()];
            found.refused = Some(error.to_string());
        }
    }
}

fn worth_reading(found: &Found) -> bool {
    let bytes = |parameters: u64| parameters as f64 * Format::Q4_0.bits() / 8.0;
    found.model.parts == 1 && found.parameters.is_none_or(|n| bytes(n) <= WORTH_READING)
}

fn estimate(parameters: Option<u64>) -> [Option<Format>; MEMORIES.len()] {
    MEMORIES.map(|mb| parameters.and_then(|parameters| fit::estimate(parameters, mb)))
}

fn keep(search: &Search, found: Found) -> std::result::Result<Found, String> {
    if let (Some(reason), false) = (&found.refused, search.all_arch) {
        return Err(format!("cannot be converted: {reason}"));
    }
    let fits = |mb| MEMORIES.iter().zip(found.fits).any(|(&m, fit)| m == mb && fit.is_some());
    if let Some(mb) = search.memory.filter(|&mb| !fits(mb)) {
        return Err(format!("does not fit {mb} MB"));
    }
    if search.all_arch {
        return Ok(found);
    }
    match found.architecture.as_deref() {
        None => return Err("its architecture is unknown".to_owned()),
        Some(name) if !supported(name) => {
            return Err(format!("architecture {name} is not supported"));
        }
        Some(_) => {}
    }
    if found.fits.iter().all(Option::is_none) {
        let known = found.parameters.is_some();
        return Err(if known { "does not fit 72 MB" } else { "its size is unknown" }.to_owned());
    }
    Ok(found)
}

fn supported(architecture: &str) -> bool {
    SUPPORTED.contains(&architecture)
}

/// Parameters by the size of the first model whose name states its bits per weight.
fn by_size(models: &[Model]) -> Option<u64> {
    models.iter().find_map(|model| Some((model.size? as f64 * 8.0 / model.bits?) as u64))
}
