//! Placing items at addresses: branch relaxation and encoding.

use super::{Inst, Item, Label, Operand, Symbols};
use std::collections::HashMap;

/// Why a program could not be encoded.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum LayoutError {
    /// A label is used and never defined.
    #[error("`{0}` is used but not defined")]
    Undefined(String),
    /// A label is defined twice.
    #[error("`{0}` is defined twice")]
    Twice(String),
    /// BBRn/BBSn have no long form.
    #[error("at ${at:04X}: bit branch to `{target}` is {distance} bytes away, at most -128..127 is possible")]
    BitBranch {
        /// Address of the instruction.
        at: u16,
        /// Name of the target.
        target: String,
        /// Distance from the next instruction.
        distance: i32,
    },
    /// Code runs past the end of the 16-bit address space.
    #[error("code that starts at ${0:04X} runs past $FFFF")]
    Overflow(u32),
}

/// Addresses of labels and the branches that need their long form.
#[derive(Default, Debug, Clone)]
pub struct Layout {
    addresses: HashMap<Label, u32>,
    long: Vec<Vec<bool>>,
    /// Start and end of each sequence. They may lie past $FFFF: the caller decides what is too large.
    pub spans: Vec<(u32, u32)>,
}

/// Items that lie one after the other from a fixed start, or after the sequence before.
pub struct Sequence<'a> {
    /// Where it starts; `None`: where the one before ends.
    pub start: Option<u16>,
    /// What it holds.
    pub items: &'a [Item],
}

