//! A pane of word-wrapped text with scrollback. Its lines lie in far memory, so that hundreds of them cost no code space.

use super::{COLUMNS, Style, Surface};
use crate::mem::{Fault, Memory};

/// Bytes from one stored line to the next: length, style, then the characters.
pub const LINE_STRIDE: u32 = 96;
const WIDTH: usize = COLUMNS as usize;
const TEXT_AT: u32 = 2;

/// The pane: rows `top..=bottom` of the screen, and `capacity` lines at `base` of some memory.
#[derive(Debug)]
pub struct Pane {
    top: u8,
    bottom: u8,
    base: u32,
    capacity: u16,
    /// Lines finished so far; the newest `capacity` of them are stored.
    finished: u32,
    line: [u8; WIDTH],
    len: u8,
    style: Style,
    /// Lines that the view is above the newest one.
    back: u16,
}

impl Pane {
    /// An empty pane; `base..base + capacity * LINE_STRIDE` is its own.
    #[must_use]
    pub const fn new(top: u8, bottom: u8, base: u32, capacity: u16) -> Self {
        Self { top, bottom, base, capacity, finished: 0, line: [b' '; WIDTH], len: 0, style: Style::Text, back: 0 }
    }

    /// Rows on the screen.
    #[must_use]
    pub const fn height(&self) -> u8 {
        self.bottom - self.top + 1
    }

    /// Whether older lines are being shown.
    #[must_use]
    pub const fn is_back(&self) -> bool {
        self.back > 0
    }

    /// Lines that can be shown, the unfinished one included.
    #[must_use]
    pub fn lines(&self) -> u32 {
        let stored = self.stored();
        stored + 1
    }

    fn stored(&self) -> u32 {
        let capacity = u32::from(self.capacity);
        if self.finished < capacity { self.finished } else { capacity }
    }

    fn address(&self, line: u32) -> u32 {
        self.base + (line % u32::from(self.capacity)) * LINE_STRIDE
    }

    /// Screen row of the unfinished line when the newest lines are shown.
    fn row(&self) -> u8 {
        let last = u32::from(self.bottom - self.top);
        self.top + if self.finished < last { self.finished as u8 } else { last as u8 }
    }

    /// Writes text in a style; a change of style in the middle of a line colours what follows.
    ///
    /// # Errors
    /// The memory of the lines cannot be reached.
    pub fn write<M: Memory, S: Surface>(
        &mut self,
        memory: &mut M,
        surface: &mut S,
        text: &[u8],
        style: Style,
    ) -> Result<(), Fault> {
        for &b in text {
            self.character(memory, surface, b, style)?;
        }
        Ok(())
    }

    /// Ends the unfinished line if it has any text.
    ///
    /// # Errors
    /// As [`Pane::write`].
    pub fn fresh_line<M: Memory, S: Surface>(&mut self, memory: &mut M, surface: &mut S) -> Result<(), Fault> {
        if self.len > 0 { self.finish(memory, surface) } else { Ok(()) }
    }

    fn character<M: Memory, S: Surface>(
        &mut self,
        memory: &mut M,
        surface: &mut S,
        b: u8,
        style: Style,
    ) -> Result<(), Fault> {
        if b == b'\n' {
            return self.finish(memory, surface);
        }
        let b = if b == b'\t' { b' ' } else { b };
        if usize::from(self.len) == WIDTH {
            if b == b' ' {
                return self.finish(memory, surface);
            }
            self.wrap(memory, surface)?;
        }
        self.style = style;
        let at = self.len;
        self.line[usize::from(at)] = b;
        self.len += 1;
        if self.back == 0 {
            surface.put(self.row(), at, b, style);
        }
        Ok(())
    }

    /// Moves the last word of a full line to a new one.
    fn wrap<M: Memory, S: Surface>(&mut self, memory: &mut M, surface: &mut S) -> Result<(), Fault> {
        let Some(space) = self.line.iter().rposition(|&b| b == b' ') else {
            return self.finish(memory, surface);
        };
        if space == 0 {
            return self.finish(memory, surface);
        }
        let mut word = [b' '; WIDTH];
        let word_len = WIDTH - space - 1;
        word[..word_len].copy_from_slice(&self.line[space + 1..]);
        self.len = space as u8;
        if self.back == 0 {
            surface.clear(self.row(), space as u8);
        }
        self.finish(memory, surface)?;
        self.line = word;
        self.len = word_len as u8;
        if self.back == 0 {
            surface.text(self.row(), 0, &word[..word_len], self.style);
        }
        Ok(())
    }

