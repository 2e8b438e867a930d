//! What a person sees and types: the list, settings, the line editor, stopping, looking back, encoders, leaving.
#![allow(clippy::unwrap_used, clippy::panic)]

use ssnail_disk::fat::Layout;
use ssnail_m65::io::keyboard::Key;
use ssnail_m65::{Model, Scenario, Stop};
use ssnail_shared::header::offset;
use ssnail_shared::map::{HEADER_LEN, MEMORY_BASE, PAYLOAD};
use ssnail_shared::sampler::Settings;
use ssnail_xemu_tests::card::File;
use ssnail_xemu_tests::model;
use ssnail_xemu_tests::reference::{Choosing, answer};
use ssnail_xemu_tests::scenario::Step::{Expect, Never, Type};
use ssnail_xemu_tests::scenario::{LIST, Setup, play, shown, tokens};

const SHORT: u64 = 400;
const LONG: u64 = 1500;

fn stories() -> Option<Vec<u8>> {
    model::image("stories260K-Q8_0", "keep")
}

fn talking(board: Model, image: &[u8]) -> Option<Scenario> {
    let mut s = Setup::with(board, &[File::new("/SSNAIL/MODEL.SSN", image)]).start()?;
    play(&mut s, &[Expect("1 model", SHORT), Type("<RETURN>"), Expect("/help lists", LONG)]);
    Some(s)
}

/// The row that shows this text.
fn row_of(s: &Scenario, text: &str) -> usize {
    let screen = s.screen();
    (0..screen.rows).find(|&row| screen.row(row).contains(text)).unwrap_or_else(|| panic!("no `{text}`:\n{}", shown(s)))
}

fn is_marked(s: &Scenario, text: &str) -> bool {
    let (screen, row) = (s.screen(), row_of(s, text));
    screen.cells[row * screen.columns].reverse
}

#[test]
fn a_hundred_models_in_pages() {
    let Some(image) = stories() else { return };
    let small = &image[..1024];
    let names: Vec<String> =
        (1..=110).map(|i| format!("/{}M{i:03}.SSN", if i % 2 == 0 { "SSNAIL/" } else { "" })).collect();
    let mut files: Vec<File<'_>> = names.iter().map(|name| File::new(name, small)).collect();
    files.push(File::new("/README.TXT", b"no model"));
    files.push(File::new("/SSNAIL/ZEBRA.SSN", &image));
    let Some(mut s) = Setup::with(Model::R3, &files).start() else { return };
    play(&mut s, &[Expect("111 models - page 1 of 6", 2000), Never("README"), Expect("1 M001.SSN", SHORT)]);
    assert!(is_marked(&s, "1 M001.SSN"));
    for page in 0..6 {
        play(
            &mut s,
            &[Expect(["page 1 of", "page 2 of", "page 3 of", "page 4 of", "page 5 of", "page 6 of"][page], SHORT)],
        );
        s.frames(20);
        for name in names.iter().skip(19 * page).take(19) {
            row_of(&s, name.rsplit('/').next().unwrap());
        }
        play(&mut s, &[Type("<F7>")]);
    }
    row_of(&s, "111 ZEBRA.SSN");
    play(&mut s, &[Type("<HOME>"), Expect("page 1 of 6", SHORT)]);
    play(&mut s, &[Type("<DOWN><DOWN><UP>"), Expect(LIST, SHORT)]);
    s.frames(20);
    assert!(is_marked(&s, "2 M002.SSN") && !is_marked(&s, "1 M001.SSN"));
    play(&mut s, &[Type("57"), Expect("page 3 of 6", SHORT)]);
    s.frames(20);
    assert!(is_marked(&s, "57 M057.SSN"));
    play(&mut s, &[Type("<F5>"), Expect("page 2 of 6", SHORT), Type("z"), Expect("111 ZEBRA.SSN", SHORT)]);
    s.frames(20);
    assert!(is_marked(&s, "111 ZEBRA.SSN"));
    play(&mut s, &[Type("<RETURN>"), Expect("/help lists", LONG)]);
}

/// Behind the last place of the last cluster the DOS has another code for the end.
#[test]
fn a_directory_that_fills_its_cluster() {
    let Some(image) = stories() else { return };
    // With the folder's own two entries 128 of 32 bytes: eight sectors.
    let others: Vec<String> = (0..125).map(|i| format!("/SSNAIL/N{i:03}.TXT")).collect();
    let mut files: Vec<File<'_>> = others.iter().map(|name| File::new(name, b"no model")).collect();
    files.push(File::new("/SSNAIL/LAST.SSN", &image));
    let Some(mut s) = Setup::with(Model::R3, &files).start() else { return };
    play(&mut s, &[Expect("1 model", LONG), Expect(LIST, SHORT), Never("Card:"), Type("<RETURN>")]);
    play(&mut s, &[Expect("/help lists", LONG)]);
}

