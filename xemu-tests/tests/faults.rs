//! What goes wrong is said in a sentence, and the program goes on.
#![allow(clippy::unwrap_used)]

use ssnail_disk::block::read_sector;
use ssnail_disk::fat::Layout;
use ssnail_m65::expansion::Defect;
use ssnail_m65::hdos::{EndOfFile, LongNames, Options};
use ssnail_m65::io::card::{Effect, Fault, Trigger};
use ssnail_m65::{Model, Scenario};
use ssnail_shared::header::{Header, offset};
use ssnail_shared::map::{HEADER_LEN, MEGABYTE, PAYLOAD};
use ssnail_xemu_tests::card::{File, card};
use ssnail_xemu_tests::model;
use ssnail_xemu_tests::scenario::Step::{Expect, Never, Type};
use ssnail_xemu_tests::scenario::{LIST, Setup, play};

const SHORT: u64 = 400;
const LONG: u64 = 1500;
/// The list is there and takes keys.

fn stories() -> Option<Vec<u8>> {
    model::image("stories260K-Q8_0", "keep")
}

fn on_card(image: &[u8]) -> Setup {
    Setup::with(Model::R3, &[File::new("/SSNAIL/MODEL.SSN", image)])
}

/// Starts with this image on the card and waits for the list.
fn listed(image: &[u8]) -> Option<Scenario> {
    let mut s = on_card(image).start()?;
    play(&mut s, &[Expect(LIST, SHORT), Expect("1 model", SHORT)]);
    Some(s)
}

fn set(image: &mut [u8], at: u32, value: u32) {
    let at = at as usize;
    image[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

/// After a failure the list is there again, and a sound model would load.
fn goes_on(s: &mut Scenario) {
    play(s, &[Expect(LIST, SHORT), Type("<HELP>"), Expect("Press a key", SHORT), Type(" "), Expect(LIST, SHORT)]);
}

#[test]
fn no_core_and_a_core_that_does_not_answer() {
    let Some(image) = stories() else { return };
    for (defect, sentence, on_return) in [
        (Defect::Absent, "No SSNAIL core answers at $FFD7500", "needs the SSNAIL core"),
        (Defect::Version(9), "This core is of another version than this program", "needs the SSNAIL core"),
        (Defect::NeverReady, "The core's memory does not answer", "switch the MEGA65 off and on"),
        (Defect::LoadError, "The core's memory does not answer", "switch the MEGA65 off and on"),
    ] {
        let mut setup = on_card(&image);
        setup.defect = defect;
        let Some(mut s) = setup.start() else { return };
        play(&mut s, &[Expect(LIST, LONG), Expect(sentence, SHORT), Type("<RETURN>"), Expect(on_return, LONG)]);
        goes_on(&mut s);
    }
}

#[test]
fn a_core_that_fails_while_loading() {
    let Some(image) = stories() else { return };
    for (defect, sentence) in [
        (Defect::NeverReady, "Loading failed: the core is not READY"),
        (Defect::LoadError, "Loading failed: the core reports ERROR after"),
    ] {
        let Some(mut s) = listed(&image) else { return };
        s.machine.board.expansion.accelerator.defect = defect;
        play(&mut s, &[Type("<RETURN>"), Expect(sentence, LONG)]);
        s.machine.board.expansion.accelerator.defect = Defect::None;
        play(&mut s, &[Type("<RETURN>"), Expect("/help lists", LONG)]);
    }
}

#[test]
fn memory_that_does_not_keep_what_was_loaded() {
    let Some(image) = stories() else { return };
    let Some(mut s) = listed(&image) else { return };
    play(&mut s, &[Type("<RETURN>"), Expect("KB/s", SHORT)]);
    s.frames(3);
    // The second sector of the file is one of those that are compared.
    let address = PAYLOAD + 512 - HEADER_LEN;
    s.machine.board.expansion.slice_mut(address, 1).unwrap()[0] ^= 1;
    play(&mut s, &[Expect(&format!("Loading failed: memory differs from the card at ${address:08X}"), LONG)]);
    goes_on(&mut s);
    play(&mut s, &[Type("<RETURN>"), Expect("/help lists", LONG)]);
}

#[test]
fn a_core_that_fails_in_a_job() {
    let Some(image) = stories() else { return };
    for (defect, sentence) in [
        (Defect::JobError(1), "[the core stopped: "),
        (Defect::JobError(3), "instructions (error 3);"),
        (Defect::JobError(77), "unknown reason (error 77)"),
    ] {
        let Some(mut s) = listed(&image) else { return };
        play(&mut s, &[Type("<RETURN>"), Expect("/help lists", LONG)]);
        s.machine.board.expansion.accelerator.defect = defect;
        play(&mut s, &[Type("Hello<RETURN>"), Expect(sentence, LONG)]);
        play(&mut s, &[Type("/stats<RETURN>"), Expect("tokens of context]", SHORT)]);
    }
}

#[test]
fn a_core_that_never_ends_is_given_up_on_run_stop() {
    let Some(image) = stories() else { return };
    let Some(mut s) = listed(&image) else { return };
    play(&mut s, &[Type("<RETURN>"), Expect("/help lists", LONG)]);
    s.machine.board.expansion.accelerator.defect = Defect::Hangs;
    play(&mut s, &[Type("Hello<RETURN>")]);
    s.frames(50);
    play(&mut s, &[Type("<RUN/STOP><RUN/STOP><RUN/STOP>")]);
    play(&mut s, &[Expect("[the core is busy", SHORT), Type("/model<RETURN>"), Expect(LIST, LONG)]);
}

#[test]
fn images_that_cannot_be_used() {
    let Some(image) = stories() else { return };
    let changed = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut copy = image.clone();
        change(&mut copy);
        copy
    };
    let header = Header::parse(image[..256].try_into().unwrap()).unwrap();
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (changed(&|i| i[0] = b'X'), "not a SSNAIL image"),
        (changed(&|i| i[4] = 9), "an image of another version; convert the model again"),
        (changed(&|i| set(i, offset::LOAD_BASE, 0x8000_1000)), "made for an older memory map"),
        (changed(&|i| set(i, offset::CONTEXT, 0)), "damaged: header field context at $"),
        (changed(&|i| i.truncate(5000)), "its length is not what its header says"),
        (changed(&|i| i.extend([0; 10])), "its length is not what its header says"),
        (changed(&|i| i.truncate(100)), "its length is not what its header says"),
        (changed(&|i| set(i, offset::MEMORY_NEEDED, 9 * MEGABYTE)), "too big: needs 9.0 MB, here are 8.0 MB"),
    ];
    for (file, sentence) in cases {
        let Some(mut s) = listed(&file) else { return };
        play(&mut s, &[Expect(sentence, SHORT), Type("<RETURN>"), Expect(LIST, SHORT), Expect(sentence, SHORT)]);
        goes_on(&mut s);
    }
    // The same memory is there on a board with SDRAM.
    let large = changed(&|i| set(i, offset::MEMORY_NEEDED, 9 * MEGABYTE));
    let Some(mut s) = Setup::with(Model::R6, &[File::new("/BIG.SSN", &large)]).start() else { return };
    play(&mut s, &[Expect(LIST, SHORT), Type("<RETURN>"), Expect("/help lists", LONG)]);
    // Damaged tables: a kind of tokenizer that does not exist.
    let at = (header.tokenizer - PAYLOAD) as usize + 256;
    let Some(mut s) = listed(&changed(&|i| i[at] = 9)) else { return };
    play(&mut s, &[Type("<RETURN>"), Expect("damaged image: tokenizer kind at $", LONG)]);
    goes_on(&mut s);
}

