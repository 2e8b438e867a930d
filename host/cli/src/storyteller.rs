//! The model that comes with the program, so that the first command needs no file.

use crate::exit::Refuse;
use crate::image::ImageFile;
use anyhow::{Context, Result};
use ssnail_convert::{Options, plan};
use ssnail_gguf::Gguf;
use std::path::Path;

/// Trained for this project; see `models/MODEL-CARD.md`.
const MODEL: &[u8] = include_bytes!("../../../models/storyteller.gguf");
/// How messages call it.
pub const NAME: &str = "the built-in storyteller";

/// Its image, made now: that takes a few milliseconds.
///
/// # Errors
/// None in a program that was built from an undamaged model; then with the converter's reason.
pub fn image() -> Result<ImageFile> {
    let mut image = Vec::new();
    let gguf = Gguf::parse(MODEL).refuse().context(NAME)?;
    let options = Options { type_text: "Story".to_owned(), ..Options::default() };
    plan(&gguf, &options).and_then(|plan| plan.write(&mut image, &mut |_, _| {})).refuse().context(NAME)?;
    ImageFile::check(image, Path::new(NAME))
}
