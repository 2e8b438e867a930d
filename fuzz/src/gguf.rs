//! GGUF files: everything the reader offers, then the converter and the tokenizer that read on.

use crate::tiny::Tiny;
use ssnail_convert::{Options, WeightPolicy, plan};
use ssnail_gguf::{Gguf, Value};

/// Bytes beyond which a weight tensor is not converted: time, not safety.
const WORTH_CONVERTING: u64 = 1 << 20;

pub fn run(data: &[u8]) {
    let Ok(file) = Gguf::parse(data) else {
        let _ = Gguf::parse_prefix(data, u64::MAX);
        return;
    };
    for key in file.keys() {
        match file.get(key) {
            Some(Value::Array(array)) => {
                assert!(array.len() <= 8 * data.len() as u64, "{key}: an array longer than the file");
                let _ = (array.strings(), array.integers(), array.floats());
            }
            Some(value) => assert!(format!("{value:?}").len() < 100 + 8 * data.len()),
            None => panic!("{key} is listed and not there"),
        }
        let _ = (file.u32(key), file.str(key), file.bool(key), file.strings(key));
    }
    for tensor in file.tensors() {
        let bytes = file.data(tensor).expect("a tensor of a whole file is in it");
        assert_eq!(bytes.len() as u64, tensor.bytes());
    }
    let _ = file.trailing_bytes();
    let _ = Gguf::parse_prefix(&data[..data.len().min(file.data_start() as usize)], data.len() as u64)
        .map(|prefix| assert_eq!(prefix.tensors(), file.tensors()));
    if let Ok(tokenizer) = ssnail_text::Tokenizer::from_gguf(&file) {
        let encoded = tokenizer.encode("Once <s>upon</s> a tïme, 2024\n\n  'twas", ssnail_text::Options::default());
        let _ = tokenizer.decode(&encoded.ids);
    }
    if file.tensors().iter().map(|t| t.bytes()).sum::<u64>() > WORTH_CONVERTING {
        return;
    }
    for wtype in [WeightPolicy::Keep, WeightPolicy::Mixed] {
        let options = Options { wtype, ctx: Some(8), ..Options::default() };
        let Ok(plan) = plan(&file, &options) else { continue };
        let mut image = Vec::new();
        if plan.write(&mut image, &mut |_, _| {}).is_ok() {
            assert_eq!(image.len() as u64, plan.file_len());
            ssnail_machine::image::check(&image).expect("what the converter writes is an image");
        }
    }
}

pub fn seeds() -> Vec<Vec<u8>> {
    vec![Tiny::llama().file(), Tiny::gpt2().file(), Tiny::bert().file()]
}
