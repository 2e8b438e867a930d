//! The list of models.

use super::{machine_line, App, Choice, Machine, TITLE};
use crate::card;
use crate::hw::core::Found;
use crate::hw::far::Far;
use crate::hw::part::PartError;
use crate::hw::vic::{self, Screen};
use crate::hw::{clock, keys};
use crate::out::Line;
use ssnail_shared::catalogue::{Entry, Verdict};
use ssnail_shared::header;
use ssnail_shared::ui::editor::Key;
use ssnail_shared::ui::{Style, Surface};
use ssnail_shared::work::VECTOR_MAX;

const FIRST_ROW: u8 = 6;
/// Models on a page, two rows each.
const PER_PAGE: u16 = 19;
const MESSAGE_ROW: u8 = 46;
const HINT_ROW: u8 = 48;
const HINT: &[u8] = b"cursor keys, number or first letter: choose   RETURN: load   HELP: keys";
/// Digits typed within this time belong to one number, in milliseconds.
const NUMBER_TIME: u32 = 1500;

/// Why a model cannot be used, or an empty text.
#[inline(never)]
fn reason(entry: &Entry, have: u32) -> Line {
    let mut line = Line::new();
    let mut numbers = [entry.memory_needed, have];
    let mut why: &[u8] = b"";
    let template: &[u8] = match entry.verdict {
        Verdict::Fits => b"",
        Verdict::TooBig => b"too big: needs %m, here are %m",
        Verdict::TooWide { elements } => {
            numbers = [elements, VECTOR_MAX];
            b"too wide: vectors of %n elements; without the core at most %n"
        }
        Verdict::WrongLength => b"damaged: its length is not what its header says; copy it again",
        Verdict::BadHeader { offset: 0 } => b"not a SSNAIL image",
        Verdict::BadHeader { offset: 4 } => b"an image of another version; convert the model again",
        Verdict::BadHeader { offset: 0x64 | 0x70 | 0x74 } => b"made for an older memory map; convert the model again",
        Verdict::BadHeader { offset } => {
            numbers[0] = u32::from(offset);
            why = header::field_name(u32::from(offset));
            b"damaged: header field %s at %h; convert or copy it again"
        }
        Verdict::Unreadable => b"the card could not be read there",
    };
    line.put(template, &numbers, &[why]);
    line
}

impl App {
    /// Reads the card into the list.
    #[inline(never)]
    pub(super) fn scan(&mut self) {
        vic::clear();
        Screen.text(0, 0, TITLE, Style::Title);
        Screen.text(1, 0, machine_line(&self.machine).bytes(), Style::Note);
        Screen.text(3, 0, b"Looking for models on the card ...", Style::Text);
        let computer = self.machine.computer();
        let result = card::scan(&mut self.list, self.machine.memory_len, computer, |n| {
            let mut line = Line::new();
            line.put(b"%n", &[u32::from(n)], &[]);
            Screen.text(3, 35, line.bytes(), Style::Text);
        });
        self.message = Line::new();
        if let Err(error) = result {
            self.message.put(b"Card: %s (error %h)", &[u32::from(error.0)], &[error.text()]);
        }
    }

