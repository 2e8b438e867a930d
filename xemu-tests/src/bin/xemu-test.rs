//! Plays every scenario in `ssnail-m65`, and in Xemu where there is one: `make xemu-test [ONLY=part of a name]`.
#![allow(missing_docs)]

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    use ssnail_xemu_tests::{player, prg, scenarios, xemu};
    use std::time::Instant;

    let only = std::env::args().nth(1).unwrap_or_default();
    let emulator = xemu::found();
    match (&emulator, xemu::other_user()) {
        (None, _) => println!("no Xemu: no xmega65 on PATH, and XMEGA65 is not set; get it from {}", xemu::SOURCE),
        (Some(path), None) => println!("Xemu: {}", path.display()),
        (Some(path), Some((user, _))) => println!("Xemu: {}, as user {user}: it does not run as root", path.display()),
    }
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    let mut tell = |name: &str, r#where: &str, result: Option<Result<(), String>>, seconds: f32| {
        let (counter, said) = match &result {
            Some(Ok(())) => (&mut passed, "ok".to_owned()),
            Some(Err(e)) => (&mut failed, format!("FAILED\n{e}")),
            None => (&mut skipped, "skipped".to_owned()),
        };
        *counter += 1;
        println!("{name}: {where} {said} ({seconds:.1} s)");
    };
    let program = prg();
    for play in scenarios::all().iter().filter(|p| p.name.contains(&only)) {
        let media = program.as_ref().and_then(|prg| player::media(play, prg));
        let Some(media) = media else {
            tell(play.name, "here", None, 0.0);
            tell(play.name, "in Xemu", None, 0.0);
            continue;
        };
        let begun = Instant::now();
        let record = went(|| player::here(play, &media));
        let seconds = begun.elapsed().as_secs_f32();
        let (record, result) = match record {
            Ok(record) => (Some(record), Ok(())),
            Err(e) => (None, Err(e)),
        };
        tell(play.name, "here", Some(result), seconds);
        let begun = Instant::now();
        let result = match (&record, &emulator) {
            (Some(record), Some(path)) => Some(went(|| player::there(play, &media, record, path))),
            _ => None,
        };
        tell(play.name, "in Xemu", result, begun.elapsed().as_secs_f32());
    }
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    if failed == 0 { std::process::ExitCode::SUCCESS } else { std::process::ExitCode::FAILURE }
}

/// A fault of one scenario, an emulator that vanished included, does not end the list.
#[cfg(unix)]
fn went<T>(play: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(play)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        Err(said.unwrap_or("it panicked").to_owned())
    })
}

#[cfg(not(unix))]
fn main() {
    println!("the scenarios are played on Unix");
}