#[test]
fn cards_that_fail() {
    let Some(image) = stories() else { return };
    for (effect, sentence) in [
        (Effect::Error, "Loading failed: the card could not be read (error $20)"),
        (Effect::Silence, "Loading failed: the card did not answer (error $07)"),
        (Effect::Stale, "Loading failed: "),
        (Effect::Remove, "Loading failed: the card did not answer"),
    ] {
        let mut device = card(&[File::new("/SSNAIL/MODEL.SSN", &image)]);
        let wanted = &image[300 * 512..301 * 512];
        let sector = (0..).find(|&lba| read_sector(&mut device, lba).unwrap() == wanted).unwrap();
        let Some(mut s) = Setup::new(Model::R3, device).start() else { return };
        play(&mut s, &[Expect(LIST, SHORT), Expect("1 model", SHORT)]);
        let fault = Fault { trigger: Trigger::Sector(sector), effect, times: u32::MAX };
        s.machine.board.storage.card.as_mut().unwrap().inject(fault);
        play(&mut s, &[Type("<RETURN>")]);
        if effect == Effect::Stale {
            // A sector with the content of the one before: found only where a sample falls; never a hang.
            s.frames(300);
            continue;
        }
        play(&mut s, &[Expect(sentence, LONG)]);
        goes_on(&mut s);
        s.machine.board.storage.card.as_mut().unwrap().heal();
        play(&mut s, &[Type("<RETURN>"), Expect("/help lists", LONG)]);
    }
    // No card at all.
    let mut setup = on_card(&image);
    setup.card.as_mut().unwrap().removed = true;
    let Some(mut s) = setup.start() else { return };
    play(&mut s, &[Expect(LIST, LONG), Expect("Card: ", SHORT), Expect("No models on the card", SHORT)]);
    s.machine.board.storage.card.as_mut().unwrap().heal();
    play(&mut s, &[Type("<CLR>"), Expect("1 model", LONG)]);
}

#[test]
fn loading_can_be_cancelled() {
    let Some(image) = stories() else { return };
    let Some(mut s) = listed(&image) else { return };
    s.machine.board.storage.card.as_mut().unwrap().sector_cycles *= 20;
    play(&mut s, &[Type("<RETURN>"), Expect("RUN/STOP cancels", SHORT), Expect("KB/s", SHORT)]);
    play(&mut s, &[Type("<RUN/STOP>"), Expect("Loading was cancelled", LONG), Never("still in memory")]);
    goes_on(&mut s);
}

#[test]
fn every_dos_and_every_kind_of_name() {
    let Some(image) = stories() else { return };
    for end_of_file in [EndOfFile::CarryClear, EndOfFile::CarrySet] {
        for long_names in [LongNames::Off, LongNames::Capitals, LongNames::AsStored] {
            for path in ["/MODEL.SSN", "/SSNAIL/story.8mb.ssnail", "/ssnail/lower.ssn", "/SSNAIL/A LONG NAME.SSNAIL"] {
                let file = File { path, data: &image, layout: Layout::Scattered(1) };
                let mut setup = Setup::with(Model::R6, &[file]);
                setup.dos = Options { end_of_file, long_names, ..Options::default() };
                let Some(mut s) = setup.start() else { return };
                println!("{path} {end_of_file:?} {long_names:?}");
                play(&mut s, &[Expect("1 model", SHORT), Expect(LIST, SHORT), Type("<RETURN>")]);
                play(&mut s, &[Expect("/help lists", LONG)]);
            }
        }
    }
}