impl Layout {
    /// Finds an address for every label. Branches start short and only ever grow, so this ends.
    ///
    /// # Errors
    /// [`LayoutError`] for labels that are missing or defined twice and for code past $FFFF.
    pub fn new(sequences: &[Sequence<'_>], symbols: &Symbols) -> Result<Layout, LayoutError> {
        let mut layout =
            Layout { long: sequences.iter().map(|s| vec![false; s.items.len()]).collect(), ..Layout::default() };
        layout.check_definitions(sequences, symbols)?;
        loop {
            layout.place(sequences);
            if !layout.grow(sequences) {
                return Ok(layout);
            }
        }
    }

    /// The address of `label`.
    pub fn address(&self, label: Label) -> Option<u16> {
        self.addresses.get(&label).map(|&a| a as u16)
    }

    /// Adds a label at a fixed address (for labels that no item defines).
    pub fn define(&mut self, label: Label, address: u16) {
        self.addresses.insert(label, address.into());
    }

    fn check_definitions(&mut self, sequences: &[Sequence<'_>], symbols: &Symbols) -> Result<(), LayoutError> {
        for item in sequences.iter().flat_map(|s| s.items) {
            if let Item::Label(label) = item
                && self.addresses.insert(*label, 0).is_some()
            {
                return Err(LayoutError::Twice(symbols.name(*label)));
            }
        }
        for item in sequences.iter().flat_map(|s| s.items) {
            let used = match item {
                Item::Inst(Inst { operand, .. }) => operand.label(),
                Item::Word(label, _) => Some(*label),
                _ => None,
            };
            if let Some(label) = used
                && !self.addresses.contains_key(&label)
            {
                return Err(LayoutError::Undefined(symbols.name(label)));
            }
        }
        Ok(())
    }

    fn place(&mut self, sequences: &[Sequence<'_>]) {
        self.spans.clear();
        let mut at = 0u32;
        for (sequence, long) in sequences.iter().zip(&self.long) {
            at = sequence.start.map_or(at, u32::from);
            let start = at;
            for (item, &long) in sequence.items.iter().zip(long) {
                if let Item::Label(label) = item {
                    self.addresses.insert(*label, at);
                }
                at += u32::from(item_len(item, long));
            }
            self.spans.push((start, at));
        }
    }

    fn grow(&mut self, sequences: &[Sequence<'_>]) -> bool {
        let mut changed = false;
        for (i, sequence) in sequences.iter().enumerate() {
            let mut at = self.spans[i].0;
            for (j, item) in sequence.items.iter().enumerate() {
                let len = u32::from(item_len(item, self.long[i][j]));
                if let Item::Inst(inst) = item
                    && let Operand::Rel(target) = inst.operand
                    && inst.relaxable()
                    && !self.long[i][j]
                {
                    let target = self.addresses.get(&target).copied().unwrap_or(0);
                    let distance = target as i32 - (at + len) as i32;
                    if !(-128..=127).contains(&distance) {
                        self.long[i][j] = true;
                        changed = true;
                    }
                }
                at += len;
            }
        }
        changed
    }

    /// The bytes of sequence `index` (its items, as given to [`Layout::new`]).
    ///
    /// # Errors
    /// [`LayoutError::BitBranch`] when a bit branch does not reach, [`LayoutError::Overflow`] past $FFFF.
    pub fn encode(&self, index: usize, items: &[Item], symbols: &Symbols) -> Result<Vec<u8>, LayoutError> {
        let mut out = Vec::new();
        let (start, end) = self.spans[index];
        if end > 0x1_0000 {
            return Err(LayoutError::Overflow(start));
        }
        let mut at = start as u16;
        for (item, &long) in items.iter().zip(&self.long[index]) {
            let start = out.len();
            self.encode_item(item, long, at, &mut out, symbols)?;
            at = at.wrapping_add((out.len() - start) as u16);
        }
        Ok(out)
    }

    /// The bytes of one item at address `at`.
    fn encode_item(
        &self,
        item: &Item,
        long: bool,
        at: u16,
        out: &mut Vec<u8>,
        symbols: &Symbols,
    ) -> Result<(), LayoutError> {
        let resolve = |label: Label, offset: i32| {
            self.address(label)
                .map(|a| i32::from(a).wrapping_add(offset) as u16)
                .ok_or_else(|| LayoutError::Undefined(symbols.name(label)))
        };
        match item {
            Item::Label(_) | Item::Note(_) => {}
            Item::Bytes(bytes) => out.extend_from_slice(bytes),
            Item::Word(label, offset) => out.extend_from_slice(&resolve(*label, *offset)?.to_le_bytes()),
            Item::Inst(inst) => {
                out.extend_from_slice(inst.encoding.prefix.bytes());
                let opcode = inst.encoding.opcode;
                out.push(if long { opcode | 3 } else { opcode });
                match inst.operand {
                    Operand::None => {}
                    Operand::Byte(b) => out.push(b),
                    Operand::Word(w) => out.extend_from_slice(&w.to_le_bytes()),
                    Operand::Lo(l, o) => out.push(resolve(l, o)? as u8),
                    Operand::Hi(l, o) => out.push((resolve(l, o)? >> 8) as u8),
                    Operand::Addr(l, o) => out.extend_from_slice(&resolve(l, o)?.to_le_bytes()),
                    Operand::Rel(l) if long || opcode == 0x63 => {
                        // The 16-bit displacement counts from the opcode plus 2, not from the next instruction.
                        let distance = resolve(l, 0)?.wrapping_sub(at.wrapping_add(2));
                        out.extend_from_slice(&distance.to_le_bytes());
                    }
                    Operand::Rel(l) => out.push(resolve(l, 0)?.wrapping_sub(at.wrapping_add(2)) as u8),
                    Operand::BitRel(bp, l) => {
                        let distance = i32::from(resolve(l, 0)?.wrapping_sub(at.wrapping_add(3)) as i16);
                        if !(-128..=127).contains(&distance) {
                            return Err(LayoutError::BitBranch { at, target: symbols.name(l), distance });
                        }
                        out.extend_from_slice(&[bp, distance as u8]);
                    }
                }
            }
        }
        Ok(())
    }

    /// Calls `each` with every item of sequence `index`, its address and its length.
    pub fn walk<'a>(&self, index: usize, items: &'a [Item], mut each: impl FnMut(u16, u16, &'a Item)) {
        let mut at = self.spans[index].0 as u16;
        for (item, &long) in items.iter().zip(&self.long[index]) {
            let len = item_len(item, long);
            each(at, len, item);
            at = at.wrapping_add(len);
        }
    }
}

impl Operand {
    /// The label that the operand names.
    pub fn label(&self) -> Option<Label> {
        match *self {
            Operand::None | Operand::Byte(_) | Operand::Word(_) => None,
            Operand::Lo(l, _) | Operand::Hi(l, _) | Operand::Addr(l, _) | Operand::Rel(l) | Operand::BitRel(_, l) => {
                Some(l)
            }
        }
    }
}

/// Length of an item in bytes.
pub fn item_len(item: &Item, long: bool) -> u16 {
    match item {
        Item::Inst(inst) => inst.len(long),
        Item::Bytes(bytes) => bytes.len() as u16,
        Item::Word(..) => 2,
        Item::Label(_) | Item::Note(_) => 0,
    }
}
