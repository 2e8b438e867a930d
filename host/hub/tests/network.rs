//! How the client behaves towards servers that are slow, broken, rude or not there.
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use ssnail_hub::{Client, HubError, Url, api};
use std::net::TcpListener;
use std::time::{Duration, Instant};
use support::server::{Answer, Manner, Server};
use support::{client, client_with_log, client_with_token, hasty_client};

fn search(client: &Client) -> Result<usize, HubError> {
    api::search(client, "x", 5).map(|repositories| repositories.len())
}

/// Shorter than what any server here waits.
const SILENCE: Duration = Duration::from_millis(300);
const ONE: &str = r#"[{"id":"a/b"}]"#;

#[test]
fn a_busy_server_is_asked_again_after_the_time_it_names() {
    let server = Server::start(|request| match request.earlier {
        0 => Answer::status(429).header("Retry-After", "1"),
        1 => Answer::status(503),
        _ => Answer::json(ONE),
    });
    let (client, pauses) = client_with_log(server.address());
    let start = Instant::now();
    assert_eq!(search(&client).unwrap(), 1);
    assert!(start.elapsed() >= Duration::from_secs(1));
    assert_eq!(*pauses.lock().unwrap(), [Duration::from_secs(1), Duration::from_millis(10)]);
}

#[test]
fn patience_ends_after_so_many_attempts() {
    let server = Server::start(|_| Answer::status(504));
    let error = search(&client(server.address())).unwrap_err();
    let HubError::Busy { status, attempts, .. } = error else { panic!("{error}") };
    assert_eq!((status, attempts, server.requests().len()), (504, 4, 4));
}

#[test]
fn a_server_that_asks_for_an_hour_is_not_waited_for() {
    let server = Server::start(|_| Answer::status(429).header("Retry-After", "3600"));
    let error = search(&client(server.address())).unwrap_err();
    assert!(error.to_string().contains("come back in 3600 s"), "{error}");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_web_page_instead_of_json_is_named() {
    let server = Server::start(|_| Answer::html("<!DOCTYPE html><title>Sign in</title>"));
    let error = search(&client(server.address())).unwrap_err().to_string();
    assert!(error.contains("web page") && !error.contains("Sign in"), "{error}");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn truncated_json_is_asked_for_again() {
    let server = Server::start(|request| match request.earlier {
        0 => Answer::json(&ONE[..8]),
        1 => Answer::json(ONE).manner(Manner::CutAfter(5)),
        _ => Answer::json(ONE),
    });
    assert_eq!(search(&client(server.address())).unwrap(), 1);
    let server = Server::start(|_| Answer::json(&ONE[..8]));
    let error = search(&client(server.address())).unwrap_err().to_string();
    assert!(error.contains("ends too early, after 8 bytes"), "{error}");
}

#[test]
fn an_object_instead_of_a_list_shows_what_the_server_says() {
    let server = Server::start(|_| Answer::json(r#"{"error":"Invalid search"}"#));
    let error = search(&client(server.address())).unwrap_err().to_string();
    assert!(error.contains("Invalid search"), "{error}");
}

#[test]
fn a_silent_server_is_given_up() {
    let server = Server::start(|_| Answer::json(ONE).manner(Manner::SilentAfter(3)));
    let error = search(&hasty_client(server.address(), SILENCE)).unwrap_err().to_string();
    assert!(error.contains("fell silent") && error.contains("4 times"), "{error}");
}

#[test]
fn a_server_that_never_answers_is_given_up() {
    // Connections are accepted by the system and never read.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let error = search(&hasty_client(&address, SILENCE)).unwrap_err().to_string();
    assert!(error.contains("fell silent"), "{error}");
}

#[test]
fn nobody_there_is_one_line_at_once() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let error = search(&client(&address)).unwrap_err();
    assert!(matches!(error, HubError::Unreachable { .. }), "{error}");
    assert!(!error.to_string().contains('\n'));
}

#[test]
fn an_answer_that_is_not_http_is_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            drop(std::io::Write::write_all(&mut &stream, b"SSH-2.0-OpenSSH\r\n\r\n"));
        }
    });
    assert!(search(&client(&address)).is_err());
}

