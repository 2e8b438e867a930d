//! Single operations and small functions on the emulated processor.

use super::*;
use rv45::asm::Symbols;
use rv45::front::Source;
use rv45::ir::{Function, Ir, Line, Placement};
use rv45::link::{Options, link_source};
use rv45::lower::cells::{BASE, cell};
use rv45::runtime::Runtime;
use rv45::rv::Reg;

/// A function under test, loaded and ready to be called.
pub struct Bench {
    machine: Machine,
    entry: u16,
    halt: u16,
    pub listing: String,
    pub size: u16,
}

pub fn line(op: Ir) -> Line {
    Line { addr: 0, op, label: None, text: format!("{op:?}") }
}

impl Bench {
    /// Translates `build`'s lines (labels come from the symbols it is given) as a function.
    pub fn new(options: &Options, placement: Placement, build: impl FnOnce(&mut Symbols) -> Vec<Line>) -> Bench {
        static ASSEMBLED: OnceLock<(Symbols, Runtime)> = OnceLock::new();
        let (symbols, runtime) = ASSEMBLED.get_or_init(|| {
            let mut symbols = Symbols::default();
            let runtime = Runtime::new(&mut symbols).unwrap();
            (symbols, runtime)
        });
        let mut symbols = symbols.clone();
        let label = symbols.named("under_test");
        let lines = build(&mut symbols);
        let function = Function {
            name: "under_test".into(),
            label,
            addr: 0,
            size: 4 * lines.len() as u32,
            placement,
            lines,
            address_taken: Vec::new(),
        };
        let source = Source { functions: vec![function], data: Vec::new(), pointers: Vec::new(), entry: label };
        let program = link_source(source, runtime, &mut symbols, options).unwrap();
        let mut machine = Machine::new(Model::R3);
        machine.load_prg(&program.prg).unwrap();
        let entry = program.map.address("under_test").unwrap();
        let size = program.map.code[0].size;
        let mut limit = 0;
        while machine.cpu.pc != entry {
            limit += 1;
            assert!(limit < 100_000, "start-up does not reach the program");
            machine.step();
        }
        machine.cpu.pull(&mut machine.board);
        machine.cpu.pull(&mut machine.board);
        Bench { machine, entry, halt: program.halt, listing: program.listing, size }
    }

    /// Calls the function with register contents; returns them and the cycles it took.
    pub fn call(&mut self, registers: &[u32; 32]) -> ([u32; 32], u64) {
        let m = &mut self.machine;
        let at = |r: u8| usize::from(BASE) + usize::from(cell(Reg(r)));
        for r in 0..32u8 {
            let value = if r == 0 { 0 } else { registers[usize::from(r)] };
            m.board.chip_ram_mut()[at(r)..at(r) + 4].copy_from_slice(&value.to_le_bytes());
        }
        let back = self.halt.wrapping_sub(1);
        m.cpu.push(&mut m.board, (back >> 8) as u8);
        m.cpu.push(&mut m.board, back as u8);
        m.cpu.pc = self.entry;
        let start = m.board.cycles;
        while m.cpu.pc != self.halt {
            m.step();
            assert!(m.board.cycles - start < 3_000_000, "no return, pc ${:04X}\n{}", m.cpu.pc, self.listing);
        }
        let cycles = m.board.cycles - start;
        let ram = m.board.chip_ram_mut();
        let out = std::array::from_fn(|r| {
            let at = at(r as u8);
            u32::from_le_bytes([ram[at], ram[at + 1], ram[at + 2], ram[at + 3]])
        });
        (out, cycles)
    }

    /// Writes to flat memory.
    pub fn poke(&mut self, addr: u32, bytes: &[u8]) {
        for (i, &b) in bytes.iter().enumerate() {
            self.machine.write_flat(addr + i as u32, b);
        }
    }

    /// Reads flat memory.
    pub fn peek(&mut self, addr: u32, len: u32) -> Vec<u8> {
        (0..len).map(|i| self.machine.read_flat(addr + i)).collect()
    }
}
