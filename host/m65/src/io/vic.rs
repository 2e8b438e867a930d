//! VIC-IV registers, palette and the time base of frames and raster lines.
//!
//! Text pointers and geometry are plain registers; a write to a hot register recomputes them from
//! the VIC-II and VIC-III registers as hardware does.

use super::cia::CPU_HZ;

/// Registers `$D000-$D07F`.
const REGISTERS: usize = 0x80;

/// Register numbers used by name.
pub mod register {
    /// Control 1.
    pub const CONTROL_1: u8 = 0x11;
    /// Raster line, compare when written.
    pub const RASTER: u8 = 0x12;
    /// Control 2.
    pub const CONTROL_2: u8 = 0x16;
    /// Screen and character set addresses.
    pub const MEMORY: u8 = 0x18;
    /// Interrupt flags.
    pub const IRQ: u8 = 0x19;
    /// Interrupt enables.
    pub const IRQ_ENABLE: u8 = 0x1a;
    /// Border colour.
    pub const BORDER: u8 = 0x20;
    /// Background colour.
    pub const BACKGROUND: u8 = 0x21;
    /// I/O personality knock.
    pub const KEY: u8 = 0x2f;
    /// VIC-III control A (ROM banks).
    pub const CONTROL_A: u8 = 0x30;
    /// VIC-III control B.
    pub const CONTROL_B: u8 = 0x31;
    /// VIC-IV control.
    pub const CONTROL_C: u8 = 0x54;
    /// Bytes per text row.
    pub const LINE_STEP: u8 = 0x58;
    /// Vertical scale.
    pub const SCALE_Y: u8 = 0x5b;
    /// Hot register enable.
    pub const HOT: u8 = 0x5d;
    /// Characters per row.
    pub const COLUMNS: u8 = 0x5e;
    /// Screen address, four bytes.
    pub const SCREEN: u8 = 0x60;
    /// Colour RAM offset, two bytes.
    pub const COLOUR: u8 = 0x64;
    /// Character set address, three bytes.
    pub const CHARSET: u8 = 0x68;
    /// Sprite pointer list address.
    pub const SPRITE_POINTERS: u8 = 0x6c;
    /// Video standard.
    pub const STANDARD: u8 = 0x6f;
    /// Palette banks.
    pub const PALETTE_BANKS: u8 = 0x70;
    /// Last row.
    pub const ROWS: u8 = 0x7b;
}

use register::*;

/// `$D031`: 640 pixels.
pub const H640: u8 = 0x80;
/// `$D031`: attributes and 8-bit colours.
pub const ATTRIBUTES: u8 = 0x20;
/// `$D031`: 400 lines.
pub const V400: u8 = 0x08;

/// The video chip.
#[derive(Clone, Debug)]
pub struct Vic {
    registers: [u8; REGISTERS],
    palette: Box<[[u8; 3]]>,
    raster_compare: u16,
    compared_frame: u64,
    /// Frames when `$D7FA` last read as zero.
    frame_base: u64,
    /// Video bank of CIA 2.
    pub bank: u8,
    /// Force-fast latch of address 0.
    pub force_fast: bool,
}

impl Default for Vic {
    fn default() -> Self {
        Self::new()
    }
}

impl Vic {
    /// 80x25 text at $0800 as BASIC 65 shows it.
    pub fn new() -> Self {
        let mut vic = Self {
            registers: [0; REGISTERS],
            palette: default_palette(),
            raster_compare: 0,
            compared_frame: 0,
            frame_base: 0,
            bank: 0,
            force_fast: true,
        };
        for (register, value) in [
            (CONTROL_1, 0x1b),
            (CONTROL_2, 0xc9),
            (MEMORY, 0x24),
            (BORDER, 6),
            (BACKGROUND, 6),
            (CONTROL_B, 0xe0),
            (CONTROL_C, 0x40),
            (0x5a, 0x78),
            (HOT, 0x80),
            (PALETTE_BANKS, 0xff),
        ] {
            vic.registers[usize::from(register)] = value;
        }
        vic.recompute();
        vic
    }

    /// A register as last written or recomputed.
    pub fn raw(&self, register: u8) -> u8 {
        self.registers[usize::from(register) % REGISTERS]
    }

