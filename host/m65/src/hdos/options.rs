//! What differs between versions, settings and cards.

/// How readfile tells the end of a file. The count in X and Y is 0 either way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EndOfFile {
    /// C clear, A = 0: the hypervisor's code.
    #[default]
    CarryClear,
    /// C set: Xemu's virtual HDOS, and close to the printed documentation.
    CarrySet,
}

/// What becomes of long names on the card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LongNames {
    /// Ignored; the long name of an entry is its 8.3 name with a dot. Without a system partition it is so.
    #[default]
    Off,
    /// In capitals, the low byte of each letter, at most 64; **files that have one are not found by
    /// their 8.3 name**. As in HDOS 1.2 of 2024.
    Capitals,
    /// Likewise, but letters as they are stored. Names are looked for in capitals, so a long name
    /// with a small letter is never found: earlier versions and the printed documentation.
    AsStored,
}

/// Settings of [`super::Hdos`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How the end of a file is told.
    pub end_of_file: EndOfFile,
    /// Long names; a bit of the config sector decides.
    pub long_names: LongNames,
    /// Traps fail where hardware fails without telling: all of them when I/O is not visible at `$D000`,
    /// opendir and readdir when interrupts are on. C is clear and A is $85, which looks like an
    /// empty directory. Otherwise they work.
    pub strict: bool,
    /// Cycles of a trap that reads nothing.
    pub trap_cycles: u32,
    /// Cycles of the hypervisor's own work for a sector that it reads.
    pub read_cycles: u32,
    /// Cycles for a byte that loadfile copies.
    pub copy_cycles: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            end_of_file: EndOfFile::default(),
            long_names: LongNames::default(),
            strict: true,
            trap_cycles: 400,
            read_cycles: 2_600,
            copy_cycles: 23,
        }
    }
}
