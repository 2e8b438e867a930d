//! Images of the test data's models.

use crate::data;
use ssnail_convert::{Options, WeightPolicy, plan};
use ssnail_gguf::Gguf;

/// Converts a model of the test data (`models/NAME.gguf`) with a weight format of `ssnail convert`.
pub fn image(name: &str, wtype: &str) -> Option<Vec<u8>> {
    image_with(name, &Options { wtype: policy(wtype), ..Options::default() })
}

/// Converts with options of one's own.
pub fn image_with(name: &str, options: &Options) -> Option<Vec<u8>> {
    let path = data()?.join("models").join(format!("{name}.gguf"));
    if !path.is_file() {
        println!("skipped: no {}", path.display());
        return None;
    }
    Some(convert(&Gguf::open(&path).expect("a model"), options))
}

/// Converts an open model.
pub fn convert(gguf: &Gguf<'_>, options: &Options) -> Vec<u8> {
    let plan = plan(gguf, options).unwrap_or_else(|e| panic!("{e}"));
    let mut image = Vec::new();
    plan.write(&mut image, &mut |_, _| {}).expect("memory takes everything");
    image
}

/// A weight policy by its name.
pub fn policy(wtype: &str) -> WeightPolicy {
    wtype.parse().unwrap_or_else(|e| panic!("{e}"))
}