    fn word(&self, register: u8) -> u32 {
        u32::from(self.raw(register)) | u32::from(self.raw(register + 1)) << 8
    }

    /// Address of the first screen cell.
    pub fn screen_address(&self) -> u32 {
        self.word(SCREEN) | u32::from(self.raw(0x62)) << 16 | u32::from(self.raw(0x63) & 0x0f) << 24
    }

    /// Offset of the first colour cell in colour RAM.
    pub fn colour_offset(&self) -> u32 {
        self.word(COLOUR)
    }

    /// Address of the character set.
    pub fn charset_address(&self) -> u32 {
        self.word(CHARSET) | u32::from(self.raw(0x6a)) << 16
    }

    /// Address of the sprite pointer list.
    pub fn sprite_pointers(&self) -> u32 {
        self.word(SPRITE_POINTERS) | u32::from(self.raw(0x6e) & 0x7f) << 16
    }

    /// Characters per row.
    pub fn columns(&self) -> u32 {
        u32::from(self.raw(COLUMNS)) | u32::from(self.raw(0x63) >> 4 & 3) << 8
    }

    /// Rows shown.
    pub fn rows(&self) -> u32 {
        u32::from(self.raw(ROWS)) + 1
    }

    /// Bytes from one row to the next.
    pub fn line_step(&self) -> u32 {
        self.word(LINE_STEP)
    }

    /// True for 16-bit character cells.
    pub fn wide_cells(&self) -> bool {
        self.raw(CONTROL_C) & 1 != 0
    }

    /// Red, green, blue of a palette entry of the text palette bank.
    pub fn text_colour(&self, index: u8) -> [u8; 3] {
        self.colour(self.raw(PALETTE_BANKS) >> 4 & 3, index)
    }

    /// Red, green, blue of a palette entry.
    pub fn colour(&self, bank: u8, index: u8) -> [u8; 3] {
        self.palette[usize::from(bank & 3) * 256 + usize::from(index)]
    }

    fn palette_entry(&mut self, index: u8) -> &mut [u8; 3] {
        let bank = usize::from(self.registers[usize::from(PALETTE_BANKS)] >> 6);
        &mut self.palette[bank * 256 + usize::from(index)]
    }

    /// Reads `$D100` (red), `$D200` (green) or `$D300` (blue) + `index`; nibbles are swapped.
    pub fn read_palette(&mut self, component: usize, index: u8) -> u8 {
        self.palette_entry(index)[component % 3].rotate_left(4)
    }

    /// Writes a palette component.
    pub fn write_palette(&mut self, component: usize, index: u8, value: u8) {
        self.palette_entry(index)[component % 3] = value.rotate_left(4);
    }

    fn ntsc(&self) -> bool {
        self.raw(STANDARD) & 0x80 != 0
    }

    /// Cycles of one frame.
    pub fn frame_cycles(&self) -> u64 {
        // 864 x 625 or 858 x 526 pixel clocks of 27 MHz.
        let pixels = if self.ntsc() { 858 * 526 } else { 864 * 625 };
        pixels * CPU_HZ / 27_000_000
    }

    /// Physical raster lines of a frame.
    fn lines(&self) -> u64 {
        if self.ntsc() { 526 } else { 625 }
    }

    /// Frames since the start.
    pub fn frame(&self, cycles: u64) -> u64 {
        cycles / self.frame_cycles()
    }

    /// Cycle at which the next frame begins.
    pub fn next_frame(&self, cycles: u64) -> u64 {
        (self.frame(cycles) + 1) * self.frame_cycles()
    }

    fn physical_line(&self, cycles: u64) -> u64 {
        cycles % self.frame_cycles() * self.lines() / self.frame_cycles()
    }

    /// The VIC-II style raster line.
    fn line(&self, cycles: u64) -> u64 {
        self.physical_line(cycles) / 2
    }

    /// Cycle in the frame of `cycles` at which the compared line begins.
    fn compare_cycle(&self, frame: u64) -> u64 {
        let line = u64::from(self.raster_compare) * 2;
        frame * self.frame_cycles() + (line * self.frame_cycles()).div_ceil(self.lines())
    }