#[test]
fn settings_come_from_the_card() {
    let Some(image) = stories() else { return };
    let config = b"model = story.ssn\r\n# greedy\r\ntemp = 0\r\nn = 30\r\nwhat is this = 1\r\n";
    let files = [File::new("/SSNAIL/STORY.SSN", &image[..]), File::new("/SSNAIL/CONFIG.TXT", &config[..])];
    let Some(mut s) = Setup::with(Model::R3, &files).start() else { return };
    play(&mut s, &[Expect("[greedy, at most 30 tokens]", LONG), Type("/model<RETURN>"), Expect(LIST, LONG)]);
    let files = [File::new("/SSNAIL/CONFIG.TXT", &b"model = GONE"[..])];
    let Some(mut s) = Setup::with(Model::R3, &files).start() else { return };
    play(&mut s, &[Expect("CONFIG.TXT: there is no model GONE", LONG), Expect("No models on the card", SHORT)]);
}

#[test]
fn a_model_in_memory_is_offered_again() {
    let Some(image) = stories() else { return };
    for board in [Model::R3, Model::R6] {
        let Some(mut s) = talking(board, &image) else { return };
        play(&mut s, &[Type("Tom<RETURN>"), Expect("tokens/s", LONG), Type("/model<RETURN>"), Expect(LIST, LONG)]);
        play(&mut s, &[Expect("still in memory", SHORT), Type("="), Expect("/help lists", SHORT)]);
        let want = answer(&image, "Lily", 20, Choosing { settings: Settings::GREEDY, seed: 0 });
        play(&mut s, &[Type("/greedy<RETURN>/n 20<RETURN>Lily<RETURN>/stats<RETURN>"), Expect("of context]", LONG)]);
        let all: Vec<u32> = want.prompt.iter().chain(&want.ids).copied().collect();
        assert_eq!(tokens(&s, all.len()), all);
    }
}

#[test]
fn files_of_any_length_and_in_pieces_arrive_byte_for_byte() {
    let Some(image) = stories() else { return };
    let base = image.len().div_ceil(512) * 512;
    for extra in [256, 257, 511, 512, 513] {
        for (board, layout) in [(Model::R3, Layout::Contiguous), (Model::R6, Layout::Scattered(1))] {
            let mut file = image.clone();
            let filler = (image.len()..base + extra).map(|i| (i * 7 % 251) as u8);
            file.extend(filler);
            let payload = file.len() as u32 - HEADER_LEN;
            let at = offset::PAYLOAD_LEN as usize;
            file[at..at + 4].copy_from_slice(&payload.to_le_bytes());
            let path = "/SSNAIL/MODEL.SSN";
            let Some(mut s) = Setup::with(board, &[File { path, data: &file, layout }]).start() else { return };
            play(&mut s, &[Expect("1 model", SHORT), Type("<RETURN>"), Expect("/help lists", LONG)]);
            let read = |address, length| ssnail_m65::scenario::dump(&s.machine, address, length).unwrap();
            assert!(read(PAYLOAD, payload) == file[HEADER_LEN as usize..], "{extra} {board}");
            assert_eq!(read(MEMORY_BASE, 0x60), file[..0x60]);
            assert_eq!(s.machine.board.expansion.accelerator.device().lost(), 0);
        }
    }
}

#[test]
fn the_line_can_be_edited_and_recalled() {
    let Some(image) = stories() else { return };
    let Some(mut s) = talking(Model::R3, &image) else { return };
    play(&mut s, &[Type("/n 99x<DEL><LEFT><LEFT><LEFT> <HOME><RIGHT><RIGHT><RIGHT><DEL>"), Expect("> /n", SHORT)]);
    play(&mut s, &[Type("<CLR>/n 7<RETURN>"), Expect("at most 7 tokens", SHORT)]);
    play(&mut s, &[Type("/n 8<RETURN>"), Expect("at most 8 tokens", SHORT), Type("<UP><UP>"), Expect("> /n 7", SHORT)]);
    play(&mut s, &[Type("<DOWN>5<RETURN>"), Expect("at most 85 tokens", SHORT)]);
    for (line, said) in [
        ("/temp x", "[/temp takes a temperature"),
        ("/topk 65", "[/topk takes 1 to 64 on the MEGA65]"),
        ("/topk 0", "[/topk takes 1 to 64 on the MEGA65]"),
        ("/save talk", "nothing was saved]"),
        ("/eos", "[the end is shown]"),
        ("/what", "/penalty P    repetition penalty"),
        ("/reset", "[a fresh context]"),
    ] {
        play(&mut s, &[Type(line), Type("<RETURN>"), Expect(said, SHORT)]);
    }
}

#[test]
fn no_key_is_lost_at_paste_speed() {
    let Some(image) = stories() else { return };
    let Some(mut s) = talking(Model::R3, &image) else { return };
    let text: String = (0..200).map(|i| char::from(b'a' + (i * 7 % 26) as u8)).collect();
    for byte in text.bytes() {
        // Two keys a frame: faster than any keyboard and than most pasting.
        s.machine.board.keyboard.press(Key { ascii: byte, petscii: byte, modifiers: 0 });
        s.machine.run_until(s.machine.board.cycles + 405_000);
    }
    s.frames(10);
    assert_eq!(s.machine.board.keyboard.lost, 0);
    let screen = s.screen();
    let typed: String = (47..50).map(|row| screen.row(row).trim_end().to_owned()).collect();
    assert_eq!(typed.trim_start_matches("> "), text);
}

