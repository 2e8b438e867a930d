//! What is on the screen: title, conversation, status line, and the line being typed.

#![allow(unsafe_code)]

use crate::hw::far::Far;
use crate::hw::vic::{Screen, ROWS};
use crate::out::Line;
use ssnail_shared::ui::editor::{Edit, Editor, Key};
use ssnail_shared::ui::pane::{Pane, LINE_STRIDE};
use ssnail_shared::ui::{Style, Surface};

/// Row of the status line.
pub const STATUS: u8 = ROWS - 4;
/// First of the three rows of the line being typed.
const INPUT: u8 = ROWS - 3;
/// Lines of the conversation that are kept.
const LINES: u16 = if cfg!(target_pointer_width = "16") { 340 } else { 512 };
static mut TEXT: [u8; LINES as usize * LINE_STRIDE as usize] = [0; LINES as usize * LINE_STRIDE as usize];
const PANE_TOP: u8 = 2;

/// The console.
pub struct Console {
    /// The conversation.
    pub pane: Pane,
    /// The line being typed.
    pub editor: Editor,
}

impl Console {
    /// An empty screen.
    pub fn new() -> Self {
        // Only the address is taken: the lines are reached through far memory.
        Self { pane: Pane::new(PANE_TOP, STATUS - 1, (&raw const TEXT) as u32, LINES), editor: Editor::new() }
    }

    /// Adds text to the conversation.
    #[inline(never)]
    pub fn write(&mut self, text: &[u8], style: Style) {
        // Chip RAM always answers.
        let _ = self.pane.write(&mut Far, &mut Screen, text, style);
    }

    /// Adds a line of its own.
    #[inline(never)]
    pub fn say(&mut self, text: &[u8], style: Style) {
        let _ = self.pane.fresh_line(&mut Far, &mut Screen);
        self.write(text, style);
        self.write(b"\n", style);
    }

    /// Adds a line that the program says, from a template ([`Line::put`]).
    #[inline(never)]
    pub fn tell(&mut self, style: Style, template: &[u8], numbers: &[u32], texts: &[&[u8]]) {
        let mut line = Line::new();
        line.put(template, numbers, texts);
        self.say(line.bytes(), style);
    }

    /// Adds a line of the program's without numbers.
    #[inline(never)]
    pub fn note(&mut self, text: &[u8]) {
        self.say(text, Style::Note);
    }

    /// Shows the status line.
    pub fn status(&mut self, text: &[u8]) {
        Screen.text(STATUS, 0, text, Style::Title);
        if text.len() < 80 {
            Screen.clear(STATUS, text.len() as u8);
        }
    }

    /// Draws everything again after another screen has been shown.
    pub fn redraw(&mut self, title: &[u8]) {
        Screen.clear(0, 0);
        Screen.text(0, 0, title, Style::Title);
        Screen.clear(1, 0);
        let _ = self.pane.draw(&Far, &mut Screen);
        self.editor.draw(&mut Screen, INPUT, 0);
    }

    /// Handles a key for the line and the view; `true` when the line is complete.
    pub fn key(&mut self, key: Key) -> bool {
        match key {
            Key::PageUp | Key::PageDown => {
                let _ = self.pane.page(&Far, &mut Screen, key == Key::PageUp);
                return false;
            }
            _ => {
                let _ = self.pane.to_end(&Far, &mut Screen);
            }
        }
        let before = self.editor.cursor();
        match self.editor.key(key) {
            Edit::Changed(from) => {
                let from = if before < from { before } else { from };
                self.editor.draw(&mut Screen, INPUT, from);
            }
            Edit::Moved => {
                let after = self.editor.cursor();
                self.editor.draw(&mut Screen, INPUT, if before < after { before } else { after });
            }
            Edit::Entered => return true,
            Edit::Ignored => {}
        }
        false
    }

    /// Begins a new line.
    pub fn fresh_input(&mut self) {
        self.editor.accept();
        self.editor.draw(&mut Screen, INPUT, 0);
    }
}
