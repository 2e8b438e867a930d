//! The tables that an image tokenizes with: a vocabulary without weights, and a text.
//!
//! An input is an image file and, behind the length that its header states, the text. What the header says about lengths
//! is made true first, so that most damage reaches the tables.

use crate::image::image;
use crate::tiny::Tiny;
use ssnail_shared::header::{Header, offset};
use ssnail_shared::map::{HEADER_LEN, MEMORY_BASE, PAYLOAD};
use ssnail_shared::mem::SliceMemory;
use ssnail_shared::tokenizer::{Place, Rules, Tables};

/// Bytes of text at the end of an input.
const TEXT: usize = 56;

pub fn run(data: &[u8]) {
    let Some((image, text)) = data.len().checked_sub(TEXT).map(|at| data.split_at(at)) else { return };
    let Some((start, payload)) = image.split_first_chunk::<{ HEADER_LEN as usize }>() else { return };
    let mut start = *start;
    let mut put = |at: u32, word: u32| start[at as usize..at as usize + 4].copy_from_slice(&word.to_le_bytes());
    let length = payload.len() as u32;
    put(offset::PAYLOAD_LEN, length);
    put(offset::MEMORY_NEEDED, PAYLOAD - MEMORY_BASE + length + 4);
    put(offset::OUTPUT, PAYLOAD + length);
    put(offset::OUTPUT_LEN, 1);
    let Ok(header) = Header::parse(&start) else { return };
    let memory = SliceMemory::new(PAYLOAD, payload);
    let Ok(mut tables) = Tables::open(&memory, &header) else { return };
    let _ = tables.check();
    let text = String::from_utf8_lossy(text);
    for (place, rules) in [(Place::First, Rules::REFERENCE), (Place::Later, Rules::REAL), (Place::First, Rules::TYPED)]
    {
        let Ok(ids) = ssnail_text::check::image_ids(&mut tables, &text, place, rules) else { continue };
        assert!(ids.len() <= 2 * TEXT * 3 + 8, "{} tokens of {TEXT} bytes", ids.len());
        for id in ids {
            assert!(id < header.n_vocab, "token {id} does not exist");
            let mut length = 0;
            if tables.piece(id, |part| length += part.len()).is_ok() {
                assert!(length <= payload.len());
            }
        }
    }
    for byte in 0..=u8::MAX {
        let _ = tables.byte_token(byte);
    }
    let _ = tables.substitute();
}

/// An image without its weights: tables moved to the front would be another image, so the end is cut off instead where
/// nothing but weights is.
fn tables_only(image: Vec<u8>) -> Vec<u8> {
    let Some(Ok(header)) = image.first_chunk().map(Header::parse) else { return image };
    let memory = SliceMemory::new(PAYLOAD, &image[HEADER_LEN as usize..]);
    let end = |h: &Header| {
        let tables = Tables::open(&memory, h).ok()?;
        let block = tables.block();
        let ends = [
            block.index + 4 * block.index_len,
            block.priorities + 4 * block.n_vocab,
            block.bytes + 1024,
            h.tokenizer + 36,
            h.vocab + 4 * h.n_vocab + 4096,
        ];
        ends.into_iter().max()
    };
    let keep = end(&header).map_or(image.len(), |e| (e - PAYLOAD + HEADER_LEN) as usize);
    let mut image = image;
    image.truncate(keep);
    image
}

pub fn seeds() -> Vec<Vec<u8>> {
    let texts: [&[u8; TEXT]; 2] = [
        b"abc ab t35 The quick caf\xC3\xA9's 2024\n\n  the cats    sat    ",
        b"the cats \xE2\x96\x81the cat xyzzy\xFF\xFE aabbcc abcabc  \r\n\t   q      ",
    ];
    let models = [Tiny::llama(), Tiny::gpt2(), Tiny::bert()];
    let pairs = models.iter().flat_map(|m| texts.map(|t| (m, t)));
    pairs.map(|(model, text)| [&tables_only(image(model))[..], text].concat()).collect()
}
