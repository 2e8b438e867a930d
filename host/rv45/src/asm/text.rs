//! The text form of the assembler.
//!
//! ```text
//! ; comment                      PTR = $80            constant
//! start:  LDA #<table            .loop: INX           label, local label
//!         STA PTR                LDA [PTR],Z          base page, flat pointer
//!         LDQ PTR                ADCQ [PTR]           Q forms; only LDQ takes ,Z
//!         BNE .loop              JSR (vector,X)       branches reach as far as needed
//! table:  .byte 1, $FF, 'a', "text"     .word start+2     .dword $12345678     .fill 8, 0
//! .func name                     starts a routine that the linker keeps only when used
//! ```
//!
//! An operand that is a constant below $100 is a base-page offset where the instruction has that
//! mode; `abs:` in front forces an absolute address.

use super::expr::{Expr, ExprError, Value, parse_expr};
use super::opcode::{Mnemonic, Mode, encoding};
use super::{Inst, Item, Label, Operand, Symbols};
use std::collections::HashMap;

/// What is wrong with a line.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("line {line}: {problem}: `{text}`")]
pub struct TextError {
    /// Line number, from 1.
    pub line: usize,
    /// The line.
    pub text: String,
    /// What was expected.
    pub problem: String,
}

/// A routine: what the linker places or drops as a whole.
#[derive(Clone, Debug, Default)]
pub struct Routine {
    /// Its name; empty for lines before the first `.func`.
    pub name: String,
    /// Its items.
    pub items: Vec<Item>,
}

/// Parser state over one source.
pub struct Parser<'a> {
    symbols: &'a mut Symbols,
    constants: HashMap<String, i64>,
    scope: String,
    prefix: String,
}

impl<'a> Parser<'a> {
    /// A parser that names its labels in `symbols`.
    pub fn new(symbols: &'a mut Symbols) -> Self {
        Parser { symbols, constants: HashMap::new(), scope: String::new(), prefix: String::new() }
    }

    /// Sets a constant before parsing.
    pub fn define(&mut self, name: &str, value: i64) {
        self.constants.insert(name.to_string(), value);
    }

    /// The routines of `source`.
    ///
    /// # Errors
    /// [`TextError`] with the line that is not understood.
    pub fn parse(&mut self, source: &str) -> Result<Vec<Routine>, TextError> {
        let mut routines = vec![Routine::default()];
        for (index, text) in source.lines().enumerate() {
            self.line(strip_comment(text), &mut routines).map_err(|problem| TextError {
                line: index + 1,
                text: text.trim().to_string(),
                problem,
            })?;
        }
        routines.retain(|r| !r.items.is_empty());
        Ok(routines)
    }

    fn line(&mut self, line: &str, routines: &mut Vec<Routine>) -> Result<(), String> {
        let mut line = line.trim();
        if let Some((name, value)) = assignment(line) {
            match self.value(value)? {
                Value::Number(n) => self.constants.insert(name.to_string(), n),
                _ => return Err("a constant must not depend on labels".into()),
            };
            return Ok(());
        }
        while let Some((name, rest)) = label_prefix(line) {
            let label = self.label(name);
            if !name.starts_with('.') {
                self.scope = name.to_string();
            }
            if let Some(routine) = routines.last_mut() {
                routine.items.push(Item::Label(label));
            }
            line = rest.trim();
        }
        if line.is_empty() {
            return Ok(());
        }
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        if word == ".func" {
            let label = self.symbols.named(rest);
            self.scope = rest.to_string();
            routines.push(Routine { name: rest.to_string(), items: vec![Item::Label(label)] });
            return Ok(());
        }
        let items = match word.strip_prefix('.') {
            Some(directive) => self.directive(directive, rest)?,
            None => vec![Item::Inst(self.instruction(word, rest)?)],
        };
        if let Some(routine) = routines.last_mut() {
            routine.items.extend(items);
        }
        Ok(())
    }

    fn label(&mut self, name: &str) -> Label {
        if name.starts_with('.') {
            self.symbols.named(&format!("{}{}{name}", self.prefix, self.scope))
        } else {
            self.symbols.named(name)
        }
    }