    /// Sets the raster flag where the compared line has been passed.
    pub fn sync(&mut self, cycles: u64) {
        let frame = self.frame(cycles);
        if u64::from(self.raster_compare) * 2 >= self.lines() {
            return;
        }
        let reached = if cycles >= self.compare_cycle(frame) { frame + 1 } else { frame };
        if reached > self.compared_frame {
            self.compared_frame = reached;
            self.registers[usize::from(IRQ)] |= 1;
        }
    }

    /// True while the interrupt line is active.
    pub fn interrupt(&self) -> bool {
        self.raw(IRQ) & self.raw(IRQ_ENABLE) & 0x0f != 0
    }

    /// Cycle of the next raster interrupt, if enabled.
    pub fn next_event(&self, cycles: u64) -> Option<u64> {
        let possible = u64::from(self.raster_compare) * 2 < self.lines();
        (self.raw(IRQ_ENABLE) & 1 != 0 && !self.interrupt() && possible).then(|| {
            let at = self.compare_cycle(self.compared_frame);
            if at > cycles { at } else { self.compare_cycle(self.frame(cycles) + 1) }
        })
    }

    /// The 8-bit frame counter `$D7FA`.
    pub fn frame_counter(&self, cycles: u64) -> u8 {
        self.frame(cycles).wrapping_sub(self.frame_base) as u8
    }

    /// Zeroes the frame counter, as the return from a trap does.
    pub fn zero_frame_counter(&mut self, cycles: u64) {
        self.frame_base = self.frame(cycles);
    }

    /// Reads a register of `$D000-$D07F`.
    pub fn read(&mut self, register: u8, cycles: u64) -> u8 {
        match register {
            CONTROL_1 => self.raw(CONTROL_1) & 0x7f | ((self.line(cycles) >> 8) as u8) << 7,
            RASTER => self.line(cycles) as u8,
            CONTROL_2 => self.raw(CONTROL_2) | 0xc0,
            MEMORY => self.raw(MEMORY) | 1,
            IRQ => {
                self.sync(cycles);
                self.raw(IRQ) | 0x70 | if self.interrupt() { 0x80 } else { 0 }
            }
            IRQ_ENABLE => self.raw(IRQ_ENABLE) | 0xf0,
            0x1e | 0x1f => 0,
            0x52 => self.physical_line(cycles) as u8,
            0x53 => (self.physical_line(cycles) >> 8) as u8 & 7,
            _ => self.raw(register),
        }
    }

    /// Writes a register of `$D000-$D07F`.
    pub fn write(&mut self, register: u8, value: u8, cycles: u64) {
        self.sync(cycles);
        let cell = &mut self.registers[usize::from(register) % REGISTERS];
        match register {
            IRQ => *cell &= !value,
            RASTER => self.set_compare(self.raster_compare & 0x100 | u16::from(value), cycles),
            0x52 | 0x53 => {}
            _ => *cell = value,
        }
        if register == CONTROL_1 {
            self.set_compare(self.raster_compare & 0xff | u16::from(value >> 7) << 8, cycles);
        }
        if matches!(register, CONTROL_1 | CONTROL_2 | MEMORY | CONTROL_B) {
            self.hot_write();
        }
    }

    fn set_compare(&mut self, line: u16, cycles: u64) {
        self.raster_compare = line;
        let frame = self.frame(cycles);
        self.compared_frame = if cycles >= self.compare_cycle(frame) { frame + 1 } else { frame };
    }

    /// The video bank bits of CIA 2 were written.
    pub fn set_bank(&mut self, bank: u8) {
        self.bank = bank & 3;
        self.hot_write();
    }

    fn hot_write(&mut self) {
        if self.raw(HOT) & 0x80 != 0 {
            self.recompute();
        }
    }

