//! The block of kernels on the emulated processor, called as the program calls it.

use rv45::asm::assemble;
use ssnail_m65::{Machine, Model, Stop};

/// A block: its sources in the order in which they are assembled, and where its code must end.
pub struct Block {
    sources: &'static [&'static str],
    start: u16,
    end: u16,
}

/// Block 1: GEMV.
pub const MATRIX: Block = Block {
    sources: &["map", "matrix", "entry", "matrix-kernels", "float", "quantised", "halves", "quantise"],
    start: 0xE600,
    end: 0xF600,
};
/// Block 2: the rest.
pub const VECTOR: Block = Block {
    sources: &["map", "vectors", "entry", "vectors-kernels", "attention", "float", "vector", "reduce"],
    start: 0xE800,
    end: 0xF800,
};
const STUB: u16 = 0x2001;
const A0: usize = 0x1E20;
const PARAMETERS: u32 = 0x4_F000;

/// A machine with the block at $E000.
pub struct Bench {
    start: u16,
    pub machine: Machine,
    pub code: usize,
}

impl Bench {
    pub fn new(block: &Block) -> Self {
        let Block { sources, start, end } = block;
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../mega65/src/hw/kernels");
        let text: String = sources
            .iter()
            .map(|name| {
                let path = format!("{folder}/{name}.s");
                std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}")) + "\n"
            })
            .collect();
        let block = assemble(&text, *start).unwrap_or_else(|e| panic!("{e}"));
        let mut machine = Machine::new(Model::R3);
        let stub = "
            SEI
            LDA #$47
            STA $D02F
            LDA #$53
            STA $D02F
            LDA #65
            STA abs:$0000
            LDA #$35
            STA abs:$0001
            LDA #$44
            STA $D030
            LDA #0
            TAX
            TAY
            TAZ
            MAP
            EOM
            LDA #$1E
            TAB
            JSR ($1E30)
            LDA #0
            TAB
            STA $D6CF
            LDA #$42
            STA $D6CF";
        let stub = assemble(stub, STUB).unwrap();
        let ram = machine.board.chip_ram_mut();
        ram[usize::from(STUB)..][..stub.bytes.len()].copy_from_slice(&stub.bytes);
        ram[usize::from(*start)..][..block.bytes.len()].copy_from_slice(&block.bytes);
        let mut bench = Self { start: *start, machine, code: block.bytes.len() };
        assert!(start + block.bytes.len() as u16 <= *end, "{} bytes", block.bytes.len());
        assert_eq!(bench.call(0, &[]).0, 0);
        bench
    }

    /// Calls a kernel: what it returns, and its cycles.
    pub fn call(&mut self, kernel: u32, parameters: &[u32]) -> (u32, u64) {
        let bytes: Vec<u8> = parameters.iter().flat_map(|p| p.to_le_bytes()).collect();
        self.poke(PARAMETERS, &bytes);
        let m = &mut self.machine;
        for (i, word) in [u32::from(self.start) + kernel, PARAMETERS, 0, 0, u32::from(self.start)].iter().enumerate() {
            m.board.chip_ram_mut()[A0 + 4 * i..][..4].copy_from_slice(&word.to_le_bytes());
        }
        m.cpu.sp = 0x01F0;
        m.sys(STUB);
        let start = m.board.cycles;
        let stop = m.run_until(start + 400_000_000);
        assert_eq!(stop, Some(Stop::Exit(0)), "pc ${:04X}", m.cpu.pc);
        let result = m.board.chip_ram()[A0..A0 + 4].try_into().unwrap();
        (u32::from_le_bytes(result), m.board.cycles - start)
    }

    /// What the last kernel returned besides its status.
    pub fn second(&self) -> u32 {
        u32::from_le_bytes(self.machine.board.chip_ram()[A0 + 4..A0 + 8].try_into().unwrap())
    }

    pub fn poke(&mut self, address: u32, bytes: &[u8]) {
        bytes.iter().zip(address..).for_each(|(&b, a)| self.machine.write_flat(a, b));
    }

    pub fn poke_floats(&mut self, address: u32, values: &[f32]) {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.poke(address, &bytes);
    }

    pub fn floats(&mut self, address: u32, count: usize) -> Vec<f32> {
        (0..count as u32)
            .map(|i| f32::from_le_bytes([0, 1, 2, 3].map(|b| self.machine.read_flat(address + 4 * i + b))))
            .collect()
    }
}
