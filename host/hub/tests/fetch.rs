//! Bringing files home: whole, checked, resumed; or refused with the reason and nothing left.
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use ssnail_hub::fetch::{Fetched, Options, fetch};
use ssnail_hub::{Client, HubError, Source};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use support::server::{Answer, Manner, Request, Server};
use support::{client, gguf, hasty_client, sha256};

/// A fetch into a folder of its own.
struct Home {
    folder: tempfile::TempDir,
    options: Options,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { output: Some(folder.path().to_owned()), ..Options::default() };
        Self { folder, options }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn fetch(&self, client: &Client, source: &str) -> Result<Fetched, HubError> {
        fetch(client, &Source::parse(source).unwrap(), &self.options, &mut |_| {})
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

fn server(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> (Server, Client) {
    let server = Server::start(answer);
    let client = client(server.address());
    (server, client)
}

#[test]
fn a_file_arrives_whole_under_its_name() {
    let model = gguf("llama", 5000);
    let served = model.clone();
    let (server, client) = server(move |_| Answer::file(served.clone(), "v1"));
    let home = Home::new();
    let fetched = home.fetch(&client, &server.url("/a/my%20model.gguf?download=true")).unwrap();
    assert_eq!(fetched.path, home.path("my model.gguf"));
    assert_eq!(fs::read(&fetched.path).unwrap(), model);
    assert_eq!((fetched.sha256, fetched.verified, fetched.resumed), (sha256(&model), false, 0));
    assert_eq!(home.names(), ["my model.gguf"]);
}

#[test]
fn a_repository_gives_its_finest_file_and_its_checksum_is_compared() {
    let model = gguf("llama", 100);
    let list = format!(
        r#"[{{"type":"file","path":"m-Q4_0.gguf","size":5}},{{"type":"file","path":"m-f16.gguf","size":134,
        "lfs":{{"oid":"{}","size":{}}}}},{{"type":"file","path":"mmproj-f32.gguf","size":1}}]"#,
        sha256(&model),
        model.len()
    );
    let (server, client) = server(move |request| match request.path.as_str() {
        "/api/models/o/r/tree/main?recursive=true" => Answer::json(list.clone()),
        "/o/r/resolve/main/m-f16.gguf" => Answer::file(model.clone(), "v"),
        _ => Answer::status(404),
    });
    let home = Home::new();
    assert!(home.fetch(&client, "o/r").unwrap().verified);
    assert_eq!(home.names(), ["m-f16.gguf"]);
    let error = home.fetch(&client, "o/r:nothing.gguf").unwrap_err().to_string();
    assert!(error.contains("m-Q4_0.gguf, m-f16.gguf"), "{error}");
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn a_wrong_checksum_leaves_nothing() {
    let (server, client) = server(|_| Answer::file(gguf("llama", 10), "v"));
    let mut home = Home::new();
    home.options.sha256 = Some("0".repeat(64));
    let error = home.fetch(&client, &server.url("/m.gguf")).unwrap_err();
    assert!(matches!(error, HubError::Mismatch { what: "the SHA-256", .. }), "{error}");
    assert_eq!(home.names(), [""; 0]);
}

#[test]
fn the_checksum_that_the_hub_states_on_the_way_is_compared() {
    let (server, client) = server(|request| match request.path.as_str() {
        "/cdn" => Answer::file(gguf("llama", 10), "cdn-tag"),
        _ => Answer::redirect("/cdn").header("X-Linked-ETag", format!("\"{}\"", "a".repeat(64))),
    });
    let home = Home::new();
    let error = home.fetch(&client, &server.url("/m.gguf")).unwrap_err();
    assert!(matches!(error, HubError::Mismatch { .. }), "{error}");
}

#[test]
fn a_broken_connection_is_continued_where_it_broke() {
    let model = gguf("llama", 100_000);
    let served = model.clone();
    let (server, client) = server(move |request| {
        let answer = Answer::file(served.clone(), "v1");
        if request.earlier < 3 { answer.manner(Manner::CutAfter(90_000)) } else { answer }
    });
    let home = Home::new();
    home.fetch(&client, &server.url("/m.gguf")).unwrap();
    assert_eq!(fs::read(home.path("m.gguf")).unwrap(), model);
    let ranges: Vec<_> = server.requests().iter().map(|request| request.header("range").map(str::to_owned)).collect();
    assert_eq!(ranges[0], None);
    assert_eq!(ranges[1..], ["bytes=90000-", "bytes=180000-", "bytes=270000-"].map(|r| Some(r.to_owned())));
}

#[test]
fn a_download_given_up_is_resumed_by_the_next_call() {
    let model = gguf("llama", 50_000);
    let served = model.clone();
    let (server, _) = server(move |request| match request.earlier {
        0 => Answer::file(served.clone(), "v1").manner(Manner::SilentAfter(70_000)),
        1..4 => Answer::status(404),
        _ => Answer::file(served.clone(), "v1"),
    });
    let client = hasty_client(server.address(), Duration::from_secs(3));
    let home = Home::new();
    assert!(home.fetch(&client, &server.url("/m.gguf")).is_err());
    assert_eq!(home.names(), ["m.gguf.partial", "m.gguf.partial.json"]);
    assert!(home.fetch(&client, &server.url("/m.gguf")).is_err());
    assert!(home.fetch(&client, &server.url("/m.gguf")).is_err());
    let fetched = home.fetch(&client, &server.url("/m.gguf")).unwrap();
    assert_eq!(fetched.resumed, 70_000);
    assert_eq!(fs::read(home.path("m.gguf")).unwrap(), model);
    assert_eq!(home.names(), ["m.gguf"]);
}

#[test]
fn another_version_of_the_file_is_fetched_from_the_beginning() {
    let model = gguf("llama", 50_000);
    let (old, new) = (gguf("gpt2", 50_000), model.clone());
    let (server, client) = server(move |request| match request.earlier {
        0 => Answer::file(old.clone(), "v1").manner(Manner::CutAfter(70_000)),
        _ => Answer::file(new.clone(), "v2"),
    });
    let home = Home::new();
    home.fetch(&client, &server.url("/m.gguf")).unwrap();
    assert_eq!(fs::read(home.path("m.gguf")).unwrap(), model);
}

#[test]
fn a_server_without_ranges_starts_again() {
    let model = gguf("llama", 50_000);
    let served = model.clone();
    let (server, client) = server(move |request| {
        let answer = Answer::file(served.clone(), "v1").without_ranges();
        if request.earlier == 0 { answer.manner(Manner::CutAfter(70_000)) } else { answer }
    });
    let home = Home::new();
    home.fetch(&client, &server.url("/m.gguf")).unwrap();
    assert_eq!(fs::read(home.path("m.gguf")).unwrap(), model);
}

#[test]
fn a_partial_file_of_unknown_origin_is_not_continued() {
    let model = gguf("llama", 5000);
    let served = model.clone();
    let (server, client) = server(move |_| Answer::file(served.clone(), "v1"));
    let home = Home::new();
    fs::write(home.path("m.gguf.partial"), vec![9; 100]).unwrap();
    home.fetch(&client, &server.url("/m.gguf")).unwrap();
    assert_eq!(fs::read(home.path("m.gguf")).unwrap(), model);
    assert_eq!(server.requests()[0].header("range"), None);
}

#[test]
fn a_whole_partial_file_is_only_checked() {
    let model = gguf("llama", 5000);
    let served = model.clone();
    let (server, client) = server(move |_| Answer::file(served.clone(), "v1"));
    let home = Home::new();
    fs::write(home.path("m.gguf.partial"), &model).unwrap();
    let note = format!(r#"{{"validator":"\"v1\"","size":{}}}"#, model.len());
    fs::write(home.path("m.gguf.partial.json"), note).unwrap();
    let fetched = home.fetch(&client, &server.url("/m.gguf")).unwrap();
    assert_eq!((fetched.resumed, fetched.size), (model.len() as u64, model.len() as u64));
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn an_existing_file_is_replaced_only_by_force() {
    let model = gguf("llama", 10);
    let served = model.clone();
    let (server, client) = server(move |_| Answer::file(served.clone(), "v1"));
    let mut home = Home::new();
    fs::write(home.path("m.gguf"), b"mine").unwrap();
    let error = home.fetch(&client, &server.url("/m.gguf")).unwrap_err();
    assert!(matches!(error, HubError::Exists(_)) && error.to_string().contains("--force"), "{error}");
    assert_eq!(server.requests().len(), 0);
    assert_eq!(fs::read(home.path("m.gguf")).unwrap(), b"mine");
    home.options.force = true;
    home.fetch(&client, &server.url("/m.gguf")).unwrap();
    assert_eq!(fs::read(home.path("m.gguf")).unwrap(), model);
}

/// What is refused because it is no GGUF file, with a part of the reason.
fn refused(answer: impl Fn() -> Answer + Send + Sync + 'static, reason: &str) {
    let (server, client) = server(move |_| answer());
    let home = Home::new();
    let error = home.fetch(&client, &server.url("/m.gguf")).unwrap_err();
    assert!(matches!(error, HubError::NotGguf { .. }), "{error}");
    assert!(error.to_string().contains(reason), "{error}");
    assert_eq!(home.names(), [""; 0]);
}

#[test]
fn a_web_page_is_refused() {
    refused(|| Answer::html(format!("<!doctype html>{}", " ".repeat(9000))), "web page");
    refused(|| Answer::html("<html>"), "web page");
}

#[test]
fn an_lfs_pointer_is_refused() {
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n";
    refused(move || Answer::file(pointer, "v"), "LFS pointer");
}

#[test]
fn a_file_cut_short_by_whoever_uploaded_it_is_refused() {
    refused(
        || {
            let whole = gguf("llama", 5000);
            Answer::file(whole[..whole.len() - 100].to_vec(), "v")
        },
        "token_embd.weight",
    );
    refused(|| Answer::status(200), "empty");
}

#[test]
fn an_answer_without_a_length_is_taken_and_checked() {
    let model = gguf("llama", 3000);
    let served = model.clone();
    let (server, client) = server(move |_| Answer::file(served.clone(), "v").without_ranges().manner(Manner::NoLength));
    let home = Home::new();
    home.fetch(&client, &server.url("/m.gguf")).unwrap();
    assert_eq!(fs::read(home.path("m.gguf")).unwrap(), model);
}

#[test]
fn an_answer_that_goes_on_behind_the_last_tensor_is_refused() {
    // As much as the tests' server will send; from a real one it would not end.
    refused(
        || {
            let mut endless = gguf("llama", 3000);
            endless.resize(8 << 20, 0);
            Answer::file(endless, "v").without_ranges().manner(Manner::NoLength)
        },
        "its last tensor ends at byte",
    );
}

#[test]
fn a_server_that_always_breaks_at_the_same_place_is_given_up() {
    let (server, client) =
        server(|_| Answer::file(gguf("llama", 30_000), "v").without_ranges().manner(Manner::CutAfter(70_000)));
    let home = Home::new();
    let error = home.fetch(&client, &server.url("/m.gguf")).unwrap_err();
    assert!(matches!(error, HubError::Broken { .. }), "{error}");
    // None of them came farther than the first.
    assert_eq!(server.requests().len(), 4);
}

#[test]
fn a_size_other_than_listed_is_refused() {
    let (server, client) = server(|request| {
        if request.path.starts_with("/api") {
            return Answer::json(r#"[{"path":"m-f16.gguf","size":99}]"#);
        }
        Answer::file(gguf("llama", 10), "v")
    });
    let home = Home::new();
    let error = home.fetch(&client, "o/r").unwrap_err();
    assert!(matches!(error, HubError::Mismatch { what: "the size", .. }), "{error}");
    assert_eq!(home.names(), [""; 0]);
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn a_split_model_is_refused_before_a_byte_is_fetched() {
    let list = r#"[{"path":"m-f16-00001-of-00002.gguf","size":9},{"path":"m-f16-00002-of-00002.gguf","size":9}]"#;
    let (server, client) = server(move |_| Answer::json(list));
    let home = Home::new();
    for source in ["o/r", "o/r:m-f16-00002-of-00002.gguf"] {
        let error = home.fetch(&client, source).unwrap_err().to_string();
        assert!(error.contains("split") || error.contains("parts"), "{error}");
    }
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn a_folder_that_cannot_be_written_is_a_local_error() {
    let (server, client) = server(|_| Answer::file(gguf("llama", 10), "v"));
    let source = Source::parse(&server.url("/m.gguf")).unwrap();
    let output = Some(Path::new("/proc/nowhere/m.gguf").to_owned());
    let options = Options { output, ..Options::default() };
    let error = fetch(&client, &source, &options, &mut |_| {}).unwrap_err();
    assert!(error.is_local(), "{error}");
}

#[test]
fn two_fetches_of_the_same_file_do_not_write_into_each_other() {
    let (server, client) = server(|_| Answer::file(gguf("llama", 10), "v"));
    let home = Home::new();
    let other = fs::File::create(home.path("m.gguf.partial")).unwrap();
    other.lock().unwrap();
    let error = home.fetch(&client, &server.url("/m.gguf")).unwrap_err();
    assert!(matches!(error, HubError::Locked(_)), "{error}");
    drop(other);
    home.fetch(&client, &server.url("/m.gguf")).unwrap();
}
