//! What a person sees: the list of models, loading, and the conversation.

mod chat;
mod embed;
mod load;
mod menu;

use crate::card;
use crate::console::Console;
use crate::hw::core::{Accelerator, Found};
use crate::hw::mailbox::RESERVE;
use crate::hw::part::{self, Part, PartError};
use crate::hw::{board, clock, core, keys, vic};
use crate::out::Line;
use ssnail_shared::catalogue::Catalogue;
use ssnail_shared::config::{Config, CoreChoice};
use ssnail_shared::header::Header;
use ssnail_shared::map::{MEGABYTE, MEMORY_BASE, REGION_BOUNDARY};
use ssnail_shared::registers::CAP_SDRAM;
use ssnail_shared::ui::Style;

/// First line of every screen.
pub const TITLE: &[u8] = b"SSNAIL - a small language model on your MEGA65";

/// The machine as it was found.
pub struct Machine {
    /// The core.
    pub core: Found,
    /// Bytes of memory from $8000000 that models can use.
    pub memory_len: u32,
    /// Which of the two memories the processor must read to see what models are loaded to.
    pub ram: Option<bool>,
    /// What computes instead of the core, or why nothing does; `None` where the core is to compute.
    pub part: Option<Result<Part, PartError>>,
}

impl Machine {
    /// Looks around.
    #[inline(never)]
    fn find() -> Self {
        Self { core: core::find(), memory_len: 8 * MEGABYTE, ram: None, part: None }
    }

    /// Decides what computes, and gets it ready.
    #[inline(never)]
    pub fn choose(&mut self, choice: CoreChoice) {
        let there = matches!(self.core, Found::Core(_));
        let use_core = choice == CoreChoice::On || (choice == CoreChoice::Auto && there);
        self.part = None;
        self.ram = None;
        if use_core {
            self.memory_len = match self.core {
                Found::Core(capabilities) if capabilities & CAP_SDRAM != 0 => 72 * MEGABYTE,
                _ => 8 * MEGABYTE,
            };
            if there {
                self.ram = load::probe();
            }
            return;
        }
        let (sdram, length) = part::memory();
        if length == 0 {
            return;
        }
        self.ram = Some(sdram);
        self.memory_len = length - RESERVE;
        let part = Part::fetch(MEMORY_BASE + self.memory_len);
        if let Ok(part) = &part {
            part.measure();
        }
        self.part = Some(part);
    }

    /// What computes instead of the core.
    pub fn computer(&self) -> Option<Part> {
        self.part.and_then(Result::ok)
    }

    /// The model's memory, as far as the processor sees it.
    pub fn accelerator(&self) -> Accelerator {
        let end = MEMORY_BASE + self.memory_len;
        Accelerator::new(if end > REGION_BOUNDARY { REGION_BOUNDARY } else { end }, self.computer())
    }
}

/// Everything that lives as long as the program.
pub struct App {
    pub machine: Machine,
    pub console: Console,
    pub list: Catalogue,
    pub config: Config,
    /// What to say on the list's screen: the last thing that went wrong.
    pub message: Line,
}

/// What the list's screen ended with.
enum Choice {
    /// Load this model of the list.
    Load(u16),
    /// Use the model that is in memory.
    Resident,
    /// Back to BASIC.
    Leave,
}

/// What the conversation ended with.
pub enum After {
    /// Another model.
    Menu,
    /// Back to BASIC.
    Leave,
}

/// The program.
pub fn run() {
    clock::start();
    keys::flush();
    vic::open();
    let mut app = App {
        machine: Machine::find(),
        console: Console::new(),
        list: card::catalogue(),
        config: Config::default(),
        message: Line::new(),
    };
    let mut wanted = app.first_look();
    loop {
        let choice = match wanted.take() {
            Some(index) => Choice::Load(index),
            None => app.choose(),
        };
        let header = match choice {
            Choice::Leave => return,
            Choice::Resident => load::resident(&app.machine),
            Choice::Load(index) => app.load(index),
        };
        let Some(header) = header else { continue };
        match app.talk(&header) {
            After::Menu => {}
            After::Leave => return,
        }
    }
}

impl App {
    /// Reads the settings and the card; gives the default model's place in the list.
    #[inline(never)]
    fn first_look(&mut self) -> Option<u16> {
        let (config, bad_line) = card::config();
        self.config = config;
        self.machine.choose(config.core);
        self.scan();
        if let Some(line) = bad_line {
            self.message.put(b"CONFIG.TXT: line %n was not understood", &[u32::from(line)], &[]);
        }
        let name = self.config.model;
        let name = &name[..usize::from(self.config.model_len)];
        if name.is_empty() {
            return None;
        }
        let found = self.list.by_name(&crate::hw::far::Far, name).ok().flatten();
        if found.is_none() {
            self.message = Line::new();
            self.message.text(b"CONFIG.TXT: there is no model ").text(name);
        }
        found
    }

    /// `/core`: changes what computes, where the model in memory leaves room for that, and says what does.
    #[inline(never)]
    pub fn choose_core(&mut self, word: &[u8], header: &Header) {
        let choice = match word {
            b"on" => CoreChoice::On,
            b"off" => CoreChoice::Off,
            _ => CoreChoice::Auto,
        };
        let memory = if self.machine.ram == Some(true) { 64 * MEGABYTE } else { 8 * MEGABYTE };
        if !word.is_empty() {
            if header.memory_needed > memory - RESERVE {
                self.console.note(b"[the model fills the memory that SSNAIL.CPU needs]");
            } else {
                self.machine.choose(choice);
                let why = menu::trouble(&self.machine);
                if why.is_empty() {
                    self.config.core = choice;
                } else {
                    self.console.say(why, Style::Note);
                    self.machine.choose(self.config.core);
                }
            }
        }
        let computer = self.machine.computer();
        let text: &[u8] = if computer.is_some() { b"[the 45GS02 computes]" } else { b"[the SSNAIL core computes]" };
        self.console.note(text);
    }

    #[inline(never)]
    fn talk(&mut self, header: &Header) -> After {
        if header.is_encoder() {
            embed::run(self, header)
        } else {
            chat::run(self, header)
        }
    }
}

/// The line that describes the machine.
#[inline(never)]
fn machine_line(machine: &Machine) -> Line {
    let mut line = Line::new();
    let emulated: &[u8] = if board::is_emulated() { b" (emulated)" } else { b"" };
    let (template, number): (&[u8], u32) = match machine.core {
        Found::None => (b"%s%s - no SSNAIL core", 0),
        Found::Other(version) => (b"%s%s - SSNAIL core version %n", u32::from(version)),
        Found::Core(capabilities) => (b"%s%s - SSNAIL core version 1, capabilities %h", u32::from(capabilities)),
    };
    line.put(template, &[number], &[board::name(), emulated]);
    line.put(b" - %n MB", &[machine.memory_len.div_ceil(MEGABYTE)], &[]);
    line
}
