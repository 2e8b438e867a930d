//! What the CPU needs from its surroundings.

/// State of the MAP instruction: eight 8 KB blocks, two offsets, two megabyte numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mapping {
    /// Offset added to addresses below $8000, a multiple of 256 below 2^20.
    pub low_offset: u32,
    /// Offset added to addresses from $8000.
    pub high_offset: u32,
    /// Bit n set: block n (8 KB each) is mapped.
    pub enabled: u8,
    /// Megabyte of the low half.
    pub low_megabyte: u8,
    /// Megabyte of the high half.
    pub high_megabyte: u8,
}

impl Mapping {
    /// The 28-bit address behind `address`, or `None` where its block is not mapped.
    pub fn translate(&self, address: u16) -> Option<u32> {
        let block = address >> 13;
        if self.enabled & (1 << block) == 0 {
            return None;
        }
        let (offset, megabyte) =
            if block < 4 { (self.low_offset, self.low_megabyte) } else { (self.high_offset, self.high_megabyte) };
        let within = (offset + u32::from(address)) & 0xf_ffff;
        Some((u32::from(megabyte) << 20 | within) & super::FLAT_MASK)
    }

    /// Applies the MAP instruction with these registers.
    pub fn apply(&mut self, a: u8, x: u8, y: u8, z: u8) {
        if x == 0x0f {
            self.low_megabyte = a;
        } else {
            self.low_offset = u32::from(x & 15) << 16 | u32::from(a) << 8;
            self.enabled = self.enabled & 0xf0 | x >> 4;
        }
        if z == 0x0f {
            self.high_megabyte = y;
        } else {
            self.high_offset = u32::from(z & 15) << 16 | u32::from(y) << 8;
            self.enabled = self.enabled & 0x0f | z & 0xf0;
        }
    }
}

/// Things that sources disagree about and that a program should not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Hazard {
    /// A flat Q access whose four bytes cross a 64 KB boundary: the hardware description wraps
    /// inside the bank (done here), Xemu carries.
    FlatQCrossesBank,
    /// A flat Q load directly followed by an unprefixed `(bp),Z` instruction, which may use a
    /// 32-bit pointer on hardware (not done here).
    FlatQThenIndirectZ,
    /// BRK: where no program uses it on purpose, the sign of a jump into nowhere.
    Break,
    /// A pointer at the last byte of the base page: its second byte comes from the next page on
    /// hardware (done here), from the start of the page in Xemu.
    PointerAtPageEnd,
}

/// Memory and time as the CPU sees them.
///
/// 16-bit accesses go through the current mapping, flat ones do not. The bus counts the cycles
/// so that devices know when they are accessed.
pub trait Bus {
    /// The four bytes from `pc` on (lowest byte first), read without side effects.
    fn fetch(&mut self, pc: u16) -> u32;
    /// Reads through the 16-bit view.
    fn read(&mut self, address: u16) -> u8;
    /// Writes through the 16-bit view.
    fn write(&mut self, address: u16, value: u8);
    /// Reads a 28-bit address.
    fn read_flat(&mut self, address: u32) -> u8;
    /// Writes a 28-bit address.
    fn write_flat(&mut self, address: u32, value: u8);
    /// Reads a little-endian word through the 16-bit view; addresses wrap at 64 KB.
    #[inline(always)]
    fn read_word(&mut self, address: u16) -> u16 {
        let low = self.read(address);
        let high = self.read(address.wrapping_add(1));
        u16::from_le_bytes([low, high])
    }
    /// Reads four bytes, lowest first, through the 16-bit view; addresses wrap at 64 KB.
    #[inline(always)]
    fn read_quad(&mut self, address: u16) -> u32 {
        let low = self.read_word(address);
        let high = self.read_word(address.wrapping_add(2));
        u32::from(high) << 16 | u32::from(low)
    }
    /// Writes four bytes, lowest first, through the 16-bit view; addresses wrap at 64 KB.
    #[inline(always)]
    fn write_quad(&mut self, address: u16, value: u32) {
        for (n, byte) in (0..).zip(value.to_le_bytes()) {
            self.write(address.wrapping_add(n), byte);
        }
    }
    /// Reads four bytes of the flat memory that lie in one 64 KB bank.
    #[inline(always)]
    fn read_flat_quad(&mut self, address: u32) -> u32 {
        u32::from_le_bytes([0, 1, 2, 3].map(|n| self.read_flat(address + n)))
    }
    /// Writes four bytes of the flat memory that lie in one 64 KB bank.
    #[inline(always)]
    fn write_flat_quad(&mut self, address: u32, value: u32) {
        for (n, byte) in (0..).zip(value.to_le_bytes()) {
            self.write_flat(address + n, byte);
        }
    }
    /// Called after MAP changed the mapping.
    fn set_mapping(&mut self, mapping: &Mapping);
    /// Lets `cycles` pass.
    fn advance(&mut self, cycles: u32);
    /// True when the CPU shall return to its caller after the current instruction.
    fn due(&self) -> bool;
    /// Makes [`Bus::due`] true: an instruction changed what interrupts may do.
    fn request_attention(&mut self);
    /// Told when the program does something that depends on the machine.
    fn hazard(&mut self, _hazard: Hazard, _pc: u16) {}
}

/// The plainest bus: 64 KB of RAM in the 16-bit view, which is also the start of a flat RAM.
///
/// MAP is accepted and ignored. Reads outside the RAM give $FF, writes there are dropped. A write
/// to [`FlatBus::EXIT`] in the 16-bit view ends the run.
#[derive(Clone, Debug)]
pub struct FlatBus {
    /// The RAM, at least 64 KB.
    pub ram: Vec<u8>,
    /// Cycles so far.
    pub cycles: u64,
    /// The CPU returns when `cycles` reaches this.
    pub deadline: u64,
    /// Byte written to [`FlatBus::EXIT`].
    pub exit_code: Option<u8>,
}

impl FlatBus {
    /// Writing here stops the CPU.
    pub const EXIT: u16 = 0xd6cf;

    /// A bus with `size` bytes of RAM (raised to 64 KB), all zero, without a deadline.
    pub fn new(size: usize) -> Self {
        Self { ram: vec![0; size.max(0x1_0000)], cycles: 0, deadline: u64::MAX, exit_code: None }
    }
}

impl Bus for FlatBus {
    #[inline]
    fn fetch(&mut self, pc: u16) -> u32 {
        let at = |n: u16| self.ram[usize::from(pc.wrapping_add(n))];
        u32::from_le_bytes([at(0), at(1), at(2), at(3)])
    }

    #[inline]
    fn read(&mut self, address: u16) -> u8 {
        self.ram[usize::from(address)]
    }

    #[inline]
    fn write(&mut self, address: u16, value: u8) {
        self.ram[usize::from(address)] = value;
        if address == Self::EXIT {
            self.exit_code = Some(value);
            self.deadline = 0;
        }
    }

    fn read_flat(&mut self, address: u32) -> u8 {
        self.ram.get(address as usize).copied().unwrap_or(0xff)
    }

    fn write_flat(&mut self, address: u32, value: u8) {
        if let Some(cell) = self.ram.get_mut(address as usize) {
            *cell = value;
        }
    }

    fn set_mapping(&mut self, _mapping: &Mapping) {}

    #[inline]
    fn advance(&mut self, cycles: u32) {
        self.cycles += u64::from(cycles);
    }

    #[inline]
    fn due(&self) -> bool {
        self.cycles >= self.deadline
    }

    fn request_attention(&mut self) {}
}
