//! What a person does with the program, and what has to be seen: one list for every emulator.

use crate::scenario::{CHAT, COMPUTES, LIST};
use crate::{model, part};
use ssnail_disk::fat::Layout;
use ssnail_m65::io::card::Card;
use ssnail_shared::header::{Header, offset};
use ssnail_shared::map::{MEGABYTE, PAYLOAD};
use std::sync::OnceLock;

/// How the program is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// It is put into memory and started.
    Program,
    /// From `SSNAIL.D81` in the root of the card, which the card's DOS mounts.
    AttachedDisk,
    /// From a disk in the drive that does not lie on the card.
    DriveDisk,
    /// From `MEGA65.D81` in the root of the card, which is in the drive from the start.
    DefaultDisk,
}

/// What is in a file.
#[derive(Clone, Copy)]
pub enum Content {
    /// The storyteller that comes with the project, in Q8_0.
    Storyteller,
    /// A model of the test data, with a weight format of `ssnail convert`.
    Model(&'static str, &'static str),
    /// A small encoder.
    Encoder,
    /// The storyteller, damaged.
    Damaged(fn(&mut Vec<u8>)),
    /// The part of the program that computes without the core.
    Part,
    /// The same, damaged.
    DamagedPart(fn(&mut Vec<u8>)),
    /// Anything.
    Bytes(&'static [u8]),
}

impl Content {
    /// The bytes; nothing where the model is absent, which is said.
    pub fn bytes(self) -> Option<Vec<u8>> {
        match self {
            Self::Storyteller => Some(storyteller().to_vec()),
            Self::Model(name, wtype) => model::image(name, wtype),
            Self::Encoder => model::tiny_encoder(),
            Self::Damaged(damage) => {
                let mut image = storyteller().to_vec();
                damage(&mut image);
                Some(image)
            }
            Self::Part => part(),
            Self::DamagedPart(damage) => {
                let mut file = part()?;
                damage(&mut file);
                Some(file)
            }
            Self::Bytes(bytes) => Some(bytes.to_vec()),
        }
    }
}

fn storyteller() -> &'static [u8] {
    static IMAGE: OnceLock<Vec<u8>> = OnceLock::new();
    IMAGE.get_or_init(model::storyteller)
}

/// A file on the card.
pub struct File {
    /// Its path.
    pub path: &'static str,
    /// What is in it.
    pub content: Content,
    /// In one piece, or scattered.
    pub layout: Layout,
}

