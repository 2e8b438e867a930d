//! What a register means where the digits are made.

use super::trial::{Kind, State, Trial};
use crate::rv::Reg;

/// The meaning of a register's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Model {
    /// What a register held before.
    Before(Reg),
    /// The same in every run.
    Constant(u32),
    /// sp plus something.
    Stack(i32),
    /// The place of the first digit in the field, plus something.
    Place(i32),
    /// Something less that place: the count of digits, for one.
    Count(i32),
    /// sp plus that place plus something: the address of the first digit, for one.
    Pointer(i32),
    /// One value for positive numbers and 0, another for negative ones.
    Sign(u32, u32),
}

/// A register and what it must hold.
#[derive(Debug, Clone, Copy)]
pub struct Goal {
    pub register: Reg,
    pub model: Model,
}

/// What `r` means after the digits are made; `None` for nothing simple.
pub fn meaning(states: &[(&State, &State, &Trial)], r: Reg, kind: Kind) -> Option<Model> {
    let at = |s: &State, r: Reg| s.x[usize::from(r.0)];
    let before = |q: Reg| states.iter().all(|(begin, end, _)| at(end, r) == at(begin, q));
    // The same result in every run, or none.
    let fixed = |f: &dyn Fn(&State, &Trial) -> u32| {
        let mut values = states.iter().map(|(_, end, trial)| f(end, trial));
        let first = values.next()?;
        values.all(|v| v == first).then_some(first)
    };
    let place = |t: &Trial| t.place(kind.field()) as u32;
    if before(r) {
        return Some(Model::Before(r));
    }
    if let Some(value) = fixed(&|end, _| at(end, r)) {
        return Some(Model::Constant(value));
    }
    if let Some(k) = fixed(&|end, t| at(end, r).wrapping_sub(place(t))) {
        return Some(Model::Place(k as i32));
    }
    if let Some(k) = fixed(&|end, t| at(end, r).wrapping_add(place(t))) {
        return Some(Model::Count(k as i32));
    }
    if let Some(k) = fixed(&|end, t| at(end, r).wrapping_sub(place(t)).wrapping_sub(end.x[2])) {
        return Some(Model::Pointer(k as i32));
    }
    if let Some(k) = fixed(&|end, _| at(end, r).wrapping_sub(end.x[2])) {
        return Some(Model::Stack(k as i32));
    }
    if kind.signed() {
        let of = |sign: bool| {
            let mut values = states.iter().filter(|s| s.2.negative == sign).map(|s| at(s.1, r));
            let first = values.next()?;
            values.all(|v| v == first).then_some(first)
        };
        if let (Some(plus), Some(minus)) = (of(false), of(true)) {
            return Some(Model::Sign(plus, minus));
        }
    }
    (1..32).map(Reg).find(|&q| before(q)).map(Model::Before)
}