    /// Geometry and pointers from the old registers.
    fn recompute(&mut self) {
        let control_b = self.raw(CONTROL_B);
        let (h640, v400) = (control_b & H640 != 0, control_b & V400 != 0);
        let columns: u16 = if h640 { 80 } else { 40 };
        let step = if self.wide_cells() { columns * 2 } else { columns };
        let memory = self.raw(MEMORY);
        let bank = u16::from(self.bank) << 14;
        // With 640 pixels the screen lies at a multiple of 2 KB.
        let screen_bits = if h640 { memory & 0xe0 } else { memory & 0xf0 };
        let screen = bank | u16::from(screen_bits) << 6;
        let charset = bank | u16::from(memory & 0x0e) << 10;
        let sprites = screen + if h640 { 0x7f8 } else { 0x3f8 };
        let r = &mut self.registers;
        let mut set = |at: u8, value: u16| {
            let at = usize::from(at);
            [r[at], r[at + 1]] = value.to_le_bytes();
        };
        set(LINE_STEP, step);
        set(SCREEN, screen);
        set(COLOUR, 0);
        set(CHARSET, charset);
        set(SPRITE_POINTERS, sprites);
        r[0x62] = 0;
        r[0x63] = 0;
        r[0x6a] = 0;
        r[0x6e] &= 0x80;
        r[usize::from(COLUMNS)] = columns as u8;
        r[usize::from(SCALE_Y)] = u8::from(!v400);
        r[usize::from(ROWS)] = if v400 { 49 } else { 24 };
    }
}

/// Sixteen familiar colours, sixteen brighter ones, then a cube.
fn default_palette() -> Box<[[u8; 3]]> {
    const FIRST: [[u8; 3]; 16] = [
        [0x00, 0x00, 0x00],
        [0xff, 0xff, 0xff],
        [0xb0, 0x28, 0x28],
        [0x58, 0xd0, 0xd8],
        [0xb0, 0x38, 0xc0],
        [0x38, 0xb8, 0x40],
        [0x28, 0x30, 0xb8],
        [0xf0, 0xe0, 0x48],
        [0xc8, 0x70, 0x20],
        [0x78, 0x48, 0x10],
        [0xf0, 0x78, 0x78],
        [0x48, 0x48, 0x48],
        [0x80, 0x80, 0x80],
        [0x88, 0xf0, 0x88],
        [0x78, 0x80, 0xf8],
        [0xb8, 0xb8, 0xb8],
    ];
    let entry = |n: u8| match n {
        0..16 => FIRST[usize::from(n)],
        16..32 => FIRST[usize::from(n - 16)].map(|c| c / 2 + 0x80),
        _ => [(n >> 5) * 36, (n >> 2 & 7) * 36, (n & 3) * 85],
    };
    (0..4).flat_map(|_| (0..=255).map(entry)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hot_registers_reset_the_geometry() {
        let mut vic = Vic::new();
        assert_eq!((vic.columns(), vic.rows(), vic.line_step()), (80, 25, 80));
        assert_eq!((vic.screen_address(), vic.charset_address()), (0x800, 0x1000));
        vic.write(CONTROL_B, 0xe8, 0);
        assert_eq!((vic.rows(), vic.raw(SCALE_Y)), (50, 0));
        for (register, value) in [(0x60, 0x34), (0x61, 0x12), (0x62, 5), (0x58, 90)] {
            vic.write(register, value, 0);
        }
        assert_eq!((vic.screen_address(), vic.line_step()), (0x5_1234, 90));
        vic.write(CONTROL_B, 0xe8, 0);
        assert_eq!((vic.screen_address(), vic.line_step()), (0x800, 80), "same value, still hot");
        vic.write(HOT, 0, 0);
        vic.write(0x60, 0x34, 0);
        vic.write(CONTROL_B, 0x60, 0);
        assert_eq!((vic.screen_address(), vic.columns()), (0x834, 80), "not hot any more");
    }

    #[test]
    fn raster_flag_once_a_frame() {
        let mut vic = Vic::new();
        vic.write(RASTER, 100, 0);
        vic.write(IRQ, 0xff, 0);
        vic.write(IRQ_ENABLE, 1, 0);
        let due = vic.next_event(0).unwrap();
        assert_eq!(vic.read(RASTER, due), 100);
        assert_eq!(vic.read(RASTER, due - 1), 99);
        vic.sync(due - 1);
        assert!(!vic.interrupt());
        vic.sync(due);
        assert!(vic.interrupt());
        vic.write(IRQ, 1, due);
        assert!(!vic.interrupt());
        assert_eq!(vic.next_event(due).unwrap(), due + vic.frame_cycles());
    }

    #[test]
    fn frames_last_a_fiftieth() {
        let vic = Vic::new();
        assert_eq!(vic.frame_cycles() * 50, CPU_HZ);
        assert_eq!(vic.frame_counter(CPU_HZ), 50);
    }
}
