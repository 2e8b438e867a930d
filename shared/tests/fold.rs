//! ASCII folding against the recorded table and streams, and UTF-8 streaming against the standard library.
#![allow(clippy::unwrap_used)]

mod common;

use common::cases::step;
use proptest::prelude::*;
use ssnail_shared::fold::AsciiFolder;
use ssnail_shared::utf8::Utf8Stream;

fn fold(bytes: &[u8]) -> String {
    let mut folder = AsciiFolder::new();
    let mut out = Vec::new();
    for &byte in bytes {
        out.extend_from_slice(folder.push(byte).as_bytes());
    }
    out.extend_from_slice(folder.finish().as_bytes());
    String::from_utf8(out).unwrap()
}

#[test]
fn every_character_folds_as_the_table_says() {
    let Some(vectors) = common::json("vectors/tok/fold.json") else { return };
    let table = vectors["table"].as_object().unwrap();
    for code in (0..=0x10ffff).step_by(step(0x11_0000)).filter_map(char::from_u32) {
        let expected = table.get(&format!("{:X}", code as u32)).map_or("?", |v| v.as_str().unwrap());
        assert_eq!(fold(code.to_string().as_bytes()), expected, "U+{:04X}", code as u32);
    }
}

#[test]
fn streams_fold_byte_by_byte_as_recorded() {
    let Some(vectors) = common::json("vectors/tok/fold.json") else { return };
    for stream in vectors["streams"].as_array().unwrap() {
        let hex = stream["hex"].as_str().unwrap();
        let bytes: Vec<u8> =
            (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap()).collect();
        assert_eq!(fold(&bytes), stream["out"].as_str().unwrap(), "{hex}");
        if let Some(steps) = stream["per_byte"].as_array() {
            let mut folder = AsciiFolder::new();
            for (&byte, step) in bytes.iter().zip(steps) {
                assert_eq!(folder.push(byte).as_bytes(), step.as_str().unwrap().as_bytes(), "{hex}");
            }
        }
    }
}

#[test]
fn small_samples_without_the_vectors() {
    assert_eq!(fold("“Caf\u{e9}” — 3\u{d7}\u{2122} ☃…".as_bytes()), "\"Cafe\" - 3x(TM) ?...");
    assert_eq!(fold(b"\xe2\x80"), "");
    assert_eq!(fold(b"\xe2\x80x"), "?x");
    assert_eq!(fold(b"\xc3\xc3\xa9\xff\x80\r"), "?e???");
}

#[test]
fn reset_forgets_a_half_read_character() {
    let mut folder = AsciiFolder::new();
    assert!(folder.push(0xc3).as_bytes().is_empty());
    assert!(folder.is_pending());
    folder.reset();
    assert_eq!(folder.push(b'A').as_bytes(), b"A");
    assert!(folder.push(0xc3).as_bytes().is_empty());
    assert!(folder.finish().as_bytes().is_empty());
    assert_eq!(folder.push(b'A').as_bytes(), b"A");
}

/// Bytes that are often nearly UTF-8: random characters with random bytes lost or replaced.
fn nearly_utf8() -> impl Strategy<Value = Vec<u8>> {
    let damage = prop::collection::vec((any::<prop::sample::Index>(), any::<Option<u8>>()), 0..6);
    (any::<String>(), damage).prop_map(|(text, damage)| {
        let mut bytes = text.into_bytes();
        for (at, byte) in damage {
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                match byte {
                    Some(byte) => bytes[at] = byte,
                    None => drop(bytes.remove(at)),
                }
            }
        }
        bytes
    })
}

proptest! {
    #![proptest_config(common::properties())]

    #[test]
    fn utf8_stream_equals_lossy_decoding(
        bytes in prop_oneof![nearly_utf8(), prop::collection::vec(any::<u8>(), 0..64)],
    ) {
        let mut stream = Utf8Stream::new();
        let mut text = String::new();
        for &byte in &bytes {
            stream.push(byte, |c| text.push(c));
        }
        stream.finish(|c| text.push(c));
        prop_assert!(!stream.is_pending());
        prop_assert_eq!(text, String::from_utf8_lossy(&bytes).into_owned());
    }

    #[test]
    fn folding_gives_printable_ascii(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let mut folder = AsciiFolder::new();
        for byte in bytes {
            let out = folder.push(byte);
            prop_assert!(out.as_bytes().iter().all(|&b| b == 9 || b == 10 || (32..127).contains(&b)));
        }
    }
}