    fn finish<M: Memory, S: Surface>(&mut self, memory: &mut M, surface: &mut S) -> Result<(), Fault> {
        let address = self.address(self.finished);
        let len = usize::from(self.len);
        memory.write(address, &[self.len, self.style as u8])?;
        memory.write(address + TEXT_AT, &self.line[..len])?;
        if self.back == 0 && self.row() == self.bottom {
            surface.scroll_up(self.top, self.bottom);
        }
        self.finished = self.finished.wrapping_add(1);
        self.len = 0;
        if self.back > 0 {
            // What is being read stays where it is, unless it has left the memory.
            let limit = self.furthest();
            self.back = if self.back < limit { self.back + 1 } else { limit };
        }
        Ok(())
    }

    fn furthest(&self) -> u16 {
        let lines = self.lines();
        let height = u32::from(self.height());
        if lines > height { (lines - height) as u16 } else { 0 }
    }

    /// Shows lines further up (`pages` < 0) or down; down to the newest ends the look back.
    ///
    /// # Errors
    /// As [`Pane::write`].
    pub fn page<M: Memory, S: Surface>(&mut self, memory: &M, surface: &mut S, up: bool) -> Result<(), Fault> {
        let step = u16::from(self.height() - 1);
        let limit = self.furthest();
        self.back = if up { self.back.saturating_add(step).min(limit) } else { self.back.saturating_sub(step) };
        self.draw(memory, surface)
    }

    /// Goes to the newest line.
    ///
    /// # Errors
    /// As [`Pane::write`].
    pub fn to_end<M: Memory, S: Surface>(&mut self, memory: &M, surface: &mut S) -> Result<(), Fault> {
        if self.back > 0 {
            self.back = 0;
            self.draw(memory, surface)?;
        }
        Ok(())
    }

    /// Draws every row.
    ///
    /// # Errors
    /// As [`Pane::write`].
    pub fn draw<M: Memory, S: Surface>(&self, memory: &M, surface: &mut S) -> Result<(), Fault> {
        let height = u32::from(self.height());
        let newest = self.finished - u32::from(self.back);
        let first = (newest + 1).saturating_sub(height);
        let mut row = self.top;
        let mut n = first;
        while row <= self.bottom {
            if n < self.finished {
                let mut head = [0; 2];
                let mut text = [0; WIDTH];
                memory.read(self.address(n), &mut head)?;
                let len = usize::from(head[0]).min(WIDTH);
                memory.read(self.address(n) + TEXT_AT, &mut text[..len])?;
                surface.text(row, 0, &text[..len], Style::from_u8(head[1]));
                surface.clear(row, len as u8);
            } else if n == self.finished {
                surface.text(row, 0, &self.line[..usize::from(self.len)], self.style);
                surface.clear(row, self.len);
            } else {
                surface.clear(row, 0);
            }
            row += 1;
            n += 1;
        }
        Ok(())
    }

    /// Forgets every line and blanks the pane.
    pub fn reset<S: Surface>(&mut self, surface: &mut S) {
        self.finished = 0;
        self.len = 0;
        self.back = 0;
        let mut row = self.top;
        while row <= self.bottom {
            surface.clear(row, 0);
            row += 1;
        }
    }