#[test]
fn redirects_are_followed_but_not_in_circles() {
    let server = Server::start(|request| match request.path.as_str() {
        path if path.starts_with("/api") => Answer::redirect("/second"),
        "/second" => Answer::redirect("third?x=1"),
        _ => Answer::json(ONE),
    });
    assert_eq!(search(&client(server.address())).unwrap(), 1);
    let server = Server::start(|request| Answer::redirect(request.path.clone()));
    let error = search(&client(server.address())).unwrap_err().to_string();
    assert!(error.contains("too many redirects"), "{error}");
}

#[test]
fn a_redirect_to_plain_http_elsewhere_is_refused() {
    let server = Server::start(|_| Answer::redirect("http://example.com/x"));
    let error = search(&client(server.address())).unwrap_err();
    assert!(matches!(error, HubError::Redirect { .. }), "{error}");
}

#[test]
fn the_token_goes_to_the_endpoint_only() {
    let other = Server::start(|_| Answer::json(ONE));
    let target = other.url("/elsewhere");
    let server = Server::start(move |_| Answer::redirect(target.clone()));
    let client = client_with_token(server.address(), "hf_secret");
    assert_eq!(search(&client).unwrap(), 1);
    assert_eq!(server.requests()[0].header("authorization"), Some("Bearer hf_secret"));
    assert_eq!(other.requests()[0].header("authorization"), None);
}

#[test]
fn a_gated_repository_says_how_to_get_in_and_never_shows_the_token() {
    let server = Server::start(|_| Answer::status(401));
    let error = search(&client(server.address())).unwrap_err().to_string();
    assert!(error.contains("HF_TOKEN"), "{error}");
    let error = search(&client_with_token(server.address(), "hf_secret")).unwrap_err();
    let text = format!("{error} {error:?}");
    assert!(text.contains("token that was sent") && !text.contains("hf_secret"), "{text}");
}

#[test]
fn a_prefix_is_not_read_further_when_ranges_are_ignored() {
    let server = Server::start(|_| Answer::file(vec![7; 100_000], "v").without_ranges());
    let url = Url::parse(&server.url("/f")).unwrap();
    let (bytes, size) = client(server.address()).prefix(&url, 10).unwrap();
    assert_eq!((bytes, size), (vec![7; 10], Some(100_000)));
}

#[test]
fn a_prefix_longer_than_the_file_is_the_file() {
    let server = Server::start(|_| Answer::file(vec![7; 10], "v"));
    let url = Url::parse(&server.url("/f")).unwrap();
    let (bytes, size) = client(server.address()).prefix(&url, 1000).unwrap();
    assert_eq!((bytes.len(), size), (10, Some(10)));
    assert_eq!(server.requests()[0].header("range"), Some("bytes=0-999"));
}

#[test]
fn lists_over_several_pages_are_read_to_the_end() {
    let server = Server::start(|request| {
        if request.path.contains("cursor=2") {
            return Answer::json(r#"[{"path":"two.gguf"},{"path":"readme.md"}]"#);
        }
        let next = format!("<{}&cursor=2>; rel=\"next\"", request.path);
        Answer::json(r#"[{"path":"one.gguf"}]"#).header("Link", next)
    });
    let files = api::files(&client(server.address()), "a/b", "main").unwrap();
    let names: Vec<_> = files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(names, ["one.gguf", "two.gguf"]);
    assert_eq!(server.requests()[0].path, "/api/models/a/b/tree/main?recursive=true");
}

#[test]
fn unknown_missing_and_odd_fields_do_no_harm() {
    let answer = r#"[{"id":"a/b","gguf":null,"downloads":"12","likes":-3,"tags":"x","gated":"auto","new":{}},
        {"modelId":"c/d","gguf":{"total":1.5e7,"architecture":7},"tags":["gguf","license:mit"],"gated":false},
        {"name":"no id"}, 5, null]"#;
    let server = Server::start(move |_| Answer::json(answer));
    let found = api::search(&client(server.address()), "tiny stories&x", 5).unwrap();
    assert_eq!(found.len(), 2);
    assert!(found[0].gated && found[0].downloads == 12 && found[0].likes == 0);
    assert_eq!((found[1].parameters, found[1].license.as_deref()), (Some(15_000_000), Some("mit")));
    let path = &server.requests()[0].path;
    assert!(path.starts_with("/api/models?search=tiny%20stories%26x&filter=gguf&sort=downloads&direction=-1&limit=5"));
    assert!(path.contains("&expand%5B%5D=gguf&expand%5B%5D=downloads&expand%5B%5D=likes"), "{path}");
}
