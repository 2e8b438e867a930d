//! Text as it is produced: characters split over tokens are held until they are whole.

use crate::out::{self, Stdout};
use ssnail_shared::fold::AsciiFolder;
use ssnail_shared::utf8::Utf8Stream;
use std::io::{self, IsTerminal, Write};

/// Prints pieces of tokens to standard output, each as soon as it can be shown.
#[derive(Debug)]
pub struct TextStream {
    out: Stdout,
    /// A model's pieces may be any bytes, also those that would command a terminal.
    terminal: bool,
    decoder: Decoder,
}

#[derive(Debug)]
enum Decoder {
    Utf8(Utf8Stream),
    Ascii(AsciiFolder),
}

impl TextStream {
    /// UTF-8, or what a MEGA65 shows of it.
    pub fn new(ascii: bool) -> Self {
        let decoder = if ascii { Decoder::Ascii(AsciiFolder::new()) } else { Decoder::Utf8(Utf8Stream::new()) };
        Self { out: out::stdout(), terminal: io::stdout().is_terminal(), decoder }
    }

    /// Prints what these bytes complete.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn push(&mut self, piece: &[u8]) -> io::Result<()> {
        let mut text = String::new();
        for &byte in piece {
            match &mut self.decoder {
                Decoder::Utf8(stream) => stream.push(byte, |c| text.push(c)),
                Decoder::Ascii(folder) => text.extend(folder.push(byte).as_bytes().iter().map(|&b| char::from(b))),
            }
        }
        self.show(&text)
    }

    fn show(&mut self, text: &str) -> io::Result<()> {
        let shown = if self.terminal { out::plain(text) } else { text.into() };
        self.out.write_all(shown.as_bytes())?;
        self.out.flush()
    }

    /// Ends the text: what was held and never completed is shown as U+FFFD (`?` in ASCII).
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn finish(&mut self) -> io::Result<()> {
        let mut text = String::new();
        match &mut self.decoder {
            Decoder::Utf8(stream) => stream.finish(|c| text.push(c)),
            Decoder::Ascii(folder) => {
                if folder.is_pending() {
                    text.push('?');
                }
                folder.reset();
            }
        }
        self.show(&text)
    }
}