    /// Stored lines from the oldest on, for saving: calls `visit` with the text of each.
    ///
    /// # Errors
    /// As [`Pane::write`].
    pub fn each_line<M: Memory>(&self, memory: &M, mut visit: impl FnMut(&[u8])) -> Result<(), Fault> {
        let mut n = self.finished - self.stored();
        while n < self.finished {
            let mut text = [0; WIDTH];
            let len = usize::from(memory.read_u8(self.address(n))?).min(WIDTH);
            memory.read(self.address(n) + TEXT_AT, &mut text[..len])?;
            visit(&text[..len]);
            n += 1;
        }
        visit(&self.line[..usize::from(self.len)]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::cases;
    use crate::mem::SliceMemory;
    use crate::rng::Rng;

    struct Cells(Vec<[u8; WIDTH]>);

    impl Surface for Cells {
        fn put(&mut self, row: u8, column: u8, character: u8, _: Style) {
            self.0[usize::from(row)][usize::from(column)] = character;
        }
        fn scroll_up(&mut self, top: u8, bottom: u8) {
            self.0.copy_within(usize::from(top) + 1..=usize::from(bottom), usize::from(top));
            self.0[usize::from(bottom)] = [b' '; WIDTH];
        }
    }

    fn rows(c: &Cells, top: usize, bottom: usize) -> Vec<String> {
        c.0[top..=bottom].iter().map(|r| String::from_utf8_lossy(r).trim_end().to_string()).collect()
    }

    /// Word wrap, written the plain way.
    fn wrapped(text: &str) -> Vec<String> {
        let mut out = Vec::new();
        for line in text.split('\n') {
            let mut rest = line.to_string();
            while rest.len() > WIDTH {
                if rest.as_bytes()[WIDTH] == b' ' {
                    out.push(rest[..WIDTH].to_string());
                    rest = rest[WIDTH + 1..].to_string();
                    continue;
                }
                match rest[..WIDTH].rfind(' ') {
                    Some(i) if i > 0 => {
                        out.push(rest[..i].to_string());
                        rest = rest[i + 1..].to_string();
                    }
                    _ => {
                        out.push(rest[..WIDTH].to_string());
                        rest = rest[WIDTH..].to_string();
                    }
                }
            }
            out.push(rest);
        }
        out
    }

    #[test]
    fn any_text_is_wrapped_scrolled_and_found_again() {
        let mut rng = Rng::new(4);
        for round in 0..cases(40) {
            let mut text = String::new();
            for _ in 0..rng.next_u32() % 900 {
                let len = if rng.next_u32() % 30 == 0 { 100 } else { rng.next_u32() % 9 };
                (0..len).for_each(|i| text.push(char::from(b'a' + (i % 26) as u8)));
                text.push(if rng.next_u32() % 15 == 0 { '\n' } else { ' ' });
            }
            let mut m = SliceMemory::new(0x50000, vec![0xAA; 64 * LINE_STRIDE as usize]);
            let mut c = Cells(vec![[b' '; WIDTH]; 50]);
            let mut p = Pane::new(3, 20, 0x50000, 64);
            p.write(&mut m, &mut c, text.as_bytes(), Style::Text).unwrap();
            let want: Vec<String> = wrapped(&text).iter().map(|l| l.trim_end().to_string()).collect();
            let tail = |end: usize| {
                let mut w: Vec<String> = want[end.saturating_sub(18)..end].to_vec();
                w.resize(18, String::new());
                w
            };
            assert_eq!(rows(&c, 3, 20), tail(want.len()), "round {round}");
            let before = rows(&c, 3, 20);
            p.page(&m, &mut c, true).unwrap();
            let up = want.len() - (want.len().min(65).saturating_sub(18)).min(17);
            assert_eq!(rows(&c, 3, 20), tail(up), "round {round}, one page up");
            p.write(&mut m, &mut c, b"", Style::Text).unwrap();
            p.to_end(&m, &mut c).unwrap();
            assert_eq!(rows(&c, 3, 20), before);
            assert!(rows(&c, 0, 2).iter().all(String::is_empty) && rows(&c, 21, 49).iter().all(String::is_empty));
            let mut saved = Vec::new();
            p.each_line(&m, |l| saved.push(String::from_utf8_lossy(l).trim_end().to_string())).unwrap();
            assert_eq!(saved, want[want.len().saturating_sub(65)..]);
        }
    }

    #[test]
    fn text_that_comes_while_looking_back_does_not_move_the_view() {
        let mut m = SliceMemory::new(0, vec![0; 64 * LINE_STRIDE as usize]);
        let mut c = Cells(vec![[b' '; WIDTH]; 10]);
        let mut p = Pane::new(0, 3, 0, 64);
        for i in 0..30 {
            p.write(&mut m, &mut c, format!("line {i}\n").as_bytes(), Style::Text).unwrap();
        }
        p.page(&m, &mut c, true).unwrap();
        let view = rows(&c, 0, 3);
        p.write(&mut m, &mut c, b"more\nand more\n", Style::Text).unwrap();
        p.draw(&m, &mut c).unwrap();
        assert_eq!(rows(&c, 0, 3), view);
        p.page(&m, &mut c, false).unwrap();
        p.page(&m, &mut c, false).unwrap();
        assert!(!p.is_back());
        assert_eq!(rows(&c, 0, 3), ["line 29", "more", "and more", ""]);
    }
}
