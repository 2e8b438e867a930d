//! Weight policies, auto, and the advice on what does not fit.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{DIM, Tiny};
use ssnail_convert::{ConvertError, Options, TooBig, WeightPolicy, memory_needs, plan};
use ssnail_gguf::Gguf;
use ssnail_quant::GgmlType;

/// A llama with a vocabulary large enough that formats matter.
fn wide() -> Tiny {
    let mut t = Tiny::llama();
    t.random("token_embd.weight", &[DIM, 4000], 0.0).random("output.weight", &[DIM, 4000], 0.0);
    t
}

fn needs(t: &Tiny) -> Vec<(WeightPolicy, u64)> {
    let file = t.file();
    memory_needs(&Gguf::parse(&file).unwrap(), &Options::default()).unwrap()
}

fn auto(t: &Tiny, bytes: u64) -> Result<(WeightPolicy, Option<String>), Box<TooBig>> {
    let file = t.file();
    let gguf = Gguf::parse(&file).unwrap();
    let options =
        Options { wtype: WeightPolicy::Auto, mem_mb: bytes as f64 / f64::from(1 << 20), ..Options::default() };
    match plan(&gguf, &options) {
        Ok(p) => Ok((p.policy(), p.lossy().map(ToString::to_string))),
        Err(ConvertError::TooBig(t)) => Err(t),
        Err(e) => panic!("{e}"),
    }
}

#[test]
fn auto_takes_the_first_policy_that_fits() {
    let t = wide();
    let needs = needs(&t);
    assert!(needs.windows(2).all(|w| w[0].1 > w[1].1), "{needs:?}");
    for (n, (policy, bytes)) in needs.iter().enumerate() {
        assert_eq!(auto(&t, *bytes).unwrap().0, *policy);
        match needs.get(n + 1) {
            Some((next, _)) => assert_eq!(auto(&t, bytes - 1).unwrap().0, *next),
            None => assert!(auto(&t, bytes - 1).is_err()),
        }
    }
}

#[test]
fn needs_are_what_the_plans_say() {
    let t = wide();
    for (policy, bytes) in needs(&t) {
        let options = Options { wtype: policy, ..Options::default() };
        assert_eq!(u64::from(t.with_plan(&options, |p| p.memory_needed())), bytes);
    }
}

#[test]
fn needs_come_from_the_header_alone() {
    for t in [wide(), Tiny::gpt2(), Tiny::bert()] {
        let file = t.file();
        let whole = Gguf::parse(&file).unwrap();
        let start = whole.data_start() as usize;
        let prefix = Gguf::parse_prefix(&file[..start], file.len() as u64).unwrap();
        assert_eq!(
            memory_needs(&prefix, &Options::default()).unwrap(),
            memory_needs(&whole, &Options::default()).unwrap()
        );
        // A plan can be made as well; only writing needs the weights.
        let p = plan(&prefix, &Options::default()).unwrap();
        assert!(matches!(p.write(&mut Vec::new(), &mut |_, _| {}), Err(ConvertError::Gguf(_))));
    }
}

#[test]
fn losing_bits_of_a_quantised_source_is_said() {
    let mut quantised = wide();
    quantised.matrices_in(GgmlType::Q8_0);
    let small = needs(&quantised).last().unwrap().1;
    let (policy, lossy) = auto(&quantised, small).unwrap();
    assert_eq!(policy, WeightPolicy::Named(GgmlType::Q4_0));
    let lossy = lossy.unwrap();
    assert!(lossy.contains("100 %") && lossy.contains("Q8_0 to Q4_0"), "{lossy}");
    // From floats nothing that was quantised is lost.
    assert_eq!(auto(&wide(), small).unwrap().1, None);
}

#[test]
fn too_big_says_what_is_needed_and_what_would_fit() {
    let t = wide();
    let big = auto(&t, 0).unwrap_err();
    assert_eq!(big.policy, WeightPolicy::Named(GgmlType::Q4_0));
    assert_eq!(big.board(), Some((8, WeightPolicy::Keep)));
    let help = big.help("foo");
    for part in ["foo.72mb.chat", "ATTICRAM=72", "--mem-mb 72", "CONTEXT_WINDOW", "--ctx"] {
        assert!(help.contains(part), "{help}");
    }
    // Named policies that do not fit say which one would.
    let options = Options { mem_mb: 0.5, wtype: WeightPolicy::Named(GgmlType::F32), ..Options::default() };
    let Err(ConvertError::TooBig(big)) = t.image(&options) else { panic!("fits") };
    assert!(big.help("foo").contains("--wtype q8_0"), "{}", big.help("foo"));
    assert!(big.to_string().contains("with f32"), "{big}");
}

#[test]
fn mixed_spares_the_inner_matrices() {
    let options = Options { wtype: WeightPolicy::Mixed, ..Options::default() };
    wide().with_plan(&options, |p| {
        for m in p.matrices() {
            let small = matches!(m.name.as_str(), "token_embd.weight" | "output.weight");
            assert_eq!(m.target, if small { GgmlType::Q4_0 } else { GgmlType::Q8_0 }, "{}", m.name);
        }
    });
}

#[test]
fn keep_decodes_what_is_not_native_into_the_fallback() {
    // A matrix of the K-quants, made of bytes that are valid blocks.
    let mut t = Tiny::llama();
    t.set("llama.feed_forward_length", 256u32);
    for n in 0..2 {
        t.random(&format!("blk.{n}.ffn_gate.weight"), &[DIM, 256], 0.0);
        t.random(&format!("blk.{n}.ffn_up.weight"), &[DIM, 256], 0.0);
        t.random(&format!("blk.{n}.ffn_down.weight"), &[256, DIM], 0.0);
    }
    let mut w = ssnail_gguf::GgufWriter::new();
    for (key, value) in &t.keys {
        w.key(key.as_str(), value.clone());
    }
    let row = GgmlType::Q6_K.row_bytes(256).unwrap() as usize;
    // Small scales: d = 2^-10.
    let block: Vec<u8> = (0..row)
        .map(|i| {
            if i == 208 {
                0
            } else if i == 209 {
                0x14
            } else {
                (i * 37) as u8
            }
        })
        .collect();
    for (name, tensor) in &t.tensors {
        if name.ends_with("ffn_down.weight") {
            w.tensor(name.as_str(), &tensor.dims, GgmlType::Q6_K, block.repeat(DIM as usize));
        } else {
            w.f32_tensor(name.as_str(), &tensor.dims, &tensor.values);
        }
    }
    let file = w.to_vec();
    let gguf = Gguf::parse(&file).unwrap();
    for fallback in [GgmlType::F32, GgmlType::Q8_0] {
        let p = plan(&gguf, &Options { fallback, ..Options::default() }).unwrap();
        let m = p.matrices().iter().find(|m| m.name == "blk.0.ffn_down.weight").unwrap();
        assert_eq!((m.source, m.target), (GgmlType::Q6_K, fallback));
        let segment = p.segments().find(|s| s.name == "blk.0.ffn_down.weight").unwrap();
        let mut image = Vec::new();
        p.write(&mut image, &mut |_, _| {}).unwrap();
        let mut floats = vec![0f32; 256];
        ssnail_quant::decode(GgmlType::Q6_K, &block, &mut floats).unwrap();
        let mut want = vec![0u8; fallback.row_bytes(256).unwrap() as usize];
        ssnail_quant::encode(fallback, &floats, &mut want).unwrap();
        let at = (segment.address - 0x800_5000 + 0x100) as usize;
        for n in 0..DIM as usize {
            assert_eq!(&image[at + n * want.len()..][..want.len()], want, "row {n}");
        }
    }
}
