//! An assembler for the 45GS02: instruction table, builder, text form, branch relaxation.
//!
//! [`assemble`] turns a text into bytes at an address; the translator builds [`Item`]s itself and
//! leaves placing to [`layout`].

pub mod builder;
pub mod disasm;
mod expr;
mod inst;
pub mod layout;
pub mod opcode;
mod symbols;
pub mod text;

pub use builder::Builder;
pub use inst::{Inst, Item, Label, Operand};
pub use layout::{Layout, LayoutError, Sequence};
pub use opcode::{Encoding, Mnemonic, Mode, Prefix};
pub use symbols::Symbols;
pub use text::{Parser, Routine, TextError};

use std::collections::BTreeMap;

/// A program assembled at a fixed address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assembled {
    /// Where it is to lie.
    pub origin: u16,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Addresses of the labels; local labels as `global.local`.
    pub symbols: BTreeMap<String, u16>,
}

/// Why a text was not assembled.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum AssembleError {
    /// A line is not understood.
    #[error(transparent)]
    Text(#[from] TextError),
    /// Addresses do not work out.
    #[error(transparent)]
    Layout(#[from] LayoutError),
}

/// Assembles `source` at `origin`.
///
/// ```
/// let program = rv45::asm::assemble("loop: INC $D020\n BRA loop", 0x2000)?;
/// assert_eq!(program.bytes, [0xEE, 0x20, 0xD0, 0x80, 0xFB]);
/// # Ok::<(), rv45::asm::AssembleError>(())
/// ```
///
/// # Errors
/// [`AssembleError`] with the line, or the label that is missing.
pub fn assemble(source: &str, origin: u16) -> Result<Assembled, AssembleError> {
    let mut symbols = Symbols::default();
    let routines = Parser::new(&mut symbols).parse(source)?;
    let items: Vec<Item> = routines.into_iter().flat_map(|r| r.items).collect();
    let layout = Layout::new(&[Sequence { start: Some(origin), items: &items }], &symbols)?;
    let bytes = layout.encode(0, &items, &symbols)?;
    let symbols = symbols.iter().filter_map(|(name, label)| Some((name.to_string(), layout.address(label)?))).collect();
    Ok(Assembled { origin, bytes, symbols })
}
