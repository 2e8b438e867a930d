//! Why a program is not linked.

use crate::asm::{LayoutError, Mnemonic, Mode, TextError};
use crate::elf::ElfError;
use crate::front::FrontError;

/// Why a program was not linked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// The ELF is damaged or of another kind.
    #[error(transparent)]
    Elf(#[from] ElfError),
    /// Something in it cannot be translated.
    #[error(transparent)]
    Front(#[from] FrontError),
    /// A hand-written routine has a mistake.
    #[error("hand-written routine: {0}")]
    Runtime(#[from] TextError),
    /// Addresses do not work out.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// A called function is neither in the ELF nor hand-written.
    #[error("`{0}` is called and neither defined in the program nor hand-written")]
    Undefined(String),
    /// The translator asked for an instruction that does not exist.
    #[error("`{function}` needs {mnemonic:?} in mode {mode:?}, which does not exist")]
    Encoding {
        /// Where.
        function: String,
        /// The mnemonic.
        mnemonic: Mnemonic,
        /// The mode.
        mode: Mode,
    },
    /// The code is too large for its place.
    #[error("{what} ends at ${end:X}, beyond ${limit:X}; the largest functions are {largest}")]
    TooLarge {
        /// Which part.
        what: &'static str,
        /// Where it would end.
        end: u32,
        /// Where it has to end.
        limit: u32,
        /// Names and sizes.
        largest: String,
    },
    /// Even compressed the file is too large.
    #[error("code and data of {image} bytes come to a file of {packed} bytes when compressed; BASIC loads 57,087")]
    Packed {
        /// Bytes of code and initialised data.
        image: usize,
        /// Bytes of the file.
        packed: usize,
    },
    /// Data lies where it cannot be.
    #[error("section {name} at ${addr:X} of {size} bytes is not in banks 4 and 5 below the stack (link with rv45.ld)")]
    Data {
        /// Section.
        name: String,
        /// Its address.
        addr: u32,
        /// Its size.
        size: u32,
    },
}
