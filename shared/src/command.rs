//! Lines that begin with a slash: the commands of chat, the same on the PC and on the MEGA65 (specification, section 14).

use core::fmt;

/// A command and its argument, read but not yet checked against the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Command<'a> {
    /// `/n N`: tokens an answer may have.
    N(u32),
    /// `/temp T`: temperature; 0 is greedy.
    Temp(f32),
    /// `/topk K`: candidates that stay in; 0 is all.
    TopK(u32),
    /// `/penalty P`: repetition penalty; 1 is off.
    Penalty(f32),
    /// `/greedy`: temperature 0, penalty 1.
    Greedy,
    /// `/numerics float|hardware` (PC): no argument toggles.
    Numerics(&'a [u8]),
    /// `/eos`: shows how likely the end is.
    Eos,
    /// `/seed S`: starts the random numbers afresh.
    Seed(u32),
    /// `/stats`.
    Stats,
    /// `/reset`: a fresh context.
    Reset,
    /// `/model [NAME]` (MEGA65): another model.
    Model(&'a [u8]),
    /// `/save [NAME]` (MEGA65): the conversation to the card.
    Save(&'a [u8]),
    /// `/core [on|off|auto]` (MEGA65): computes with the core or without.
    Core(&'a [u8]),
    /// `/help` and everything that is not a command.
    Help,
    /// `/quit`.
    Quit,
}

/// A command whose argument is not what it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandError {
    /// The command, with its slash.
    pub command: &'static str,
    /// What it takes.
    pub expected: &'static str,
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} takes {}", self.command, self.expected)
    }
}

impl core::error::Error for CommandError {}

/// One line of the help: the command, and what it does.
pub type HelpLine = (&'static str, &'static str);

/// Commands that both sides have.
pub const HELP: &[HelpLine] = &[
    ("/n N", "tokens in an answer"),
    ("/temp T", "temperature, 0 = greedy"),
    ("/topk K", "choose among the K likeliest"),
    ("/penalty P", "repetition penalty, 1 = off"),
    ("/greedy", "always the likeliest token"),
    ("/seed S", "random numbers from S on"),
    ("/eos", "show how likely the end is"),
    ("/stats", "what has been computed"),
    ("/reset", "forget the conversation"),
    ("/help", "this list"),
    ("/quit", "leave"),
];

/// Commands that only the PC has.
pub const HELP_HOST: &[HelpLine] = &[("/topk 0", "choose among all"), ("/numerics M", "float or hardware")];

/// Commands that only the MEGA65 has.
pub const HELP_NATIVE: &[HelpLine] = &[
    ("/model", "choose another model"),
    ("/save NAME", "not yet: the DOS of the card cannot write"),
    ("/core on|off", "compute with the core or without"),
];

