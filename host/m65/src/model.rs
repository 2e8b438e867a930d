//! Board models.

use std::fmt;
use std::str::FromStr;

/// A MEGA65 board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Model {
    /// R3 and R3A: 8 MB HyperRAM only.
    #[default]
    R3,
    /// HyperRAM and 64 MB SDRAM.
    R4,
    /// As R4.
    R5,
    /// As R4.
    R6,
    /// Nexys4 DDR: no expansion RAM at all.
    Nexys4Ddr,
}

impl Model {
    /// What `$D629` reads.
    pub fn id(self) -> u8 {
        match self {
            Self::R3 => 0x03,
            Self::R4 => 0x04,
            Self::R5 => 0x05,
            Self::R6 => 0x06,
            Self::Nexys4Ddr => 0x41,
        }
    }

    /// Bytes of HyperRAM.
    pub fn hyperram(self) -> u32 {
        if self == Self::Nexys4Ddr { 0 } else { 8 << 20 }
    }

    /// Bytes of SDRAM.
    pub fn sdram(self) -> u32 {
        match self {
            Self::R3 | Self::Nexys4Ddr => 0,
            Self::R4 | Self::R5 | Self::R6 => 64 << 20,
        }
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::R3 => "R3",
            Self::R4 => "R4",
            Self::R5 => "R5",
            Self::R6 => "R6",
            Self::Nexys4Ddr => "Nexys4DDR",
        })
    }
}

/// A model name that is not known.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("unknown board model `{0}`: use R3, R4, R5, R6 or Nexys4DDR")]
pub struct UnknownModel(pub String);

impl FromStr for Model {
    type Err = UnknownModel;

    fn from_str(name: &str) -> Result<Self, UnknownModel> {
        match name.to_ascii_lowercase().as_str() {
            "r3" | "r3a" => Ok(Self::R3),
            "r4" => Ok(Self::R4),
            "r5" => Ok(Self::R5),
            "r6" => Ok(Self::R6),
            "nexys4ddr" => Ok(Self::Nexys4Ddr),
            _ => Err(UnknownModel(name.to_owned())),
        }
    }
}