#[test]
fn an_answer_is_stopped_and_goes_on() {
    let Some(image) = stories() else { return };
    let Some(mut s) = talking(Model::R3, &image) else { return };
    s.machine.board.expansion.accelerator.bandwidth = Some(10_000_000);
    play(&mut s, &[Type("/greedy<RETURN>Once upon a time<RETURN>"), Expect("there was", LONG)]);
    s.machine.board.keyboard.press(Key { ascii: 3, petscii: 3, modifiers: 0 });
    play(&mut s, &[Expect("[stopped]", SHORT)]);
    s.machine.board.expansion.accelerator.bandwidth = Some(130_000_000);
    // An empty line goes on where it stopped, and the whole is what would have come at once.
    play(
        &mut s,
        &[
            Type("/n 20<RETURN>"),
            Expect("at most 20", SHORT),
            Type("<RETURN>/stats<RETURN>"),
            Expect("of context]", LONG),
        ],
    );
    let want = answer(&image, "Once upon a time", 40, Choosing { settings: Settings::GREEDY, seed: 0 });
    let all: Vec<u32> = want.prompt.iter().chain(&want.ids).copied().collect();
    assert_eq!(tokens(&s, 25), all[..25]);
    play(&mut s, &[Type("/n 400<RETURN><RETURN>"), Expect("[context full: it holds 256 tokens; /reset", LONG)]);
    play(&mut s, &[Type("<RETURN>"), Expect("/reset starts afresh]", SHORT)]);
    // Look back and return to the end.
    play(&mut s, &[Type("/help<RETURN>/help<RETURN>/help<RETURN>/help<RETURN>"), Expect("F5 and F7 look back", SHORT)]);
    play(&mut s, &[Never("there was"), Type("<F5><F5><F5>"), Expect("there was", SHORT), Type("<F7><F7><F7>")]);
    play(&mut s, &[Expect("F5 and F7 look back", SHORT)]);
}

#[test]
fn lines_are_compared_by_an_encoder() {
    let Some(image) = model::image("paraphrase-MiniLM-L3-v2-v3400-Q4_0", "keep") else { return };
    for board in [Model::R3, Model::R6] {
        let mut s = Setup::with(board, &[File::new("/SSNAIL/MODEL.SSN", &image)]).start().unwrap();
        s.machine.board.expansion.accelerator.bandwidth = None;
        play(&mut s, &[Expect("1 model", SHORT), Type("<RETURN>"), Expect("similar earlier lines", 3000)]);
        play(&mut s, &[Type("the cat sat on the mat<RETURN>"), Expect("[stored", LONG)]);
        play(&mut s, &[Type("a dog ran in the park<RETURN>"), Expect("2 lines", LONG)]);
        play(&mut s, &[Type("the cat sat on the mat<RETURN>"), Expect("+1.000  the cat sat on the mat", LONG)]);
    }
}

#[test]
fn a_vocabulary_of_49152_tokens() {
    let Some(image) = model::tiny_with_vocabulary("vocab-smollm2", "q8_0") else { return };
    for board in [Model::R3, Model::R6] {
        let Some(mut s) = talking(board, &image) else { return };
        let prompt = "The 3 quick brown foxes don't jump, said Ann.";
        let want = answer(&image, prompt, 12, Choosing { settings: Settings::GREEDY, seed: 0 });
        let keys = format!("/greedy<RETURN>/n 12<RETURN>{prompt}<RETURN>/stats<RETURN>");
        play(&mut s, &[Type(&keys), Expect("of context]", LONG)]);
        let all: Vec<u32> = want.prompt.iter().chain(&want.ids).copied().collect();
        assert_eq!(tokens(&s, all.len()), all);
    }
}

#[test]
fn back_to_basic() {
    let Some(image) = stories() else { return };
    let mut s = Setup::with(Model::R3, &[File::new("/SSNAIL/MODEL.SSN", &image)]).start().unwrap();
    let kernal: Vec<u8> = s.machine.board.chip_ram()[0x0200..0x1600].to_vec();
    let colours = s.machine.board.colour_ram()[..2000].to_vec();
    play(&mut s, &[Expect("1 model", SHORT), Type("<RETURN>"), Expect("/help lists", LONG)]);
    play(&mut s, &[Type("Hello<RETURN>"), Expect("tokens/s", LONG), Type("/quit<RETURN>")]);
    assert_eq!(s.frames(400), Some(Stop::Returned));
    let vic = &s.machine.board.vic;
    assert_eq!((vic.columns(), vic.rows(), vic.screen_address()), (80, 25, 0x800), "the text mode is back");
    assert!(s.machine.board.chip_ram()[0x0200..0x1600] == kernal, "memory of the KERNAL changed");
    assert!(s.machine.board.colour_ram()[..2000] == colours);
}