    fn value(&mut self, text: &str) -> Result<Value, String> {
        let expr: Expr = parse_expr(text).map_err(|ExprError(e)| e)?;
        let constants = &self.constants;
        let (symbols, scope, prefix) = (&mut *self.symbols, &self.scope, &self.prefix);
        expr.eval(&mut |name| match constants.get(name) {
            Some(&n) => Value::Number(n),
            None if name.starts_with('.') => Value::Label(symbols.named(&format!("{prefix}{scope}{name}")), 0),
            None => Value::Label(symbols.named(name), 0),
        })
        .map_err(|ExprError(e)| e)
    }

    fn directive(&mut self, name: &str, rest: &str) -> Result<Vec<Item>, String> {
        let mut items = Vec::new();
        for part in split_list(rest) {
            match (name, part.trim()) {
                ("byte", text) if text.starts_with('"') => {
                    let inner = text.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
                    items.push(Item::Bytes(inner.ok_or("unfinished string")?.as_bytes().to_vec()));
                }
                ("byte", text) => items.push(Item::Bytes(vec![self.number(text, -128, 255)? as u8])),
                ("word", text) => items.push(match self.value(text)? {
                    Value::Label(label, offset) => Item::Word(label, offset as i32),
                    Value::Number(n) => Item::Bytes((n as u16).to_le_bytes().to_vec()),
                    _ => return Err("a word is a number or an address".into()),
                }),
                ("dword", text) => {
                    let n = self.number(text, i64::from(i32::MIN), i64::from(u32::MAX))?;
                    items.push(Item::Bytes((n as u32).to_le_bytes().to_vec()));
                }
                ("fill", text) => {
                    let (count, value) = rest.split_once(',').unwrap_or((text, "0"));
                    let count = self.number(count, 0, 65535)?;
                    let value = self.number(value, -128, 255)? as u8;
                    return Ok(vec![Item::Bytes(vec![value; count as usize])]);
                }
                _ => return Err(format!("unknown directive .{name}")),
            }
        }
        Ok(items)
    }

    fn number(&mut self, text: &str, min: i64, max: i64) -> Result<i64, String> {
        match self.value(text)? {
            Value::Number(n) if (min..=max).contains(&n) => Ok(n),
            Value::Number(n) => Err(format!("{n} is not in {min}..={max}")),
            _ => Err("a number is needed here".into()),
        }
    }

    fn instruction(&mut self, word: &str, rest: &str) -> Result<Inst, String> {
        let upper = word.to_ascii_uppercase();
        let upper = match upper.as_str() {
            "NOP" => "EOM",
            "BLT" => "BCC",
            "BGE" => "BCS",
            "CPQ" => "CMPQ",
            other => other,
        };
        let mnemonic =
            *Mnemonic::ALL.iter().find(|m| m.name() == upper).ok_or_else(|| format!("unknown mnemonic {word}"))?;
        self.operand(mnemonic, rest)
    }

    fn operand(&mut self, mn: Mnemonic, text: &str) -> Result<Inst, String> {
        use Mode::*;
        let q = mn >= Mnemonic::LDQ;
        let has = |mode| encoding(mn, mode).is_some();
        let build = |mode, operand| {
            Inst::new(mn, mode, operand).ok_or_else(|| format!("{} has no such addressing mode", mn.name()))
        };
        if text.is_empty() {
            return build(if has(Implied) { Implied } else { Accumulator }, Operand::None);
        }
        let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let upper = compact.to_ascii_uppercase();
        if has(Accumulator) && (upper == "A" || upper == "Q") {
            return build(Accumulator, Operand::None);
        }
        if let Some(value) = compact.strip_prefix('#') {
            let value = self.value(value)?;
            return if has(Immediate) { build(Immediate, byte(value)?) } else { build(Immediate16, word16(value)?) };
        }
        if let Some(inner) = compact.strip_prefix('[') {
            let (inner, tail) = inner.split_once(']').ok_or("`]` is missing")?;
            let operand = byte(self.value(inner)?)?;
            return match tail.to_ascii_uppercase().as_str() {
                ",Z" => build(FlatZ, operand),
                "" if q => build(if has(FlatQ) { FlatQ } else { FlatZ }, operand),
                _ => Err("a flat pointer is written [p],Z (or [p] in Q forms that ignore Z)".into()),
            };
        }
        if upper.starts_with('(') && (upper.ends_with(')') || upper.ends_with("),Y") || upper.ends_with("),Z")) {
            return self.indirect(mn, &compact[1..], &build);
        }
        if has(BitRelative) {
            let (bp, target) = compact.split_once(',').ok_or("byte and target are needed")?;
            let bp = self.number(bp, 0, 255)? as u8;
            return match self.value(target)? {
                Value::Label(label, 0) => build(BitRelative, Operand::BitRel(bp, label)),
                _ => Err("a branch goes to a label".into()),
            };
        }
        if has(Relative8) || has(Relative16) {
            let mode = if has(Relative8) { Relative8 } else { Relative16 };
            return match self.value(&compact)? {
                Value::Label(label, 0) => build(mode, Operand::Rel(label)),
                _ => Err("a branch goes to a label".into()),
            };
        }
        self.direct(mn, &compact, &upper, &build)
    }

