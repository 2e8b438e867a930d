//! The recorded runs of the test data's synthetic models, token for token.
#![allow(clippy::unwrap_used)]

use serde_json::Value;
use ssnail_m65::Model;
use ssnail_shared::header::Header;
use ssnail_shared::map::{HEADER_LEN, PAYLOAD};
use ssnail_shared::mem::SliceMemory;
use ssnail_shared::tokenizer::Place;
use ssnail_xemu_tests::card::File;
use ssnail_xemu_tests::scenario::Step::{Expect, Type};
use ssnail_xemu_tests::scenario::{Setup, play, tokens};
use ssnail_xemu_tests::{data, reference};

fn numbers(value: &Value) -> Vec<u32> {
    value.as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as u32).collect()
}

/// A text that becomes these ids, if it can be typed.
fn text_of(image: &[u8], prompt: &[u32]) -> Option<String> {
    let header = Header::parse(image[..HEADER_LEN as usize].try_into().unwrap()).unwrap();
    let memory = SliceMemory::new(PAYLOAD, &image[HEADER_LEN as usize..]);
    let shown = reference::shown(&memory, &header, prompt);
    [shown.as_str(), shown.trim_start()]
        .into_iter()
        .find(|text| {
            text.bytes().all(|b| (32..127).contains(&b) && b != b'<')
                && reference::ids(&memory, &header, text, Place::First) == prompt
        })
        .map(str::to_owned)
}

#[test]
fn recorded_runs_come_out_the_same() {
    let Some(folder) = data().map(|data| data.join("vectors")) else { return };
    let Ok(manifest) = std::fs::read(folder.join("manifest.json")) else {
        println!("skipped: no {}", folder.join("manifest.json").display());
        return;
    };
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    let mut compared = 0;
    for (i, run) in manifest["runs"].as_array().unwrap().iter().enumerate() {
        if run["mode"] != "hw" || run["kind"] != "logits" {
            continue;
        }
        let name = run["image"].as_str().unwrap();
        let Ok(image) = std::fs::read(folder.join("images").join(format!("{name}.ssnail"))) else { continue };
        let (prompt, generated) = (numbers(&run["prompt_ids"]), numbers(&run["generated"]));
        let Some(text) = text_of(&image, &prompt) else {
            println!("{name}: its prompt cannot be typed");
            continue;
        };
        let board = if i % 2 == 0 { Model::R3 } else { Model::R6 };
        let Some(mut s) = Setup::with(board, &[File::new("/SSNAIL/MODEL.SSN", &image)]).start() else { return };
        let keys = format!("/greedy<RETURN>/n {}<RETURN>{text}<RETURN>/stats<RETURN>", generated.len());
        play(&mut s, &[Expect("1 model", 400), Type("<RETURN>"), Expect("/help lists", 1500)]);
        play(&mut s, &[Type(&keys), Expect("of context]", 1500)]);
        let all: Vec<u32> = prompt.into_iter().chain(generated).collect();
        assert_eq!(tokens(&s, all.len()), all, "{name}");
        compared += 1;
    }
    println!("{compared} runs");
    assert!(compared > 0, "no recorded run could be typed");
}
