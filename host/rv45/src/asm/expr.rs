//! Operand expressions: numbers, names, `+ - * & | << >>`, and `<` `>` for address bytes.

use super::Label;

/// What is wrong with an expression.
#[derive(Debug, PartialEq, Eq)]
pub struct ExprError(pub String);

/// The value of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Number(i64),
    /// An address: label plus offset.
    Label(Label, i64),
    /// Low byte of an address.
    Lo(Label, i64),
    /// High byte of an address.
    Hi(Label, i64),
}

/// A parsed expression: an optional `<` or `>` and terms from left to right.
#[derive(Debug, PartialEq, Eq)]
pub struct Expr {
    part: Option<char>,
    terms: Vec<(&'static str, Term)>,
}

#[derive(Debug, PartialEq, Eq)]
enum Term {
    Number(i64),
    Name(String),
}

const OPERATORS: [&str; 7] = ["<<", ">>", "+", "-", "*", "&", "|"];

/// Parses an expression; operators bind from left to right, without precedence.
///
/// # Errors
/// [`ExprError`] naming what is not understood.
pub fn parse_expr(text: &str) -> Result<Expr, ExprError> {
    let text = text.trim();
    let (part, mut rest) = match text.chars().next() {
        Some(c @ ('<' | '>')) => (Some(c), text[1..].trim()),
        _ => (None, text),
    };
    let mut terms = Vec::new();
    let mut operator = "+";
    if let Some(r) = rest.strip_prefix('-') {
        operator = "-";
        rest = r;
    }
    loop {
        let (term, tail) = parse_term(rest.trim_start())?;
        terms.push((operator, term));
        rest = tail.trim_start();
        if rest.is_empty() {
            return Ok(Expr { part, terms });
        }
        operator = OPERATORS
            .into_iter()
            .find(|op| rest.starts_with(op))
            .ok_or_else(|| ExprError(format!("operator expected at `{rest}`")))?;
        rest = &rest[operator.len()..];
    }
}

fn parse_term(text: &str) -> Result<(Term, &str), ExprError> {
    let bad = || ExprError(format!("number or name expected at `{text}`"));
    if let Some(rest) = text.strip_prefix('\'') {
        let c = rest.chars().next().ok_or_else(bad)?;
        let tail = rest[c.len_utf8()..].strip_prefix('\'').ok_or_else(bad)?;
        return Ok((Term::Number(i64::from(u32::from(c))), tail));
    }
    let (radix, body) = match text.as_bytes().first() {
        Some(b'$') => (16, &text[1..]),
        Some(b'%') => (2, &text[1..]),
        Some(c) if c.is_ascii_digit() => (10, text),
        _ => (0, text),
    };
    if radix != 0 {
        let end = body.find(|c: char| !c.is_digit(radix)).unwrap_or(body.len());
        let n = i64::from_str_radix(&body[..end], radix).map_err(|_| bad())?;
        return Ok((Term::Number(n), &body[end..]));
    }
    let end = body.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.')).unwrap_or(body.len());
    if end == 0 {
        return Err(bad());
    }
    Ok((Term::Name(body[..end].to_string()), &body[end..]))
}

impl Expr {
    /// The value, with `resolve` giving constants and labels by name.
    ///
    /// # Errors
    /// [`ExprError`] for arithmetic on addresses other than adding a number.
    pub fn eval(&self, resolve: &mut dyn FnMut(&str) -> Value) -> Result<Value, ExprError> {
        let mut value = Value::Number(0);
        for (operator, term) in &self.terms {
            let term = match term {
                Term::Number(n) => Value::Number(*n),
                Term::Name(name) => resolve(name),
            };
            value = combine(value, operator, term)?;
        }
        match (self.part, value) {
            (None, value) => Ok(value),
            (Some('<'), Value::Number(n)) => Ok(Value::Number(n & 0xFF)),
            (Some(_), Value::Number(n)) => Ok(Value::Number((n >> 8) & 0xFF)),
            (Some('<'), Value::Label(l, o)) => Ok(Value::Lo(l, o)),
            (Some(_), Value::Label(l, o)) => Ok(Value::Hi(l, o)),
            (Some(_), _) => Err(ExprError("a byte of a byte of an address".into())),
        }
    }
}

fn combine(left: Value, operator: &str, right: Value) -> Result<Value, ExprError> {
    use Value::{Label, Number};
    let overflow = || ExprError("number too large".into());
    match (left, operator, right) {
        (Number(a), "+", Number(b)) => a.checked_add(b).map(Number).ok_or_else(overflow),
        (Number(a), "-", Number(b)) => a.checked_sub(b).map(Number).ok_or_else(overflow),
        (Number(a), "*", Number(b)) => a.checked_mul(b).map(Number).ok_or_else(overflow),
        (Number(a), "&", Number(b)) => Ok(Number(a & b)),
        (Number(a), "|", Number(b)) => Ok(Number(a | b)),
        (Number(a), "<<", Number(b @ 0..=31)) => Ok(Number(a << b)),
        (Number(a), ">>", Number(b @ 0..=31)) => Ok(Number(a >> b)),
        (Number(a), "+", Label(l, o)) | (Label(l, o), "+", Number(a)) => Ok(Label(l, o + a)),
        (Label(l, o), "-", Number(a)) => Ok(Label(l, o - a)),
        _ => Err(ExprError(format!("`{operator}` is not possible between these"))),
    }
}