    fn direct(
        &mut self,
        mn: Mnemonic,
        compact: &str,
        upper: &str,
        build: &dyn Fn(Mode, Operand) -> Result<Inst, String>,
    ) -> Result<Inst, String> {
        use Mode::*;
        let (short, long, body) = if upper.ends_with(",X") {
            (BasePageX, AbsoluteX, &compact[..compact.len() - 2])
        } else if upper.ends_with(",Y") {
            (BasePageY, AbsoluteY, &compact[..compact.len() - 2])
        } else {
            (BasePage, Absolute, compact)
        };
        let (body, forced) = body.strip_prefix("abs:").map_or((body, false), |b| (b, true));
        match self.value(body)? {
            Value::Number(n) if (0..256).contains(&n) && !forced && encoding(mn, short).is_some() => {
                build(short, Operand::Byte(n as u8))
            }
            value => build(long, word16(value)?),
        }
    }

    fn indirect(
        &mut self,
        mn: Mnemonic,
        text: &str,
        build: &dyn Fn(Mode, Operand) -> Result<Inst, String>,
    ) -> Result<Inst, String> {
        use Mode::*;
        let upper = text.to_ascii_uppercase();
        let body = |n: usize| &text[..text.len() - n];
        if upper.ends_with(",SP),Y") {
            let operand = byte(self.value(body(6))?)?;
            return build(IndirectSpY, operand);
        }
        if upper.ends_with("),Y") {
            let operand = byte(self.value(body(3))?)?;
            return build(IndirectY, operand);
        }
        if upper.ends_with("),Z") {
            let operand = byte(self.value(body(3))?)?;
            return build(IndirectZ, operand);
        }
        if upper.ends_with(",X)") {
            let value = self.value(body(3))?;
            return if encoding(mn, AbsIndirectX).is_some() {
                build(AbsIndirectX, word16(value)?)
            } else {
                build(IndirectX, byte(value)?)
            };
        }
        let value = self.value(body(1))?;
        if encoding(mn, AbsIndirect).is_some() {
            build(AbsIndirect, word16(value)?)
        } else {
            build(IndirectQ, byte(value)?)
        }
    }
}

fn byte(value: Value) -> Result<Operand, String> {
    match value {
        Value::Number(n) if (-128..=255).contains(&n) => Ok(Operand::Byte(n as u8)),
        Value::Number(n) => Err(format!("{n} does not fit into a byte")),
        Value::Lo(l, o) => Ok(Operand::Lo(l, o as i32)),
        Value::Hi(l, o) => Ok(Operand::Hi(l, o as i32)),
        Value::Label(..) => Err("an address does not fit into a byte (use < or >)".into()),
    }
}

fn word16(value: Value) -> Result<Operand, String> {
    match value {
        Value::Number(n) if (0..=0xFFFF).contains(&n) => Ok(Operand::Word(n as u16)),
        Value::Number(n) => Err(format!("{n} does not fit into 16 bits")),
        Value::Label(l, o) => Ok(Operand::Addr(l, o as i32)),
        _ => Err("an address is needed, not a byte".into()),
    }
}

fn strip_comment(line: &str) -> &str {
    let mut quoted = false;
    for (i, c) in line.char_indices() {
        match c {
            '"' => quoted = !quoted,
            ';' if !quoted && !line[i..].starts_with(";'") => return &line[..i],
            _ => {}
        }
    }
    line
}

fn is_name(text: &str) -> bool {
    let body = text.strip_prefix('.').unwrap_or(text);
    !body.is_empty()
        && body.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !body.starts_with(|c: char| c.is_ascii_digit())
}

fn assignment(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim();
    is_name(name).then_some((name, value.trim()))
}

fn label_prefix(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.split_once(':')?;
    is_name(name).then_some((name, rest))
}

fn split_list(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut quoted) = (Vec::new(), 0, false);
    for (i, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => {
                parts.push(&text[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}
