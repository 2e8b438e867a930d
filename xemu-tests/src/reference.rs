//! What the golden model answers: `ssnail run --numerics hardware` without its printing.

use ssnail_machine::{Accelerator, Numerics, Options, Watch};
use ssnail_shared::fold::AsciiFolder;
use ssnail_shared::header::Header;
use ssnail_shared::mem::ReadMemory;
use ssnail_shared::recent::Recent;
use ssnail_shared::rng::Rng;
use ssnail_shared::sampler::{Candidate, Settings, sample};
use ssnail_shared::tokenizer::{Place, Rules, Tables, WORDS_PER_BYTE, encode};

/// How an answer is chosen.
pub struct Choosing {
    /// Temperature, top-k, penalty.
    pub settings: Settings,
    /// Start of the random numbers.
    pub seed: u32,
}

/// An answer.
pub struct Answer {
    /// Ids of the prompt.
    pub prompt: Vec<u32>,
    /// Ids generated.
    pub ids: Vec<u32>,
    /// Their text as a MEGA65 shows it.
    pub text: String,
}

struct Chooser {
    choosing: Choosing,
    recent: Recent,
    rng: Rng,
}

impl Watch for Chooser {
    fn choose(&mut self, _: u32, logits: &[f32], _: u32) -> u32 {
        let bytes: Vec<u8> = logits.iter().flat_map(|v| v.to_le_bytes()).collect();
        let memory = ssnail_shared::mem::SliceMemory::new(0, bytes);
        let mut room = vec![Candidate::default(); logits.len()];
        let Self { choosing, recent, rng } = self;
        let rows = logits.len() as u32;
        let token = sample(&memory, 0, rows, &choosing.settings, recent, rng, &mut room).expect("finite logits");
        recent.push(token);
        token
    }
}

/// Runs an image on a text.
pub fn answer(image: &[u8], text: &str, n: u32, choosing: Choosing) -> Answer {
    answer_to(image, &[], text, Place::First, n, choosing)
}

/// Runs an image on a conversation and what is said next; the prompt of the answer is both.
pub fn answer_to(image: &[u8], before: &[u32], text: &str, place: Place, n: u32, choosing: Choosing) -> Answer {
    let options = Options { numerics: Numerics::Hardware, ..Options::default() };
    let mut accelerator = Accelerator::load(image, &options, |_| {}).unwrap_or_else(|e| panic!("{e}"));
    let header = accelerator.header().clone();
    let mut prompt = before.to_vec();
    prompt.extend(ids(accelerator.machine().memory(), &header, text, place));
    let mut recent = Recent::new();
    prompt.iter().for_each(|&id| recent.push(id));
    let rng = Rng::new(choosing.seed);
    let outcome =
        accelerator.generate(&prompt, n, &mut Chooser { choosing, recent, rng }).unwrap_or_else(|e| panic!("{e}"));
    let text = shown(accelerator.machine().memory(), &header, &outcome.generated);
    Answer { prompt, ids: outcome.generated, text }
}

/// Ids of a text by the image's tables.
pub fn ids(memory: &impl ReadMemory, header: &Header, text: &str, place: Place) -> Vec<u32> {
    let mut tables = Tables::open(memory, header).unwrap_or_else(|e| panic!("{e}"));
    let mut scratch = vec![0; (4 * text.len() + 16) * WORDS_PER_BYTE as usize];
    let mut ids = Vec::new();
    encode(&mut tables, text.as_bytes(), place, Rules::REAL, scratch.as_mut_slice(), |id| {
        ids.push(id);
        Ok(())
    })
    .unwrap_or_else(|e| panic!("{e}"));
    ids
}

/// Text of some ids, folded to ASCII.
pub fn shown(memory: &impl ReadMemory, header: &Header, ids: &[u32]) -> String {
    let tables = Tables::open(memory, header).unwrap_or_else(|e| panic!("{e}"));
    let mut folder = AsciiFolder::new();
    let mut text = String::new();
    for &id in ids {
        let _ = tables.piece(id, |part| {
            for &b in part {
                text.extend(folder.push(b).as_bytes().iter().map(|&b| char::from(b)));
            }
        });
    }
    text
}

/// Text of some ids of an image, folded to ASCII.
pub fn text(image: &[u8], ids: &[u32]) -> String {
    let options = Options { numerics: Numerics::Hardware, ..Options::default() };
    let accelerator = Accelerator::load(image, &options, |_| {}).unwrap_or_else(|e| panic!("{e}"));
    let header = accelerator.header().clone();
    shown(accelerator.machine().memory(), &header, ids)
}