/// One step.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// Types this, with escapes such as `<RETURN>`, when the screen stands still.
    Type(&'static str),
    /// Presses this at once.
    Press(&'static str),
    /// Waits for this text; then all emulators show the same.
    Expect(&'static str),
    /// Waits for this text.
    Seen(&'static str),
    /// This text is not on the screen.
    Never(&'static str),
    /// Begins a conversation anew.
    Fresh,
    /// Types a prompt; the answer is word for word what the golden model says, with the model of a file of the card.
    Answer {
        /// The file's number.
        file: usize,
        /// What is typed.
        prompt: &'static str,
        /// Length of the answer.
        tokens: u32,
    },
    /// Types a prompt and stops the answer behind a text: what came is what the golden model says first.
    Stopped {
        /// The file's number.
        file: usize,
        /// What is typed.
        prompt: &'static str,
        /// Text behind which it is stopped.
        after: &'static str,
    },
}

/// A scenario.
pub struct Play {
    /// What it shows.
    pub name: &'static str,
    /// How the program is started.
    pub begin: Begin,
    /// Files on the card, in this order.
    pub files: Vec<File>,
    /// What is done to the card afterwards.
    pub damage: fn(&mut Card),
    /// What is done and seen.
    pub steps: Vec<Step>,
    /// It takes minutes where the emulator is not optimised.
    pub long: bool,
    /// What attic RAM holds at the end is compared.
    pub attic: bool,
    /// What is typed at last, to end in BASIC. Only here: no ROM that Xemu could be given has that BASIC.
    pub leave: Option<&'static str>,
}

/// The list is there and takes keys.
const HELP: &str = "Press a key";

fn file(path: &'static str, content: Content) -> File {
    File { path, content, layout: Layout::Contiguous }
}

fn play(name: &'static str, files: Vec<File>, steps: Vec<Step>) -> Play {
    Play { name, begin: Begin::Program, files, damage: |_| {}, steps, long: false, attic: true, leave: None }
}

fn set(image: &mut [u8], at: u32, value: u32) {
    let at = at as usize;
    image[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

/// Offset in the file of the tokenizer's tables.
fn tokenizer(image: &[u8]) -> usize {
    let header = Header::parse(image[..256].try_into().expect("256 bytes")).expect("a sound image");
    (header.tokenizer - PAYLOAD) as usize + 256
}

/// Damaged images that the list already recognises, with what it says.
const IN_THE_LIST: [(&str, Content, &str); 9] = [
    ("/SSNAIL/MAGIC.SSN", Content::Damaged(|i| i[0] = b'X'), "not a SSNAIL image"),
    ("/SSNAIL/VERSION.SSN", Content::Damaged(|i| i[4] = 9), "an image of another version; convert the model again"),
    (
        "/SSNAIL/OLDMAP.SSN",
        Content::Damaged(|i| set(i, offset::LOAD_BASE, 0x8000_1000)),
        "made for an older memory map",
    ),
    ("/SSNAIL/FIELD.SSN", Content::Damaged(|i| set(i, offset::CONTEXT, 0)), "damaged: header field context at $"),
    ("/SSNAIL/SHORT.SSN", Content::Damaged(|i| i.truncate(5000)), "its length is not what its header says"),
    ("/SSNAIL/LONG.SSN", Content::Damaged(|i| i.extend([0; 10])), "its length is not what its header says"),
    ("/SSNAIL/STUB.SSN", Content::Damaged(|i| i.truncate(100)), "its length is not what its header says"),
    ("/SSNAIL/EMPTY.SSN", Content::Bytes(b""), "its length is not what its header says"),
    (
        "/SSNAIL/BIG.SSN",
        Content::Damaged(|i| set(i, offset::MEMORY_NEEDED, 9 * MEGABYTE)),
        "too big: needs 9.0 MB, here are ",
    ),
];

/// All scenarios.
pub fn all() -> Vec<Play> {
    let mut list = starting();
    list.extend(faults());
    list.extend(talking());
    list.extend(loading_faults());
    list
}

/// The start, the list, and the ways to start.
pub fn starting() -> Vec<Play> {
    use Step::{Expect, Type};
    let story = || file("/SSNAIL/STORY.SSN", Content::Storyteller);
    let from_disk = |name, begin| Play { begin, ..play(name, vec![story()], vec![Expect(LIST), Expect("1 model")]) };
    vec![
        play(
            "the list: moving, choosing by number and letter, help, looking again",
            vec![
                story(),
                file("/SSNAIL/Another Story.ssnail", Content::Storyteller),
                File { layout: Layout::Scattered(2), ..file("/MODEL.SSN", Content::Storyteller) },
                file("/README.TXT", Content::Bytes(b"no model")),
            ],
            vec![
                Expect(LIST),
                Type("<DOWN>"),
                Expect("3 models"),
                Type("<DOWN><DOWN><UP>"),
                Expect("3 models"),
                Type("3"),
                Expect("3 models"),
                Type("<HOME>"),
                Expect("3 models"),
                Type("s"),
                Expect("3 models"),
                Type("<HELP>"),
                Expect(HELP),
                Type(" "),
                Expect(LIST),
                Type("<CLR>"),
                Expect(LIST),
            ],
        ),
        Play {
            leave: Some("<RUN/STOP><RUN/STOP>"),
            ..play(
                "leaving for BASIC",
                vec![story()],
                vec![Expect(LIST), Type("<RUN/STOP>"), Expect("Back to BASIC?"), Type("n"), Expect(LIST)],
            )
        },
        play("a card without models", vec![], vec![Expect("No models on the card"), Type("<RETURN>"), Expect(LIST)]),
        play(
            "settings with lines that are not understood, and a model that is not there",
            vec![story(), file("/SSNAIL/CONFIG.TXT", Content::Bytes(b"temp = 0\r\nnonsense\r\nmodel = GONE\r\n"))],
            vec![Expect("CONFIG.TXT: there is no model GONE"), Type("<CLR>"), Expect(LIST)],
        ),
        from_disk("a disk on the card, mounted by the card's DOS", Begin::AttachedDisk),
        from_disk("a disk beside the card", Begin::DriveDisk),
        from_disk("the card's own MEGA65.D81", Begin::DefaultDisk),
    ]
}

/// What can be wrong with a card.
pub fn faults() -> Vec<Play> {
    use Step::{Expect, Type};
    let story = |path| file(path, Content::Storyteller);
    let mut steps = vec![Expect(LIST), Expect("9 models")];
    for (n, (.., sentence)) in IN_THE_LIST.iter().enumerate() {
        steps.extend([Type(if n == 0 { "<RETURN>" } else { "<DOWN><RETURN>" }), Expect(sentence)]);
    }
    steps.extend([Type("<HELP>"), Expect(HELP), Type(" "), Expect(LIST)]);
    vec![
        play("images that cannot be used", IN_THE_LIST.map(|(path, content, _)| file(path, content)).into(), steps),
        Play {
            damage: |card| {
                card.claim_size("/SSNAIL/NOTHING.SSN", 0).expect("the file");
                card.claim_size("/SSNAIL/MORE.SSN", 10_000_000).expect("the file");
                card.claim_size("/SSNAIL/LESS.SSN", 300).expect("the file");
                card.lose_file("/SSNAIL/LOST.SSN").expect("the file");
            },
            ..play(
                "directory entries with wrong sizes, and a file that is lost",
                vec![
                    story("/SSNAIL/NOTHING.SSN"),
                    story("/SSNAIL/MORE.SSN"),
                    story("/SSNAIL/LESS.SSN"),
                    story("/SSNAIL/LOST.SSN"),
                ],
                vec![
                    Expect(LIST),
                    Expect("3 models"),
                    Type("<RETURN>"),
                    Expect("its length is not what"),
                    Type("<DOWN><RETURN>"),
                    Expect(LIST),
                    Type("<DOWN><RETURN>"),
                    Expect(LIST),
                ],
            )
        },
        play(
            "a file where the folder should be",
            vec![file("/SSNAIL", Content::Bytes(b"no folder")), story("/STORY.SSN")],
            vec![Expect(LIST), Expect("1 model")],
        ),
    ]
}

const GREEDY: &str = "/greedy<RETURN>/n 20<RETURN>";
const TWENTY: &str = "at most 20 tokens";

fn part_file() -> File {
    file("/SSNAIL/SSNAIL.CPU", Content::Part)
}

/// Loading and conversations, without the core.
pub fn talking() -> Vec<Play> {
    use Step::{Answer, Expect, Fresh, Seen, Stopped, Type};
    let conversation = |name, content, first, second| {
        let steps = vec![
            Expect(LIST),
            Seen(COMPUTES),
            Type("<RETURN>"),
            Expect(CHAT),
            Type(GREEDY),
            Expect(TWENTY),
            Answer { file: 0, prompt: first, tokens: 20 },
            Answer { file: 0, prompt: second, tokens: 20 },
            Type("/model<RETURN>"),
            Expect("still in memory"),
            Type("="),
            Expect(CHAT),
        ];
        Play { long: true, ..play(name, vec![file("/SSNAIL/MODEL.SSN", content), part_file()], steps) }
    };
    let storyteller = conversation(
        "the storyteller, two turns, and again from memory",
        Content::Storyteller,
        "Tell me about a lost button.",
        "Then Bruno",
    );
    let from_disk = Play {
        begin: Begin::AttachedDisk,
        ..play(
            "from a disk on the card, which has SSNAIL.CPU, to a talk",
            vec![file("/SSNAIL/MODEL.SSN", Content::Storyteller)],
            vec![
                Expect(LIST),
                Seen(COMPUTES),
                Type("<RETURN>"),
                Expect(CHAT),
                Type("/greedy<RETURN>/n 8<RETURN>"),
                Expect("at most 8 tokens"),
                Answer { file: 0, prompt: "Once upon a time", tokens: 8 },
            ],
        )
    };
    let stopped = Play {
        attic: false,
        ..play(
            "stopping an answer, and a fresh context",
            vec![file("/SSNAIL/MODEL.SSN", Content::Storyteller), part_file()],
            vec![
                Expect(LIST),
                Type("<RETURN>"),
                Expect(CHAT),
                Type("/greedy<RETURN>/n 60<RETURN>"),
                Expect("at most 60 tokens"),
                Stopped { file: 0, prompt: "Tell me about the rain.", after: "Once" },
                Fresh,
                Type("/n 6<RETURN>"),
                Seen("at most 6 tokens"),
                Type("/model<RETURN>"),
                Expect("still in memory"),
            ],
        )
    };
    vec![
        storyteller,
        conversation(
            "stories260K in Q8_0, two turns, and again from memory",
            Content::Model("stories260K-Q8_0", "keep"),
            "Lily saw a",
            "One day",
        ),
        from_disk,
        stopped,
        play(
            "an encoder compares lines",
            vec![file("/SSNAIL/MODEL.SSN", Content::Encoder), part_file()],
            vec![
                Expect(LIST),
                Type("<RETURN>"),
                Expect("similar earlier lines"),
                Type("the cat sat on the mat<RETURN>"),
                Expect("[stored"),
                Type("a dog ran in the park<RETURN>"),
                Expect("2 lines"),
                Type("the cat sat on the mat<RETURN>"),
                Expect("+1.000  the cat sat on the mat"),
            ],
        ),
    ]
}

/// What can be wrong with files that are loaded.
pub fn loading_faults() -> Vec<Play> {
    use Step::{Expect, Type};
    let list = || vec![Expect(LIST), Expect("No SSNAIL core answers at $FFD7500")];
    let without = |name, damage| {
        let files = vec![file("/SSNAIL/MODEL.SSN", Content::Storyteller), file("/SSNAIL/SSNAIL.CPU", damage)];
        let steps = vec![Expect(LIST), Expect("SSNAIL.CPU on the card is damaged"), Type("<RETURN>"), Expect(LIST)];
        play(name, files, steps)
    };
    let mut absent = play("no SSNAIL.CPU", vec![file("/SSNAIL/MODEL.SSN", Content::Storyteller)], list());
    absent.steps.extend([Type("<RETURN>"), Expect(LIST)]);
    let damaged = Play {
        damage: |card| {
            card.cut_chain("/SSNAIL/CUT.SSN", 20).expect("the file");
        },
        ..play(
            "a file whose chain of clusters ends too early, and damaged tables",
            vec![
                file("/SSNAIL/CUT.SSN", Content::Storyteller),
                file(
                    "/SSNAIL/TABLES.SSN",
                    Content::Damaged(|i| {
                        let at = tokenizer(i);
                        i[at] = 9;
                    }),
                ),
                file("/SSNAIL/SOUND.SSN", Content::Storyteller),
                part_file(),
            ],
            vec![
                Expect(LIST),
                Expect("3 models"),
                Type("<RETURN>"),
                Expect("Loading failed: the card's FAT is damaged, repair it on a PC (error $85)"),
                Type("<DOWN><DOWN><RETURN>"),
                Expect("damaged image: tokenizer kind at $"),
                Type("<DOWN><RETURN>"),
                Expect(CHAT),
            ],
        )
    };
    vec![
        absent,
        without("a SSNAIL.CPU of another program", Content::Bytes(b"not a part of this program")),
        without("a SSNAIL.CPU cut short", Content::DamagedPart(|f| f.truncate(20_000))),
        without("an empty SSNAIL.CPU", Content::Bytes(b"")),
        Play {
            damage: |card| card.cut_chain("/SSNAIL/SSNAIL.CPU", 9).expect("the file"),
            ..without("a SSNAIL.CPU whose chain of clusters ends too early", Content::DamagedPart(|_| {}))
        },
        damaged,
    ]
}