/// What a command takes.
#[derive(Clone, Copy)]
enum Takes {
    Nothing(Command<'static>),
    Number(fn(u32) -> Command<'static>),
    Decimal(fn(f32) -> Command<'static>),
    Factor,
    Choice(&'static [&'static [u8]]),
    Text,
}

/// Name, what it takes, and that in words.
type Row = (&'static str, Takes, &'static str);

static COMMANDS: &[Row] = &[
    ("/n", Takes::Number(Command::N), "a number of tokens, such as /n 120"),
    ("/temp", Takes::Decimal(Command::Temp), "a temperature from 0 on, such as /temp 0.8"),
    ("/topk", Takes::Number(Command::TopK), "a number of candidates, such as /topk 40; 0 is all"),
    ("/penalty", Takes::Factor, "a factor above 0, such as /penalty 1.15"),
    ("/seed", Takes::Number(Command::Seed), "a number from 0 to 4294967295, such as /seed 7"),
    ("/greedy", Takes::Nothing(Command::Greedy), ""),
    ("/numerics", Takes::Choice(&[b"float", b"hardware"]), "float or hardware"),
    ("/hw", Takes::Nothing(Command::Numerics(b"")), ""),
    ("/eos", Takes::Nothing(Command::Eos), ""),
    ("/stats", Takes::Nothing(Command::Stats), ""),
    ("/reset", Takes::Nothing(Command::Reset), ""),
    ("/model", Takes::Text, ""),
    ("/save", Takes::Text, ""),
    ("/core", Takes::Choice(&[b"on", b"off", b"auto"]), "on, off or auto"),
    ("/quit", Takes::Nothing(Command::Quit), ""),
];

/// Reads a line; `None` where it is not a command but text.
#[must_use]
pub fn parse(line: &[u8]) -> Option<Result<Command<'_>, CommandError>> {
    let line = line.trim_ascii();
    if *line.first()? != b'/' {
        return None;
    }
    let (name, argument) = match line.iter().position(|&b| b == b' ') {
        Some(i) => (&line[..i], line[i..].trim_ascii()),
        None => (line, &[][..]),
    };
    let Some((command, takes, expected)) = COMMANDS.iter().find(|row| row.0.as_bytes() == name) else {
        return Some(Ok(Command::Help));
    };
    let read = match *takes {
        Takes::Nothing(command) => Some(command),
        Takes::Number(make) => parse_u32(argument).map(make),
        Takes::Decimal(make) => parse_decimal(argument).map(make),
        Takes::Factor => parse_decimal(argument).filter(|&p| p > 0.0).map(Command::Penalty),
        Takes::Choice(words) if argument.is_empty() || words.contains(&argument) => {
            Some(if *command == "/core" { Command::Core(argument) } else { Command::Numerics(argument) })
        }
        Takes::Choice(_) => None,
        Takes::Text => Some(if *command == "/model" { Command::Model(argument) } else { Command::Save(argument) }),
    };
    Some(read.ok_or(CommandError { command, expected }))
}

/// A whole number without sign.
#[must_use]
pub fn parse_u32(text: &[u8]) -> Option<u32> {
    if text.is_empty() || text.len() > 10 {
        return None;
    }
    let mut value = 0u32;
    for &b in text {
        if !b.is_ascii_digit() {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(u32::from(b - b'0'))?;
    }
    Some(value)
}

/// A number such as `0.8`, with at most seven digits, so that the F32 is the nearest one.
#[must_use]
pub fn parse_decimal(text: &[u8]) -> Option<f32> {
    let (mut mantissa, mut digits, mut places, mut point) = (0u32, 0, 0u8, false);
    for &b in text {
        match b {
            b'0'..=b'9' if digits < 7 => {
                mantissa = mantissa * 10 + u32::from(b - b'0');
                // Leading zeros cost nothing.
                if mantissa > 0 {
                    digits += 1;
                }
                if point {
                    places += 1;
                }
            }
            b'.' if !point => point = true,
            _ => return None,
        }
    }
    if places > 10 || text.is_empty() || text == b"." {
        return None;
    }
    let mut scale = 1u32;
    let mut left = places;
    while left > 0 && left <= 9 {
        scale *= 10;
        left -= 1;
    }
    if left > 0 {
        return None;
    }
    // Both are whole numbers, the first below 2^24: the quotient is rounded once, for scales up to 10^9 almost always right.
    Some(mantissa as f32 / scale as f32)
}

/// A number with at most three decimal places, for showing settings and cosines without float
/// formatting; above 16,000 the F32 itself is coarser than that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thousandths(pub f32);

impl Thousandths {
    /// Sign, whole part and thousandths, rounded to the nearest; large values stop at 4,000,000.
    #[must_use]
    pub fn parts(self) -> (bool, u32, u32) {
        let bits = self.0.to_bits();
        let magnitude = f32::from_bits(bits & 0x7FFF_FFFF);
        let scaled = if magnitude < 4_000_000.0 { magnitude * 1000.0 + 0.5 } else { 4_000_000_000.0 };
        let whole = floor(scaled);
        (bits >> 31 != 0 && whole > 0, whole / 1000, whole % 1000)
    }
}

/// Largest whole number not above a value from 0 to 2^32, without a float-to-integer cast.
fn floor(value: f32) -> u32 {
    let bits = value.to_bits();
    let exponent = bits >> 23;
    let mantissa = (bits & 0x007F_FFFF) | 0x0080_0000;
    match exponent {
        150..=158 => mantissa << (exponent - 150),
        127..=149 => mantissa >> (150 - exponent),
        _ => 0,
    }
}

impl fmt::Display for Thousandths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (negative, whole, part) = self.parts();
        if negative {
            f.write_str("-")?;
        }
        write!(f, "{whole}")?;
        if part == 0 {
            return Ok(());
        }
        if part % 100 == 0 {
            write!(f, ".{}", part / 100)
        } else if part % 10 == 0 {
            write!(f, ".{:02}", part / 10)
        } else {
            write!(f, ".{part:03}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::step;

    #[test]
    fn commands_are_read() {
        assert_eq!(parse(b"Once upon a time"), None);
        assert_eq!(parse(b" /temp 0.8 "), Some(Ok(Command::Temp(0.8))));
        assert_eq!(parse(b"/n 12"), Some(Ok(Command::N(12))));
        assert_eq!(parse(b"/topk   0"), Some(Ok(Command::TopK(0))));
        assert_eq!(parse(b"/penalty 1.15"), Some(Ok(Command::Penalty(1.15))));
        assert_eq!(parse(b"/seed 4294967295"), Some(Ok(Command::Seed(u32::MAX))));
        assert_eq!(parse(b"/hw"), Some(Ok(Command::Numerics(b""))));
        assert_eq!(parse(b"/save my talk"), Some(Ok(Command::Save(b"my talk"))));
        for other in ["/", "/what", "/help", "/Quit"] {
            assert_eq!(parse(other.as_bytes()), Some(Ok(Command::Help)), "{other}");
        }
    }

    /// Specification, section 20, item 20: arguments that are not numbers.
    #[test]
    fn bad_arguments_are_explained() {
        for (line, command) in [
            ("/n", "/n"),
            ("/n x", "/n"),
            ("/n -1", "/n"),
            ("/n 4294967296", "/n"),
            ("/temp", "/temp"),
            ("/temp -1", "/temp"),
            ("/temp nan", "/temp"),
            ("/temp 1.2.3", "/temp"),
            ("/topk 1.5", "/topk"),
            ("/penalty 0", "/penalty"),
            ("/seed 99999999999", "/seed"),
            ("/numerics exact", "/numerics"),
            ("/core maybe", "/core"),
        ] {
            let error = parse(line.as_bytes()).unwrap().unwrap_err();
            assert_eq!(error.command, command);
            assert!(error.to_string().starts_with(command), "{error}");
        }
    }

    #[test]
    fn decimals_are_the_nearest_f32() {
        for i in (0..100_000u32).step_by(step(100_000)) {
            for text in [format!("{}.{:03}", i / 1000, i % 1000), format!("{i}"), format!("0.{i:05}")] {
                assert_eq!(parse_decimal(text.as_bytes()), text.parse().ok(), "{text}");
            }
        }
        assert_eq!(parse_decimal(b".5"), Some(0.5));
        assert_eq!(parse_decimal(b"5."), Some(5.0));
        for bad in ["", ".", "-1", "1e3", "12345678", "0,8", "0.00000000001"] {
            assert_eq!(parse_decimal(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn settings_are_shown_as_typed() {
        for text in ["0", "0.8", "1.15", "1.3", "40", "0.123", "0.05", "-0.5", "9999"] {
            let value: f32 = text.parse().unwrap();
            assert_eq!(Thousandths(value).to_string(), text);
        }
        assert_eq!(Thousandths(-0.0001).to_string(), "0");
        assert_eq!(Thousandths(f32::INFINITY).to_string(), "4000000");
    }
}
