//! Image files: checked, loaded through the load port, tokenized and run, plainly and in batches.

use crate::tiny::Tiny;
use ssnail_convert::Options as Convert;
use ssnail_machine::{Accelerator, Numerics, Options};
use ssnail_shared::map::{HEADER_LEN, PAYLOAD};
use ssnail_shared::mem::SliceMemory;
use ssnail_shared::tokenizer::{Place, Rules, Tables};

/// Instructions that a run may take: a damaged script is in a circle or soon at a fault.
const LIMIT: u64 = 400;

pub fn run(data: &[u8]) {
    let Ok(header) = ssnail_machine::image::check(data) else { return };
    let memory = SliceMemory::new(PAYLOAD, data.get(HEADER_LEN as usize..).unwrap_or_default());
    if let Ok(mut tables) = Tables::open(&memory, &header) {
        let ids = ssnail_text::check::image_ids(&mut tables, "The cat, abc.", Place::First, Rules::REAL);
        ids.into_iter().flatten().for_each(|id| assert!(id < header.n_vocab, "token {id} does not exist"));
    }
    let outcomes = [false, true].map(|plain| {
        let options = Options { numerics: Numerics::Hardware, threads: 1, max_instructions: LIMIT, plain };
        let mut loaded = Accelerator::load(data, &options, |_| {}).ok()?;
        let outcome = if header.is_encoder() {
            loaded.embed(&[0, 1], &mut ()).map(|v| v.into_iter().map(f32::to_bits).collect())
        } else {
            loaded.generate(&[0, 1, 0], 2, &mut ()).map(|o| o.generated)
        };
        outcome.ok()
    });
    // A batch does the same work in fewer instructions, so only what both finish can be compared.
    if let [Some(batched), Some(plain)] = &outcomes {
        assert_eq!(batched, plain, "batches and single positions differ");
    }
}

/// The image of a small model.
pub fn image(model: &Tiny) -> Vec<u8> {
    let options = Convert { ctx: Some(8), ..Convert::default() };
    model.image(&options).unwrap_or_default()
}

pub fn seeds() -> Vec<Vec<u8>> {
    vec![image(&Tiny::llama()), image(&Tiny::gpt2()), image(&Tiny::bert())]
}
