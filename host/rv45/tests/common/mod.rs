//! Test bench: programs built for RISC-V, run by the interpreter, by qemu and on the emulated MEGA65.
#![allow(dead_code, clippy::unwrap_used, clippy::panic, clippy::missing_docs_in_private_items)]

pub mod bench;

use rv45::elf::Elf;
use rv45::link::Program;
use rv45::rv::interp::{Cpu, Memory, Stop};
use ssnail_m65::{Machine, Model};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// What a program did.
#[derive(Debug, PartialEq, Eq, Clone)]
pub struct Outcome {
    pub output: String,
    pub exit: u8,
}

/// The folder of the linked test programs, built on first use; `None` where no compiler can be had.
pub fn programs() -> Option<&'static Path> {
    static DIR: OnceLock<Option<PathBuf>> = OnceLock::new();
    DIR.get_or_init(|| {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/programs/build.sh");
        let built = Command::new("sh").arg(script).output();
        match built {
            Ok(out) if out.status.success() => Some(PathBuf::from(String::from_utf8_lossy(&out.stdout).trim())),
            Ok(out) => {
                println!("skipped: no RISC-V compiler: {}", String::from_utf8_lossy(&out.stderr).trim());
                None
            }
            Err(e) => {
                println!("skipped: cannot run the build script: {e}");
                None
            }
        }
    })
    .as_deref()
}

/// The file of a test program.
pub fn program(name: &str) -> Option<Vec<u8>> {
    let path = programs()?.join(name);
    Some(std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())))
}

/// 2 MB from 0 (data, code, and a stack below the code), and attic RAM.
struct Flat(Vec<u8>, Vec<u8>);

/// Start of attic RAM.
const ATTIC: u32 = 0x800_0000;

impl Memory for Flat {
    fn load(&mut self, addr: u32) -> u8 {
        let (bank, at) = if addr < ATTIC { (&self.0, addr) } else { (&self.1, addr - ATTIC) };
        bank.get(at as usize).copied().unwrap_or(0)
    }
    fn store(&mut self, addr: u32, value: u8) {
        let (bank, at) = if addr < ATTIC { (&mut self.0, addr) } else { (&mut self.1, addr - ATTIC) };
        if let Some(b) = bank.get_mut(at as usize) {
            *b = value;
        }
    }
}

/// Runs the ELF in the interpreter.
pub fn interpret(file: &[u8]) -> Outcome {
    interpret_with(file, &[])
}

/// The same with bytes in attic RAM.
pub fn interpret_with(file: &[u8], attic: &[(u32, &[u8])]) -> Outcome {
    let elf = Elf::parse(file).unwrap();
    let mut memory = Flat(vec![0; 0x20_0000], vec![0; 0x80_0000]);
    for &(addr, bytes) in attic {
        memory.1[(addr - ATTIC) as usize..][..bytes.len()].copy_from_slice(bytes);
    }
    for section in elf.sections.iter().filter(|s| s.alloc) {
        memory.0[section.addr as usize..][..section.data.len()].copy_from_slice(&section.data);
    }
    let mut cpu = Cpu::new(elf.entry);
    cpu.x[2] = 0xF_FFF0;
    let mut output = Vec::new();
    loop {
        match cpu.run(&mut memory, 2_000_000_000) {
            Stop::Ecall if cpu.x[17] == 64 => {
                let (at, len) = (cpu.x[11] as usize, cpu.x[12] as usize);
                output.extend_from_slice(&memory.0[at..at + len]);
                cpu.x[10] = cpu.x[12];
            }
            Stop::Ecall if cpu.x[17] == 93 => {
                return Outcome { output: String::from_utf8_lossy(&output).into_owned(), exit: cpu.x[10] as u8 };
            }
            other => panic!("{other:?} at ${:X}", cpu.pc),
        }
    }
}

/// Runs the ELF in qemu, where there is one.
pub fn qemu(path: &Path) -> Option<Outcome> {
    let qemu = ["qemu-riscv32-static", "qemu-riscv32"]
        .into_iter()
        .find(|q| Command::new(q).arg("--version").output().is_ok_and(|o| o.status.success()))?;
    let out = Command::new(qemu).arg(path).output().unwrap();
    Some(Outcome { output: String::from_utf8_lossy(&out.stdout).into_owned(), exit: out.status.code()? as u8 })
}

/// Where the runtime writes output.
const LOG: u32 = 0x860_0000;
/// Where the runtime leaves the exit code and its mark.
const EXIT: u32 = 0x870_0000;

/// Runs a translated program; also the cycles it took.
pub fn emulate(program: &Program, limit: u64) -> (Outcome, u64) {
    emulate_with(program, limit, &[])
}

/// The same with bytes in attic RAM.
pub fn emulate_with(program: &Program, limit: u64, attic: &[(u32, &[u8])]) -> (Outcome, u64) {
    let mut machine = Machine::new(Model::R3);
    machine.load_prg(&program.prg).unwrap();
    for &(addr, bytes) in attic {
        bytes.iter().enumerate().for_each(|(i, &b)| machine.write_flat(addr + i as u32, b));
    }
    let mut until = 0;
    while machine.read_flat(EXIT + 1) != 0x5A {
        until += 20_000;
        if let Some(stop) = machine.run_until(until) {
            panic!("stopped: {stop} (pc ${:04X})", machine.cpu.pc);
        }
        if until > limit {
            let output: String =
                (0..400).map(|i| machine.read_flat(LOG + i)).take_while(|&b| b != 0).map(char::from).collect();
            panic!("no end after {limit} cycles, pc ${:04X}, output so far {output:?}", machine.cpu.pc);
        }
    }
    let cycles = machine.board.cycles;
    let end = u32::from_le_bytes(std::array::from_fn(|i| {
        machine.read_flat(u32::from(rv45::lower::cells::BASE) + u32::from(rv45::runtime::LOG) + i as u32)
    }));
    let output: Vec<u8> = (LOG..end).map(|a| machine.read_flat(a)).collect();
    let outcome = Outcome { output: String::from_utf8_lossy(&output).into_owned(), exit: machine.read_flat(EXIT) };
    (outcome, cycles)
}

/// Cycles of the first call of each function, by name, with all that it calls.
pub fn profile(program: &Program, names: &[&str], limit: u64) -> Vec<u64> {
    let mut machine = Machine::new(Model::R3);
    machine.load_prg(&program.prg).unwrap();
    names
        .iter()
        .map(|name| {
            let entry = program.map.address(name).unwrap_or_else(|| panic!("no {name} in the map"));
            while machine.cpu.pc != entry {
                machine.step();
                assert!(machine.board.cycles < limit, "{name} is not reached");
            }
            let start = machine.board.cycles;
            let (low, high) = (machine.cpu.pull(&mut machine.board), machine.cpu.pull(&mut machine.board));
            machine.cpu.push(&mut machine.board, high);
            machine.cpu.push(&mut machine.board, low);
            let back = u16::from_le_bytes([low, high]).wrapping_add(1);
            while machine.cpu.pc != back {
                machine.step();
                assert!(machine.board.cycles < limit, "{name} does not return");
            }
            machine.board.cycles - start
        })
        .collect()
}
