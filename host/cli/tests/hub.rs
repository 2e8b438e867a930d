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
