//! A machine with the program in it, driven like a person would.

use crate::{card, part, prg};
use ssnail_disk::block::MemDevice;
use ssnail_m65::expansion::Defect;
use ssnail_m65::hdos::{Hdos, Options};
use ssnail_m65::io::card::Card;
use ssnail_m65::{Machine, Model, Outcome, Scenario};

/// On the screen when the list is there and takes keys.
pub const LIST: &str = "cursor keys, number or first letter";
/// On the screen when a model is loaded and can be talked to.
pub const CHAT: &str = "/help lists";
/// On the screen when the 45GS02 stands in for the core.
pub const COMPUTES: &str = "The 45GS02 itself computes";

/// One step.
pub enum Step<'a> {
    /// Type this, with escapes such as `<RETURN>`.
    Type(&'a str),
    /// Wait for this text, at most so many frames.
    Expect(&'a str, u64),
    /// The text must not be on the screen.
    Never(&'a str),
}

/// How a machine is set up.
pub struct Setup {
    /// The board.
    pub board: Model,
    /// The card, if there is one.
    pub card: Option<Card>,
    /// The card's DOS.
    pub dos: Options,
    /// What is wrong with the accelerator.
    pub defect: Defect,
}

impl Setup {
    /// A sound board with a card.
    pub fn new(board: Model, card: MemDevice) -> Self {
        Self { board, card: Some(Card::new(card)), dos: Options::default(), defect: Defect::None }
    }

    /// A sound board with a card of these files.
    pub fn with(board: Model, files: &[card::File<'_>]) -> Self {
        Self::new(board, card::card(files))
    }

    /// A sound board without a core, with a card of SSNAIL.CPU and these files; nothing where that part has not been built.
    pub fn without_core(board: Model, files: &[card::File<'_>]) -> Option<Self> {
        let part = part()?;
        let mut all = vec![card::File::new("/SSNAIL/SSNAIL.CPU", &part)];
        all.extend(files.iter().map(|f| card::File { path: f.path, data: f.data, layout: f.layout }));
        Some(Self { defect: Defect::Absent, ..Self::with(board, &all) })
    }

    /// The machine with the program started; nothing where the program has not been built.
    pub fn start(self) -> Option<Scenario> {
        Some(self.start_with(&prg()?))
    }

    /// The machine with any program started.
    pub fn start_with(self, program: &[u8]) -> Scenario {
        let mut machine = Machine::new(self.board);
        machine.load_prg(program).unwrap_or_else(|e| panic!("{e}"));
        if self.card.is_some() {
            machine.board.storage.card = self.card;
            machine.set_hypervisor(Box::new(Hdos::new(self.dos)));
        }
        machine.board.expansion.accelerator.defect = self.defect;
        Scenario::new(machine)
    }
}

/// Takes the steps; panics with the screen where one fails.
#[track_caller]
pub fn play(scenario: &mut Scenario, steps: &[Step<'_>]) {
    for step in steps {
        match *step {
            Step::Type(text) => scenario.type_text(text).unwrap_or_else(|e| panic!("{e}")),
            Step::Expect(text, frames) => {
                let outcome = scenario.until(text, frames);
                assert_eq!(outcome, Outcome::Found, "`{text}` did not come:\n{}", shown(scenario));
            }
            Step::Never(text) => {
                assert!(!scenario.screen().contains(text), "`{text}` came:\n{}", shown(scenario));
            }
        }
    }
}

/// The screen without its empty rows.
pub fn shown(scenario: &Scenario) -> String {
    let text = scenario.screen().text();
    text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Rows of the conversation.
const PANE: std::ops::RangeInclusive<usize> = 2..=45;

/// The conversation's words behind the last line that is `line`.
pub fn words_after(scenario: &Scenario, line: &str) -> Vec<String> {
    let screen = scenario.screen();
    let rows: Vec<String> = PANE.map(|row| screen.row(row).trim_end().to_owned()).collect();
    let from =
        rows.iter().rposition(|row| row == line).unwrap_or_else(|| panic!("no `{line}` in\n{}", shown(scenario)));
    rows[from + 1..].iter().flat_map(|row| row.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// Ids in the token buffer.
pub fn tokens(scenario: &Scenario, count: usize) -> Vec<u32> {
    let bytes = ssnail_m65::scenario::dump(&scenario.machine, ssnail_shared::map::TOKENS, 4 * count as u32)
        .expect("the token buffer");
    bytes.chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect()
}
