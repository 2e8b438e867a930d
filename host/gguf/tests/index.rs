//! Every file of the index of well-formed and malformed files is accepted or refused as it says.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::PathBuf;

use ssnail_gguf::{Error, Gguf};

fn data(path: &str) -> Option<PathBuf> {
    let root = std::env::var_os("SSNAIL_DATA")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")), PathBuf::from);
    let path = root.join(path);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: {} is not there", path.display());
    None
}

#[test]
fn every_file_of_the_index_is_accepted_or_refused_as_it_says() {
    let Some(dir) = data("badgguf") else { return };
    let index = std::fs::read_to_string(dir.join("INDEX.tsv")).unwrap();
    let mut seen = 0;
    for line in index.lines().skip(1) {
        let mut fields = line.split('\t');
        let (name, bytes, want) = (fields.next().unwrap(), fields.next().unwrap(), fields.next().unwrap());
        let path = dir.join(format!("{name}.gguf"));
        assert_eq!(std::fs::metadata(&path).unwrap().len().to_string(), bytes, "{name}");
        let result = Gguf::open(&path);
        match (&result, want) {
            (Ok(_), "accept") => {}
            (Err(e), "refuse") => {
                let message = e.to_string();
                assert!(message.contains("byte "), "{name}: {message}");
                println!("{name}: {message}");
            }
            // Files whose header is sound but that no converter can use are accepted by the reader.
            (Ok(_), "refuse") if matches!(name, "no-arch" | "arch-u32") => {}
            (result, want) => panic!("{name}: {want} expected, {result:?}"),
        }
        seen += 1;
    }
    assert!(seen >= 45, "only {seen} files in the index");
}

#[test]
fn messages_name_the_item_the_byte_and_the_reason() {
    let Some(dir) = data("badgguf") else { return };
    let expect = [
        ("be-v3", "header, byte 4: big-endian GGUF (version 3)"),
        ("v1", "header, byte 4: GGUF version 1"),
        ("html", "web page"),
        ("lfs-pointer", "Git LFS pointer"),
        ("empty", "the file is empty"),
        ("magic-fugg", "reversed"),
        ("key-dup", "key general.architecture, byte 69"),
        ("tensor-dup", "tensor t, byte"),
        ("dim-zero", "tensor t, byte 90: dimension 1 is 0"),
        ("q8-row-33", "rows of 33 elements are not whole Q8_0 blocks of 32"),
        ("trunc-data", "the file at byte 143"),
        ("align-str", "key general.alignment, byte"),
        ("type-4", "tensor type 4"),
        ("arr-nest-2000", "arrays of arrays"),
    ];
    for (name, part) in expect {
        let error = Gguf::open(dir.join(format!("{name}.gguf"))).unwrap_err().to_string();
        assert!(error.contains(part), "{name}: {error}");
    }
}

#[test]
fn row_11_alignment_16_reads_each_tensor_at_its_own_place() {
    let Some(path) = data("badgguf/ok-align-16.gguf") else {
        return;
    };
    let gguf = Gguf::open(path).unwrap();
    assert_eq!(gguf.alignment(), 16);
    let starts: Vec<u64> = gguf.tensors().iter().map(|t| t.file_offset()).collect();
    for pair in starts.windows(2) {
        assert_eq!(pair[1] - pair[0], 16);
    }
    let mut contents: Vec<&[u8]> = gguf.tensors().iter().map(|t| gguf.data(t).unwrap()).collect();
    contents.dedup();
    assert_eq!(contents.len(), gguf.tensors().len(), "every tensor has its own contents");
}

#[test]
fn real_models_and_vocabularies_are_read() {
    let Some(path) = data("models/stories260K-Q8_0.gguf") else {
        return;
    };
    let gguf = Gguf::open(path).unwrap();
    assert_eq!(gguf.need_str("general.architecture").unwrap(), "llama");
    assert_eq!(gguf.need_u32("llama.embedding_length").unwrap(), 64);
    let vocab = gguf.vocab().unwrap();
    assert_eq!((vocab.tokens.len(), vocab.scores.len(), vocab.token_types.len()), (512, 512, 512));
    assert!(matches!(gguf.u32("general.architecture"), Err(Error::WrongType { .. })));
    assert!(gguf.need_u32("llama.nothing").unwrap_err().to_string().contains("llama.nothing"));

    let Some(path) = data("vocab/ggml-vocab-gpt-2.gguf") else {
        return;
    };
    let gguf = Gguf::open(path).unwrap();
    let vocab = gguf.vocab().unwrap();
    assert_eq!((vocab.tokens.len(), vocab.merges.len()), (50257, 50000));
    assert_eq!(vocab.pre, Some("gpt-2"));
}

#[test]
fn a_prefix_is_enough_for_the_header() {
    let Some(path) = data("models/stories260K-F16.gguf") else {
        return;
    };
    let file = std::fs::read(path).unwrap();
    let whole = Gguf::parse(&file).unwrap();
    let start = whole.data_start() as usize;
    let prefix = Gguf::parse_prefix(&file[..start], file.len() as u64).unwrap();
    assert_eq!(prefix.tensors(), whole.tensors());
    let first = &prefix.tensors()[0];
    assert!(matches!(prefix.data(first), Err(Error::DataNotLoaded { .. })));
    // A prefix that ends too early says how far it must go, and going there makes progress.
    let mut have = 24;
    let mut rounds = 0;
    while let Err(e) = Gguf::parse_prefix(&file[..have], file.len() as u64) {
        let need = e.bytes_needed().unwrap() as usize;
        assert!(need > have && need <= file.len(), "{e}");
        have = need.max(have * 2).min(file.len());
        rounds += 1;
        assert!(rounds < 30);
    }
}
