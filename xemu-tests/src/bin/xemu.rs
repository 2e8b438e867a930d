//! Starts the program in a visible Xemu, with disk and card: `make xemu [ROM=MEGA65.ROM]`.
#![allow(missing_docs)]

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    use ssnail_xemu_tests::xemu;
    use std::process::{Command, ExitCode};

    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [prg, disk, card] = &arguments[..] else {
        eprintln!("usage: xemu SSNAIL.PRG SSNAIL.D81 CARD.IMG");
        return ExitCode::from(2);
    };
    let Some(emulator) = xemu::found() else {
        eprintln!(
            "Xemu is not here: no xmega65 on PATH, and XMEGA65 does not name one.\n\
             Get it from {} (or https://github.lgb.hu/xemu/ ready to run),\n\
             or use the emulator of this project: make native",
            xemu::SOURCE
        );
        return ExitCode::FAILURE;
    };
    if xemu::other_user().is_some() {
        eprintln!("Xemu does not run as root: start make xemu as another user");
        return ExitCode::FAILURE;
    }
    let mut command = Command::new(&emulator);
    command.args(["-besure", "-sdimg", card, "-8", disk]);
    match std::env::var("ROM").ok().filter(|rom| !rom.is_empty()) {
        Some(rom) => {
            println!("starting the disk with {rom}");
            command.args(["-rom", &rom, "-autoload"]);
        }
        None => {
            let entry = match std::fs::read(prg) {
                Ok(file) => xemu::entry(&file),
                Err(e) => {
                    eprintln!("{prg}: {e}");
                    return ExitCode::from(2);
                }
            };
            println!("starting {prg} with the open ROMs that Xemu brings; ROM=/path/MEGA65.ROM starts the disk itself");
            command.args(["-useinitrom", "-prg", prg, "-prgmode", "65", "-prgtest", &format!("SYS{entry}")]);
        }
    }
    println!("Xemu says first that the card has no signature of its own: RETURN goes on");
    match command.status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(e) => {
            eprintln!("{}: {e}", emulator.display());
            ExitCode::from(2)
        }
    }
}

#[cfg(not(unix))]
fn main() {
    println!("start Xemu with build/CARD.IMG as SD image and build/SSNAIL.D81 in drive 8");
}
