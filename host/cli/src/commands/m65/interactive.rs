//! The screen in the terminal, keys passed through.

use crate::exit::Outcome;
use crate::out;
use anyhow::Result;
use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use crossterm::{cursor, execute};
use ssnail_m65::io::cia::CPU_HZ;
use ssnail_m65::io::keyboard::Key;
use ssnail_m65::keys;
use ssnail_m65::screen::Terminal;
use ssnail_m65::{Machine, Stop};
use std::collections::VecDeque;
use std::io::Write;
use std::time::{Duration, Instant};

/// Restores the terminal however the run ends.
struct Raw;

impl Raw {
    fn enter() -> Result<Self> {
        enable_raw_mode()?;
        execute!(out::stdout(), EnterAlternateScreen, cursor::Hide)?;
        Ok(Self)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // Nothing better can be done where this fails.
        let _ = execute!(out::stdout(), LeaveAlternateScreen, cursor::Show);
        let _ = disable_raw_mode();
    }
}

/// Longest time between two drawings when running as fast as possible.
const DRAW: Duration = Duration::from_millis(40);

/// Runs until the program stops or Ctrl-] is pressed.
///
/// # Errors
/// The terminal cannot be used.
pub fn run(mut machine: Machine, real_time: bool) -> Result<Outcome> {
    let stop = {
        let _raw = Raw::enter()?;
        play(&mut machine, real_time)?
    };
    if let Some(stop) = stop {
        out::note(stop);
    }
    super::say_doubts(&machine);
    Ok(Outcome::Done)
}

fn play(machine: &mut Machine, real_time: bool) -> Result<Option<Stop>> {
    let mut terminal = Terminal::default();
    let mut waiting: VecDeque<Key> = VecDeque::new();
    let mut next = Instant::now();
    let mut drawn: Option<Instant> = None;
    loop {
        let stop = machine.run_frame();
        if drawn.is_none_or(|at| at.elapsed() >= DRAW) || stop.is_some() {
            let text = terminal.update(&machine.board);
            let mut stdout = out::stdout();
            stdout.write_all(text.as_bytes())?;
            stdout.flush()?;
            drawn = Some(Instant::now());
        }
        if stop.is_some() {
            // Let the last screen be read: any key leaves.
            while !matches!(event::read()?, Event::Key(k) if k.kind == KeyEventKind::Press) {}
            return Ok(stop);
        }
        // Behind by more than this, real time starts again from now.
        let frame = machine.board.vic.frame_cycles() as f64 / CPU_HZ as f64;
        next = (next + Duration::from_secs_f64(frame)).max(Instant::now() - Duration::from_millis(200));
        loop {
            let wait = if real_time { next.saturating_duration_since(Instant::now()) } else { Duration::ZERO };
            if !event::poll(wait)? {
                break;
            }
            match event::read()? {
                Event::Key(key) if leaves(&key) => return Ok(None),
                Event::Key(key) if key.kind != KeyEventKind::Release => waiting.extend(translate(&key)),
                Event::Resize(..) => terminal = Terminal::default(),
                _ => {}
            }
        }
        while machine.board.keyboard.room() > 0
            && let Some(key) = waiting.pop_front()
        {
            machine.board.keyboard.press(key);
        }
    }
}

fn leaves(key: &KeyEvent) -> bool {
    // Terminals send Ctrl-] as Ctrl-5.
    key.modifiers.contains(KeyModifiers::CONTROL) && matches!(key.code, KeyCode::Char(']' | '5'))
}

/// The MEGA65 key of a terminal key. Ctrl-C is RUN/STOP, which has the same code.
fn translate(key: &KeyEvent) -> Option<Key> {
    let shift = key.modifiers.contains(KeyModifiers::SHIFT);
    let name = match key.code {
        KeyCode::Char(c) if key.modifiers.contains(KeyModifiers::CONTROL) => format!("CTRL-{c}"),
        KeyCode::Char(c) => return keys::character(c),
        KeyCode::Enter if shift => "SHIFT-RETURN".to_owned(),
        KeyCode::Enter => "RETURN".to_owned(),
        KeyCode::Backspace | KeyCode::Delete => "DEL".to_owned(),
        KeyCode::Insert => "INST".to_owned(),
        KeyCode::Home if shift => "CLR".to_owned(),
        KeyCode::Home => "HOME".to_owned(),
        KeyCode::End => "HELP".to_owned(),
        KeyCode::BackTab => "SHIFT-TAB".to_owned(),
        KeyCode::Up => "UP".to_owned(),
        KeyCode::Down => "DOWN".to_owned(),
        KeyCode::Left => "LEFT".to_owned(),
        KeyCode::Right => "RIGHT".to_owned(),
        KeyCode::PageUp => "F5".to_owned(),
        KeyCode::PageDown => "F7".to_owned(),
        KeyCode::Esc => "ESC".to_owned(),
        KeyCode::Tab => "TAB".to_owned(),
        KeyCode::F(n) => format!("F{n}"),
        _ => return None,
    };
    keys::parse(&format!("<{name}>")).ok()?.into_iter().next()
}
