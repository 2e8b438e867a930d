//! A program for the MEGA65 in plain Rust: a clock (RTC and CIA), a typed echo on a scrolling screen of 80x50, the
//! directory of the card, and a file sent through the accelerator's load port and read back from attic RAM.
//!
//! Type `DIR`, `LOAD NAME.EXT`, or anything; RUN/STOP leaves.

#![no_std]
#![no_main]

mod card;
mod clock;
mod hw;
mod keys;
mod screen;
mod stream;

use clock::Clock;
use screen::{Colour, Screen};

/// Characters that a line can have.
const LINE: usize = 76;

/// What has been typed so far.
struct Line {
    text: [u8; LINE],
    length: usize,
}

impl Line {
    fn push(&mut self, key: u8) -> bool {
        match self.text.get_mut(self.length) {
            Some(cell) => {
                *cell = key;
                self.length += 1;
                true
            }
            None => false,
        }
    }

    fn typed(&self) -> &[u8] {
        self.text.get(..self.length).unwrap_or(&[])
    }
}

/// Where the start-up code goes on; returning leaves the program.
#[allow(unsafe_code)]
#[no_mangle]
extern "C" fn main() {
    let mut screen = Screen::open();
    let mut clock = Clock::start();
    keys::flush();
    greet(&mut screen);
    let mut line = Line { text: [0; LINE], length: 0 };
    prompt(&mut screen);
    loop {
        clock.show(&screen);
        match keys::next() {
            Some(keys::STOP) => break,
            Some(keys::RETURN) => {
                screen.cursor(false);
                screen.end_line();
                obey(&mut screen, line.typed());
                line.length = 0;
                prompt(&mut screen);
            }
            Some(keys::DELETE) if line.length > 0 => {
                line.length -= 1;
                screen.cursor(false);
                screen.back();
                screen.cursor(true);
            }
            Some(key @ 0x20..=0x7E) if line.push(key) => {
                screen.print(&[key], Colour::Typed);
                screen.cursor(true);
            }
            _ => {}
        }
    }
    screen.cursor(false);
    screen.end_line();
    screen.print(b"Goodbye.", Colour::Text);
}

fn greet(screen: &mut Screen) {
    screen.print(b"A MEGA65 program in Rust. Type DIR, LOAD NAME or anything; RUN/STOP ends.", Colour::Text);
    screen.end_line();
    let found: &[u8] = match stream::target() {
        stream::Target::Port => b"The accelerator is here: files go through its load port.",
        stream::Target::Attic => b"No accelerator: files go to attic RAM by DMA.",
    };
    screen.print(found, Colour::Text);
    screen.end_line();
    screen.end_line();
}

fn prompt(screen: &mut Screen) {
    screen.print(b"> ", Colour::Note);
    screen.cursor(true);
}

/// Letters alike in both cases.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.eq_ignore_ascii_case(y))
}

/// Does what a line says, or says it again.
fn obey(screen: &mut Screen, line: &[u8]) {
    let space = line.iter().position(|&b| b == b' ').unwrap_or(line.len());
    let (word, rest) = line.split_at(space);
    let name = rest.get(1..).unwrap_or(&[]);
    if same(word, b"dir") {
        card::directory(screen);
    } else if same(word, b"load") && !name.is_empty() {
        stream::load(screen, name);
    } else if !line.is_empty() {
        screen.print(line, Colour::Text);
        screen.end_line();
    }
}

/// A fault of this program: the border turns red.
#[cfg(not(test))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    hw::poke(hw::IO + 0x20, 2);
    loop {}
}
