//! Searching against a server that answers as the hub does.
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use ssnail_convert::{Options, memory_needs};
use ssnail_gguf::{Gguf, GgufWriter, TensorInfo};
use ssnail_hub::find::{Found, Progress, Search, find};
use ssnail_hub::fit::Format;
use ssnail_hub::{Client, HubError};
use std::sync::Mutex;
use support::server::{Answer, Request, Server};
use support::{client, gguf};

fn words(queries: &[&str]) -> Search {
    Search {
        queries: queries.iter().map(|&words| words.to_owned()).collect(),
        limit: 15,
        all_arch: false,
        memory: None,
        exact: false,
    }
}

/// A hub with five repositories.
fn hub(request: &Request) -> Answer {
    const SEARCH: &str = r#"[
        {"id":"o/TinyStories-GPT2-7M","gguf":{"total":7000000,"architecture":"gpt2"},"downloads":50,"likes":3,
         "tags":["gguf","license:mit"]},
        {"id":"o/all-MiniLM-L6","downloads":900,"gated":"manual"},
        {"id":"o/Llama-8B","gguf":{"total":8000000000,"architecture":"llama"},"downloads":99999},
        {"id":"o/mamba-130m","gguf":{"total":1000000,"architecture":"mamba"},"downloads":7},
        {"id":"o/broken-llama","gguf":{"total":1000000,"architecture":"llama"}}]"#;
    match request.path.as_str() {
        path if path.starts_with("/api/models?") => Answer::json(SEARCH),
        "/api/models/o/TinyStories-GPT2-7M/tree/main?recursive=true" => Answer::json(
            r#"[{"type":"file","path":"t-q8_0.gguf","size":7437500},{"type":"file","path":"t-fp16.gguf","size":14000000}]"#,
        ),
        "/api/models/o/all-MiniLM-L6/tree/main?recursive=true" => {
            Answer::json(r#"[{"type":"file","path":"m-F16.gguf","size":134,"lfs":{"size":45000000}}]"#)
        }
        "/api/models/o/Llama-8B/tree/main?recursive=true" => Answer::json(
            r#"[{"path":"l-00001-of-00002.gguf","size":4000000000},{"path":"l-00002-of-00002.gguf","size":4000000000}]"#,
        ),
        "/api/models/o/mamba-130m/tree/main?recursive=true" => {
            Answer::json(r#"[{"path":"mamba-f16.gguf","size":2000000}]"#)
        }
        _ => Answer::status(404),
    }
}

fn names(found: &[Found]) -> Vec<&str> {
    found.iter().map(|found| found.repository.id.as_str()).collect()
}

fn run(client: &Client, search: &Search) -> Result<Vec<Found>, HubError> {
    find(client, search, &|_| {})
}

#[test]
fn models_that_can_run_are_listed_smallest_first() {
    let server = Server::start(hub);
    let found = run(&client(server.address()), &words(&["x"])).unwrap();
    assert_eq!(names(&found), ["o/TinyStories-GPT2-7M", "o/all-MiniLM-L6"]);
    let (gpt2, bert) = (&found[0], &found[1]);
    assert_eq!(gpt2.model.first.path, "t-fp16.gguf");
    assert_eq!(gpt2.fits, [Some(Format::Q4_0), Some(Format::Q8_0), Some(Format::Q8_0)]);
    assert_eq!(gpt2.repository.license.as_deref(), Some("mit"));
    assert!(gpt2.url.to_string().ends_with("/o/TinyStories-GPT2-7M/resolve/main/t-fp16.gguf"));
    // 45,000,000 bytes at 16 bits per weight; the architecture comes from the name.
    assert_eq!((bert.parameters, bert.guessed), (Some(22_500_000), true));
    assert_eq!(bert.architecture.as_deref(), Some("bert"));
    assert_eq!(bert.fits, [None, Some(Format::Q8_0), Some(Format::Q8_0)]);
    assert!(bert.notes[0].contains("gated"), "{:?}", bert.notes);
}

#[test]
fn all_architectures_are_listed_when_asked_for() {
    let server = Server::start(hub);
    let search = Search { all_arch: true, ..words(&["x"]) };
    let found = run(&client(server.address()), &search).unwrap();
    assert_eq!(names(&found), ["o/mamba-130m", "o/TinyStories-GPT2-7M", "o/all-MiniLM-L6", "o/Llama-8B"]);
    let split = &found[3];
    assert_eq!((split.model.size, split.model.parts), (Some(8_000_000_000), 2));
    assert!(split.notes[0].contains("2 files"), "{:?}", split.notes);
}

#[test]
fn a_memory_size_leaves_out_what_does_not_fit_it() {
    let server = Server::start(hub);
    let search = Search { memory: Some(8), ..words(&["x"]) };
    assert_eq!(names(&run(&client(server.address()), &search).unwrap()), ["o/TinyStories-GPT2-7M"]);
}

#[test]
fn a_repository_that_fails_is_left_out_with_the_reason() {
    let server = Server::start(hub);
    let left = Mutex::new(Vec::new());
    find(&client(server.address()), &words(&["x"]), &|progress| {
        if let Progress::Left { repository, why } = progress {
            left.lock().unwrap().push(format!("{repository}: {why}"));
        }
    })
    .unwrap();
    let left = left.into_inner().unwrap().join("\n");
    assert!(left.contains("o/broken-llama") && left.contains("404"), "{left}");
    assert!(left.contains("o/mamba-130m: architecture mamba is not supported"), "{left}");
    assert!(left.contains("o/Llama-8B: does not fit 72 MB"), "{left}");
}

#[test]
fn several_queries_show_each_repository_once() {
    let server = Server::start(hub);
    let found = run(&client(server.address()), &words(&["x", "y"])).unwrap();
    assert_eq!(found.len(), 2);
    let paths: Vec<_> = server.requests().into_iter().map(|request| request.path).collect();
    assert_eq!(paths.iter().filter(|path| path.contains("search=")).count(), 2);
    assert_eq!(paths.iter().filter(|path| path.contains("MiniLM")).count(), 1);
}

#[test]
fn a_file_without_size_and_tag_is_measured_or_left_out_as_unknown() {
    let file = tiny_llama(50);
    let server = Server::start(move |request| match request.path.as_str() {
        path if path.starts_with("/api/models?") => Answer::json(r#"[{"id":"o/llama"}]"#),
        path if path.starts_with("/api/models/") => Answer::json(r#"[{"path":"m.gguf"}]"#),
        _ => Answer::file(file.clone(), "v"),
    });
    let client = client(server.address());
    let found = run(&client, &Search { exact: true, ..words(&["x"]) }).unwrap();
    assert!(found[0].measured && found[0].fits[0] == Some(Format::Q8_0));
    let left = Mutex::new(String::new());
    let found = find(&client, &words(&["x"]), &|progress| {
        if let Progress::Left { why, .. } = progress {
            *left.lock().unwrap() = (*why).to_owned();
        }
    });
    assert!(found.unwrap().is_empty());
    assert_eq!(left.into_inner().unwrap(), "its size is unknown");
}

#[test]
fn a_search_that_fails_ends_everything() {
    let server = Server::start(|_| Answer::status(400));
    assert!(matches!(run(&client(server.address()), &words(&["x"])), Err(HubError::Status { .. })));
}

/// A llama that converts: one layer of width 64, a vocabulary of `tokens`.
fn tiny_llama(tokens: u64) -> Vec<u8> {
    let mut writer = GgufWriter::new();
    writer.key("general.architecture", "llama").key("tokenizer.ggml.model", "llama");
    for (key, value) in [
        ("embedding_length", 64_u32),
        ("block_count", 1),
        ("feed_forward_length", 96),
        ("attention.head_count", 4),
        ("context_length", 128),
    ] {
        writer.key(format!("llama.{key}"), value);
    }
    let list: Vec<String> = (0..tokens).map(|n| format!("t{n}")).collect();
    writer.key("tokenizer.ggml.tokens", &list[..]);
    let mut tensor = |name: &str, dims: &[u64]| {
        let count: u64 = dims.iter().product();
        writer.f32_tensor(name, dims, &vec![0.25; count as usize]);
    };
    tensor("token_embd.weight", &[64, tokens]);
    tensor("output.weight", &[64, tokens]);
    tensor("output_norm.weight", &[64]);
    for (name, dims) in [
        ("attn_norm", &[64][..]),
        ("ffn_norm", &[64]),
        ("attn_q", &[64, 64]),
        ("attn_k", &[64, 64]),
        ("attn_v", &[64, 64]),
        ("attn_output", &[64, 64]),
        ("ffn_gate", &[64, 96]),
        ("ffn_up", &[64, 96]),
        ("ffn_down", &[96, 64]),
    ] {
        tensor(&format!("blk.0.{name}.weight"), dims);
    }
    writer.to_vec()
}

/// A hub whose only repository holds this file.
fn one_file(file: Vec<u8>, listed: u64) -> Server {
    Server::start(move |request| match request.path.as_str() {
        path if path.starts_with("/api/models?") => {
            Answer::json(r#"[{"id":"o/llama","gguf":{"total":5,"architecture":"llama"}}]"#)
        }
        path if path.starts_with("/api/models/") => {
            Answer::json(format!(r#"[{{"path":"m-f32.gguf","size":{listed}}}]"#))
        }
        _ => Answer::file(file.clone(), "v"),
    })
}

#[test]
fn the_header_of_the_file_overrules_what_the_hub_says() {
    let file = tiny_llama(6000);
    let server = one_file(file.clone(), file.len() as u64);
    let search = Search { exact: true, ..words(&["x"]) };
    let found = run(&client(server.address()), &search).unwrap();
    assert!(found[0].measured);
    // Embedding, classifier and one layer, whatever the hub says.
    let gguf = Gguf::parse(&file).unwrap();
    let weights = gguf.tensors().iter().map(TensorInfo::elements).sum();
    assert_eq!(found[0].parameters, Some(weights));
    // The memory is what converting computes, to the byte.
    assert_eq!(found[0].needs, memory_needs(&gguf, &Options::default()).unwrap());
    assert_eq!(found[0].fits[0], Some(Format::Q8_0));
    // The weights were not fetched.
    assert!(file.len() > 3 << 20);
    assert_eq!(server.requests().pop().unwrap().header("range"), Some("bytes=0-1048575"));
}

#[test]
fn a_model_that_cannot_be_converted_is_left_out_with_the_reason() {
    let file = gguf("llama", 10);
    let server = one_file(file.clone(), file.len() as u64);
    let search = Search { exact: true, ..words(&["x"]) };
    let left = Mutex::new(String::new());
    let found = find(&client(server.address()), &search, &|progress| {
        if let Progress::Left { why, .. } = progress {
            *left.lock().unwrap() = (*why).to_owned();
        }
    });
    assert!(found.unwrap().is_empty());
    let left = left.into_inner().unwrap();
    assert!(left.contains("cannot be converted") && left.contains("llama."), "{left}");
    let all = Search { all_arch: true, ..search };
    let found = run(&client(server.address()), &all).unwrap();
    assert!(found[0].refused.is_some() && found[0].fits == [None; 3]);
}

#[test]
fn a_file_that_is_no_gguf_stays_an_estimate_with_the_reason() {
    let server = one_file(b"<html>sign in</html>".to_vec(), 20);
    let search = Search { exact: true, ..words(&["x"]) };
    let found = run(&client(server.address()), &search).unwrap();
    assert!(!found[0].measured);
    assert!(found[0].notes[0].contains("web page"), "{:?}", found[0].notes);
}