    /// Lets a person choose.
    #[inline(never)]
    pub(super) fn choose(&mut self) -> Choice {
        let mut selected = 0u16;
        let resident = super::load::resident(&self.machine);
        let mut number = 0u32;
        let mut typed_at = 0u32;
        self.draw_list(selected, resident.is_some());
        loop {
            let Some(key) = keys::next() else { continue };
            let last = self.list.len().saturating_sub(1);
            let before = selected;
            match key {
                Key::Up => selected = selected.saturating_sub(1),
                Key::Down => selected = if selected < last { selected + 1 } else { last },
                Key::PageUp | Key::Left => selected = selected.saturating_sub(PER_PAGE),
                Key::PageDown | Key::Right => {
                    selected = if selected + PER_PAGE < last { selected + PER_PAGE } else { last };
                }
                Key::Home => selected = 0,
                Key::Return if !self.list.is_empty() => return Choice::Load(selected),
                Key::Character(b'=') if resident.is_some() => return Choice::Resident,
                Key::Character(b @ b'0'..=b'9') => {
                    let now = clock::ticks();
                    if now.wrapping_sub(typed_at) / clock::per_millisecond() > NUMBER_TIME {
                        number = 0;
                    }
                    typed_at = now;
                    number = (number * 10 + u32::from(b - b'0')) % 1000;
                    if number > 0 && number <= u32::from(self.list.len()) {
                        selected = (number - 1) as u16;
                    }
                }
                Key::Character(b) => {
                    if let Ok(Some(found)) = self.list.by_letter(&Far, selected, b) {
                        selected = found;
                    }
                }
                Key::Help => {
                    self.help();
                    self.draw_list(selected, resident.is_some());
                }
                Key::Stop => {
                    if self.confirm_leaving() {
                        return Choice::Leave;
                    }
                    self.draw_foot(resident.is_some());
                }
                Key::Clear => {
                    // What could not be read may be there now.
                    if let Some(Err(_)) = self.machine.part {
                        self.machine.choose(self.config.core);
                    }
                    self.scan();
                    selected = 0;
                    self.draw_list(selected, resident.is_some());
                }
                _ => {}
            }
            if selected != before {
                if selected / PER_PAGE == before / PER_PAGE {
                    self.draw_entry(before, false);
                    self.draw_entry(selected, true);
                } else {
                    self.draw_list(selected, resident.is_some());
                }
            }
        }
    }

    #[inline(never)]
    fn confirm_leaving(&self) -> bool {
        Screen.clear(HINT_ROW, 0);
        Screen.text(HINT_ROW, 0, b"Back to BASIC? RUN/STOP again: yes   any other key: no", Style::Marked);
        loop {
            match keys::next() {
                Some(Key::Stop) => return true,
                Some(_) => return false,
                None => {}
            }
        }
    }

    #[inline(never)]
    fn draw_foot(&self, resident: bool) {
        Screen.clear(MESSAGE_ROW, 0);
        Screen.text(MESSAGE_ROW, 0, self.message.bytes(), Style::Error);
        Screen.clear(HINT_ROW, 0);
        Screen.text(HINT_ROW, 0, HINT, Style::Title);
        if resident {
            Screen.clear(HINT_ROW + 1, 0);
            Screen.text(HINT_ROW + 1, 0, b"A model is still in memory.  =  uses it without loading.", Style::Title);
        }
    }

    fn draw_list(&self, selected: u16, resident: bool) {
        vic::clear();
        Screen.text(0, 0, TITLE, Style::Title);
        Screen.text(1, 0, machine_line(&self.machine).bytes(), Style::Note);
        if self.machine.computer().is_some() {
            Screen.text(2, 0, b"The 45GS02 itself computes: slowly, and the same text.", Style::Note);
        } else {
            Screen.text(2, 0, trouble(&self.machine), Style::Error);
        }
        let mut line = Line::new();
        let count = self.list.len();
        if count == 0 {
            line.text(b"No models on the card. Put .SSN files into /SSNAIL/ (ssnail card), then CLR.");
        } else {
            let pages = u32::from((count - 1) / PER_PAGE + 1);
            let template: &[u8] = match (count, pages) {
                (1, _) => b"%n model",
                (_, 1) => b"%n models",
                _ => b"%n models - page %n of %n",
            };
            line.put(template, &[u32::from(count), u32::from(selected / PER_PAGE + 1), pages], &[]);
            if self.list.dropped() > 0 {
                line.put(b", and %n more that do not fit the list", &[u32::from(self.list.dropped())], &[]);
            }
        }
        Screen.text(4, 0, line.bytes(), Style::Note);
        let first = selected - selected % PER_PAGE;
        let mut i = first;
        while i < first + PER_PAGE && i < count {
            self.draw_entry(i, i == selected);
            i += 1;
        }
        self.draw_foot(resident);
    }

