//! The exported model through the rest of the project: reader, tokenizer, converter, emulated accelerator.
#![allow(clippy::unwrap_used)]

use ssnail_convert::{Options, WeightPolicy, plan};
use ssnail_gguf::Gguf;
use ssnail_quant::GgmlType;
use ssnail_text::Tokenizer;
use ssnail_train::infer::Float;
use ssnail_train::model::{Config, Layout};
use ssnail_train::story::{Split, story};
use ssnail_train::teller::{Machine, Teller};
use ssnail_train::vocab::{BOS, Vocab};

fn model() -> (Config, Vec<f32>, Vocab, Vec<String>) {
    let lines: Vec<String> = (0..100).map(|i| story(4, Split::Train, i).unwrap().line()).collect();
    let vocab = Vocab::train(lines.iter().map(String::as_str), 512);
    let config = Config { dim: 64, layers: 2, hidden: 96, heads: 4, kv_heads: 2, vocab: 512, ctx: 400 };
    let w = Layout::new(&config).init(&config, 4, 1.0);
    (config, w, vocab, lines)
}

#[test]
fn the_file_tokenizes_as_the_training_did() {
    let (config, w, vocab, lines) = model();
    let file = ssnail_train::gguf::write("test", &config, &w, &vocab);
    let gguf = Gguf::parse(&file).unwrap();
    let tokenizer = Tokenizer::from_gguf(&gguf).unwrap();
    for line in lines.iter().take(30).map(String::as_str).chain(["Tell me about 7 snails & Zoe; ok?", "a  b"]) {
        let mut want = vec![BOS];
        want.extend(vocab.encode(line));
        assert_eq!(tokenizer.encode(line, ssnail_text::Options::default()).ids, want, "{line}");
    }
}

#[test]
fn the_image_predicts_as_the_trainer_does() {
    let (config, w, vocab, lines) = model();
    let file = ssnail_train::gguf::write("test", &config, &w, &vocab);
    let gguf = Gguf::parse(&file).unwrap();
    let mut story = vec![BOS];
    story.extend(vocab.encode(&lines[0]).into_iter().take(120));
    let want = Float::new(config, &w).nll(&story).unwrap();
    for (format, tolerance) in [(GgmlType::F32, 2e-3), (GgmlType::Q8_0, 2e-2), (GgmlType::Q4_0, 0.3)] {
        let options = Options { wtype: WeightPolicy::Named(format), ctx: Some(400), ..Options::default() };
        let mut image = Vec::new();
        plan(&gguf, &options).unwrap().write(&mut image, &mut |_, _| {}).unwrap();
        let got = Machine::load(&image).unwrap().nll(&story).unwrap();
        assert!((got / want - 1.0).abs() < tolerance, "{format}: {got} against {want}");
    }
}
