//! `ssnail findmodels` and `ssnail fetch` against a server of the tests' own.
#![allow(clippy::unwrap_used)]

#[path = "../../hub/tests/support/server.rs"]
mod server;
mod support;

use server::{Answer, Server};
use ssnail_gguf::GgufWriter;
use std::fs;
use support::Test;

fn model() -> Vec<u8> {
    let mut writer = GgufWriter::new();
    writer.key("general.architecture", "llama");
    writer.f32_tensor("token_embd.weight", &[32, 4], &[0.5; 128]);
    writer.to_vec()
}

fn hub() -> Server {
    Server::start(|request| match request.path.as_str() {
        path if path.starts_with("/api/models?") => Answer::json(
            r#"[{"id":"o/tiny-llama","gguf":{"total":15191712,"architecture":"llama"},"downloads":12,"tags":["license:mit"]}]"#,
        ),
        path if path.starts_with("/api/models/") => {
            Answer::json(format!(r#"[{{"path":"sub/my model-f16.gguf","size":{}}}]"#, model().len()))
        }
        _ => Answer::file(model(), "v1"),
    })
}

#[test]
fn findmodels_prints_a_table_and_how_to_fetch() {
    let hub = hub();
    let ran = Test::new().args(["findmodels", "x", "--estimate"]).env("HF_ENDPOINT", hub.address()).run();
    let stdout = ran.stdout();
    assert!(stdout.contains("o/tiny-llama"), "{stdout}");
    assert!(stdout.contains("~15.2M    -   q8   q8           ?        12  mit"), "{stdout}");
    let url = hub.url("/o/tiny-llama/resolve/main/sub/my%20model-f16.gguf");
    assert!(stdout.contains(&format!("make fetch URL={url}  # my model-f16.gguf")), "{stdout}");
}

#[test]
fn findmodels_as_json_is_one_array() {
    let hub = hub();
    let ran = Test::new().args(["findmodels", "--json", "--all-arch", "x", "--base-url", hub.address()]).run();
    let list: serde_json::Value = serde_json::from_str(&ran.stdout()).unwrap();
    assert_eq!(list[0]["repository"], "o/tiny-llama");
    assert_eq!(list[0]["license"], "mit");
    // 32 x 4 weights stand in the file, whatever the hub says.
    assert_eq!((&list[0]["parameters"], &list[0]["measured"]), (&128.into(), &true.into()));
}

#[test]
fn findmodels_asks_for_the_usual_words_when_none_are_given() {
    let hub = Server::start(|_| Answer::json("[]"));
    Test::new().args(["findmodels", "--base-url", hub.address()]).stdout_contains("No model found").run();
    assert_eq!(hub.requests().len(), 9);
}

#[test]
fn without_a_network_there_is_one_line_and_status_1() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let ran = Test::new().args(["findmodels", "x", "--base-url", &address]).status(1).stdout("").run();
    assert_eq!(ran.stderr().lines().count(), 2, "{}", ran.stderr());
    assert!(ran.stderr().contains("ssnail: cannot reach 127.0.0.1"), "{}", ran.stderr());
}

#[test]
fn a_proxy_of_the_environment_is_used_and_its_refusal_said() {
    let proxy = Server::start(|_| Answer::status(403));
    let ran = Test::new()
        .args(["findmodels", "x"])
        .env("HTTPS_PROXY", proxy.address())
        .status(1)
        .stderr_contains("cannot reach huggingface.co")
        .run();
    assert!(ran.stderr().contains("proxy"), "{}", ran.stderr());
    assert_eq!(proxy.requests()[0].method, "CONNECT");
    assert_eq!(proxy.requests()[0].path, "huggingface.co:443");
}

#[test]
fn plain_http_to_another_computer_is_a_usage_error() {
    for command in [["findmodels", "x"], ["fetch", "o/r"]] {
        Test::new()
            .args(command)
            .args(["--base-url", "http://example.org"])
            .status(2)
            .stderr_contains("loopback")
            .run();
    }
}

#[test]
fn fetch_prints_the_path_of_a_whole_file() {
    let hub = hub();
    let ran = Test::new()
        .args(["fetch", "o/tiny-llama", "--base-url", hub.address()])
        .stdout("my model-f16.gguf\n")
        .stderr_contains("SHA-256")
        .run();
    assert_eq!(fs::read(ran.folder().join("my model-f16.gguf")).unwrap(), model());
}

#[test]
fn fetch_never_overwrites_by_itself() {
    let hub = hub();
    let url = hub.url("/m.gguf");
    let ran = Test::new().file("m.gguf", "mine").args(["fetch", &url]).status(1).stderr_contains("--force").run();
    assert_eq!(fs::read(ran.folder().join("m.gguf")).unwrap(), b"mine");
    let ran = Test::new().file("m.gguf", "mine").args(["fetch", &url, "--force"]).run();
    assert_eq!(fs::read(ran.folder().join("m.gguf")).unwrap(), model());
}

#[test]
fn fetch_sends_the_token_and_never_prints_it() {
    let hub = Server::start(|_| Answer::status(403));
    let ran =
        Test::new().args(["fetch", "o/r", "--base-url", hub.address()]).env("HF_TOKEN", "hf_geheim").status(1).run();
    assert_eq!(hub.requests()[0].header("authorization"), Some("Bearer hf_geheim"));
    assert!(!ran.stderr().contains("geheim") && ran.stderr().contains("403"), "{}", ran.stderr());
}

#[test]
fn a_checksum_that_is_none_is_a_usage_error() {
    Test::new().args(["fetch", "o/r", "--sha256", "abc"]).status(2).stderr_contains("64 hexadecimal").run();
}

#[test]
fn weakness_findmodels_asks_again_counts_all_parts_and_shows_what_is_gated() {
    let hub = Server::start(|request| match request.path.as_str() {
        path if path.starts_with("/api/models?") && request.earlier == 0 => {
            Answer::status(429).header("Retry-After", "0")
        }
        path if path.starts_with("/api/models?") => Answer::json(
            r#"[{"id":"o/split-llama","gguf":{"total":70000000,"architecture":"llama"}},
                {"id":"o/gated-llama","gguf":{"total":1000000,"architecture":"llama"},"gated":"manual"},
                {"id":"o/mistral-tiny","gguf":{"total":1000000,"architecture":"mamba"}}]"#,
        ),
        path if path.contains("split") => Answer::json(
            r#"[{"path":"s-f16-00001-of-00002.gguf","size":70000000},{"path":"s-f16-00002-of-00002.gguf","size":70000000}]"#,
        ),
        path if path.contains("gated") => Answer::json(r#"[{"path":"g-f16.gguf","size":2000000}]"#),
        _ => Answer::json(r#"[{"path":"m-f16.gguf","size":2000000}]"#),
    });
    let ran = Test::new().args(["findmodels", "x", "--estimate", "--json", "--base-url", hub.address()]).run();
    assert!(ran.stderr().contains("429"), "{}", ran.stderr());
    let list = ran.json();
    let found = |name: &str| list.as_array().unwrap().iter().find(|one| one["repository"] == name).cloned();
    let split = found("o/split-llama").unwrap();
    assert_eq!((&split["bytes"], &split["parts"]), (&140_000_000.into(), &2.into()), "{split:#}");
    assert!(found("o/gated-llama").unwrap()["notes"].to_string().contains("gated"), "{list:#}");
    // Its name says mistral, the file itself says what it is.
    assert_eq!(found("o/mistral-tiny"), None);
}

#[test]
fn the_token_of_the_usual_file_is_sent_and_never_printed() {
    let hub = Server::start(|_| Answer::status(401));
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("token"), "hf_versteckt\n").unwrap();
    for command in [&["fetch", "o/r"][..], &["findmodels", "x"], &["findmodels", "x", "--json"]] {
        let test = Test::new().args(command.iter().copied()).args(["--base-url", hub.address()]);
        let ran = test.env("HF_HOME", folder.path()).status(1).run();
        assert!(!format!("{}{}", ran.stdout(), ran.stderr()).contains("versteckt"), "{}", ran.stderr());
    }
    assert!(hub.requests().iter().all(|request| request.header("authorization") == Some("Bearer hf_versteckt")));
}

#[test]
fn a_file_that_is_no_model_is_refused_in_one_line_and_nothing_is_left() {
    let answers: [fn() -> Answer; 3] = [
        || Answer::html("<!doctype html><title>Sign in</title>"),
        || Answer::file("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n", "v"),
        || Answer::file(model()[..600].to_vec(), "v"),
    ];
    for (answer, reason) in answers.into_iter().zip(["web page", "Git LFS pointer", "token_embd.weight"]) {
        let hub = Server::start(move |_| answer());
        let ran = Test::new().args(["fetch", &hub.url("/m.gguf")]).status(1).stderr_contains(reason).run();
        assert_eq!(ran.stderr().lines().filter(|line| line.starts_with("ssnail: ")).count(), 1, "{}", ran.stderr());
        assert_eq!(ran.files(), [""; 0]);
    }
}

#[test]
fn names_out_of_the_network_cannot_command_a_terminal_or_begin_a_line() {
    let hub = Server::start(|request| match request.path.as_str() {
        path if path.starts_with("/api/models?") => Answer::json(
            r#"[{"id":"o/r\u001b[2J","gguf":{"architecture":"llama\u0007"},"tags":["license:\u001b]0;x"]}]"#,
        ),
        path if path.starts_with("/api/models/") => {
            Answer::json(format!(r#"[{{"path":"m\nrm -rf x\u001b[1m-f16.gguf","size":{}}}]"#, model().len()))
        }
        _ => Answer::file(model(), "v1"),
    });
    let found = Test::new().args(["findmodels", "x", "--all-arch", "--base-url", hub.address()]).run();
    let shown = found.stdout() + &found.stderr();
    assert!(shown.contains("make fetch URL="), "{shown:?}");
    assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{shown:?}");
    assert!(shown.lines().all(|line| !line.starts_with("rm")), "{shown:?}");
}

#[cfg(all(unix, target_pointer_width = "64"))]
#[test]
fn without_a_thread_to_be_had_there_is_a_sentence() {
    let hub = hub();
    let test = Test::new().args(["findmodels", "x", "--base-url", hub.address(), "--all-arch"]);
    let test = test.env("RUST_MIN_STACK", "70368744177664").status(2);
    test.stderr_contains("the system gives no thread to work with").run();
}

#[cfg(target_os = "linux")]
#[test]
fn certificates_and_tokens_without_an_end_are_not_waited_for() {
    let hub = hub();
    let test = || Test::new().args(["findmodels", "x", "--estimate", "--base-url", hub.address()]);
    test().env("SSL_CERT_FILE", "/dev/zero").status(2).stderr_contains("certificates of /dev/zero").run();
    test().env("HF_TOKEN_PATH", "/dev/zero").stdout_contains("o/tiny-llama").run();
}
