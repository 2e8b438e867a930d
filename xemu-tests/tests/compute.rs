//! SSNAIL.CPU by itself: after a token all of a model's memory is what the golden model leaves.
#![allow(clippy::unwrap_used, missing_docs)]

use ssnail_convert::Options;
use ssnail_gguf::Gguf;
use ssnail_xemu_tests::compute::{Part, at_position};
use ssnail_xemu_tests::{model, part};

fn small() -> Vec<u8> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/storyteller-small.gguf");
    let gguf = Gguf::open(std::path::Path::new(path)).unwrap();
    model::convert(&gguf, &Options { wtype: model::policy("q4_0"), ..Options::default() })
}

#[test]
fn tokens_to_the_bit() {
    let Some(file) = part() else { return };
    let images = [
        ("stories260K-Q8_0", model::image("stories260K-Q8_0", "keep")),
        ("stories260K-Q4_0", model::image("stories260K-Q4_0", "keep")),
        ("storyteller-small in Q4_0", Some(small())),
    ];
    for (name, image) in images {
        let Some(image) = image else { continue };
        for position in [0, 33] {
            let (before, code, after) = at_position(&image, position);
            let mut part = Part::new(&file, &before, code);
            part.token();
            // Behind SYNC the script goes on to its end.
            part.token();
            let differ = part.memory(after.len()).iter().zip(&after).position(|(a, b)| a != b);
            assert!(differ.is_none_or(|at| at >= 0x7D_0000), "{name}, position {position}: differs at {differ:X?}");
            let left = part.stack_left();
            assert!(left >= 256, "{name}, position {position}: {left} bytes of the soft stack left");
        }
    }
}