    fn draw_entry(&self, index: u16, selected: bool) {
        let Ok(entry) = self.list.get(&Far, index) else { return };
        let row = FIRST_ROW + 2 * (index % PER_PAGE) as u8;
        let mut line = Line::new();
        let template: &[u8] = if entry.milliseconds > 0 {
            b"%s%n %s  %m  about %t s a token"
        } else if entry.memory_needed > 0 {
            b"%s%n %s  %m"
        } else {
            b"%s%n %s"
        };
        let pad: &[u8] = if index < 9 { b" " } else { b"" };
        let numbers = [u32::from(index) + 1, entry.memory_needed, entry.milliseconds.div_ceil(100)];
        line.put(template, &numbers, &[pad, entry.name()]);
        Screen.clear(row, 0);
        Screen.text(row, 0, line.bytes(), if selected { Style::Marked } else { Style::Text });
        Screen.clear(row + 1, 0);
        let why = reason(&entry, self.machine.memory_len);
        if why.bytes().is_empty() {
            let mut folder = ssnail_shared::fold::AsciiFolder::new();
            let mut column = 4;
            for b in entry.description() {
                for c in folder.push(*b).as_bytes() {
                    Screen.put(row + 1, column, *c, Style::Note);
                    column += 1;
                }
                if column >= 76 {
                    break;
                }
            }
        } else {
            Screen.text(row + 1, 4, why.bytes(), Style::Error);
        }
    }

    /// The keys, until one is pressed.
    #[inline(never)]
    pub(super) fn help(&self) {
        const KEYS: [&[u8]; 14] = [
            b"In the list",
            b"  cursor up, down   choose          F5, F7, left, right   page",
            b"  number, letter    choose          RETURN                load",
            b"  CLR               read the card again",
            b"  RUN/STOP          back to BASIC",
            b"",
            b"In the conversation",
            b"  RETURN            send the line; an empty line goes on",
            b"  cursor keys, INST/DEL, HOME, CLR   edit; up, down: earlier lines",
            b"  F5, F7            look back",
            b"  RUN/STOP, ESC     stop the answer; keeps what was said",
            b"  HELP or /help     the commands",
            b"",
            b"Press a key.",
        ];
        vic::clear();
        Screen.text(0, 0, TITLE, Style::Title);
        for (row, text) in (3..).zip(KEYS) {
            Screen.text(row, 0, text, Style::Text);
        }
        while keys::next().is_none() {}
    }
}

/// Why what was chosen does not compute; empty where it does.
#[inline(never)]
pub(super) fn trouble(machine: &Machine) -> &'static [u8] {
    match (machine.part, machine.core) {
        (Some(Ok(_)), _) => b"",
        (Some(Err(PartError::Wrong)), _) => b"SSNAIL.CPU on the card is damaged or of another version: copy it again.",
        (Some(Err(_)), Found::None) => b"No SSNAIL core answers at $FFD7500, and neither card nor disk has SSNAIL.CPU.",
        (_, Found::Other(_)) => b"This core is of another version than this program: update one of them.",
        (Some(Err(_)), _) => b"Neither card nor disk has SSNAIL.CPU, which computes without the core.",
        (None, Found::None) => b"No SSNAIL core answers at $FFD7500.",
        (None, Found::Core(_)) if machine.ram.is_none() => {
            b"The core's memory does not answer: switch the MEGA65 off and on."
        }
        (None, Found::Core(_)) => b"",
    }
}

/// The sentence for a model that is not to be loaded; `None` where it can be.
pub(super) fn refusal(entry: &Entry, have: u32) -> Option<Line> {
    let why = reason(entry, have);
    if why.bytes().is_empty() {
        None
    } else {
        Some(why)
    }
}
