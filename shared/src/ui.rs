//! The text screen of the native program, apart from the hardware: the line editor, the pane that the conversation scrolls
//! through, and the list of models.

pub mod editor;
pub mod pane;

/// Character cells, as the program draws them. Rows and columns count from 0; characters are ASCII.
pub trait Surface {
    /// Shows one character in a style (the surface knows its colour).
    fn put(&mut self, row: u8, column: u8, character: u8, style: Style);

    /// Shows a text; what is beyond the right edge is cut.
    fn text(&mut self, row: u8, column: u8, text: &[u8], style: Style) {
        for (column, &b) in (column..COLUMNS).zip(text) {
            self.put(row, column, b, style);
        }
    }

    /// Blanks a row from a column on.
    fn clear(&mut self, row: u8, column: u8) {
        let mut column = column;
        while column < COLUMNS {
            self.put(row, column, b' ', Style::Text);
            column += 1;
        }
    }

    /// Moves rows `top + 1..=bottom` up by one and blanks `bottom`.
    fn scroll_up(&mut self, top: u8, bottom: u8);
}

/// Columns of the screen.
pub const COLUMNS: u8 = 80;

/// What a piece of text is; the surface chooses the colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Style {
    /// The answer.
    Text = 0,
    /// What was typed.
    Typed = 1,
    /// What the program says.
    Note = 2,
    /// What went wrong.
    Error = 3,
    /// Titles and the status line.
    Title = 4,
    /// The chosen row of a list, the cursor.
    Marked = 5,
}

impl Style {
    /// Reads the byte that a pane's line stores.
    #[must_use]
    pub const fn from_u8(byte: u8) -> Self {
        match byte {
            1 => Self::Typed,
            2 => Self::Note,
            3 => Self::Error,
            4 => Self::Title,
            5 => Self::Marked,
            _ => Self::Text,
        }
    }
}
