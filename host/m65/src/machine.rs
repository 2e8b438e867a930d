//! The whole computer: CPU and board, interrupts and events between them.

use crate::board::{Board, Ended};
use crate::cpu::{Bus, Cpu, Exit};
use crate::hypervisor::{self, Hypervisor};
use crate::model::Model;
use crate::prg::{self, PrgError};

/// Why the machine stopped for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The program wrote an exit code to `$D6CF`.
    Exit(u8),
    /// The program returned to BASIC.
    Returned,
    /// A Q form without documented meaning.
    UndocumentedQ {
        /// Address of the first prefix byte.
        pc: u16,
        /// Opcode behind the prefix.
        opcode: u8,
    },
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exit(code) => write!(f, "the program ended with code {code}"),
            Self::Returned => f.write_str("the program returned to BASIC"),
            Self::UndocumentedQ { pc, opcode } => {
                write!(f, "undocumented Q form $42 $42 ${opcode:02X} at ${pc:04X}: machines differ in what it does")
            }
        }
    }
}

/// A MEGA65.
pub struct Machine {
    /// The processor.
    pub cpu: Cpu,
    /// Memory and devices.
    pub board: Board,
    hypervisor: Box<dyn Hypervisor>,
    nmi_line: bool,
    nmi_pending: bool,
    stopped: Option<Stop>,
    #[expect(clippy::type_complexity, reason = "one place")]
    trace: Option<Box<dyn FnMut(&Cpu, &Board)>>,
}

impl Machine {
    /// A machine as BASIC's `SYS` leaves it for a program, without ROM and without a card.
    pub fn new(model: Model) -> Self {
        let mut cpu = Cpu::new();
        let board = Board::new(model);
        cpu.mapping = board.mapping();
        let hypervisor = Box::new(crate::Hdos::default());
        Self { cpu, board, hypervisor, nmi_line: false, nmi_pending: false, stopped: None, trace: None }
    }

    /// Installs the handler of disk traps.
    pub fn set_hypervisor(&mut self, handler: Box<dyn Hypervisor>) {
        self.hypervisor = handler;
    }

    /// Puts a card into the slot and HDOS in front of it, as it is after booting.
    pub fn insert_card(&mut self, card: crate::io::card::Card, options: crate::hdos::Options) {
        self.board.storage.card = Some(card);
        self.set_hypervisor(Box::new(crate::Hdos::new(options)));
    }

    /// Calls `trace` before every instruction; makes the machine slow.
    pub fn set_trace(&mut self, trace: impl FnMut(&Cpu, &Board) + 'static) {
        self.trace = Some(Box::new(trace));
    }

    /// Loads a PRG file and prepares RUN: the address of the SYS line when it is a BASIC program,
    /// else the load address.
    ///
    /// # Errors
    /// See [`PrgError`].
    pub fn load_prg(&mut self, file: &[u8]) -> Result<(), PrgError> {
        let entry = prg::load(&mut self.board, file)?;
        self.sys(entry);
        Ok(())
    }

    /// Starts code at `entry` as `SYS` does.
    pub fn sys(&mut self, entry: u16) {
        let cpu = &mut self.cpu;
        cpu.pc = entry;
        // The address that RTS adds one to.
        let back = crate::board::RETURN_ADDRESS.wrapping_sub(1);
        cpu.push(&mut self.board, (back >> 8) as u8);
        cpu.push(&mut self.board, back as u8);
        self.stopped = None;
        self.board.ended = None;
    }

    /// Why the machine stopped, if it did.
    pub fn stopped(&self) -> Option<Stop> {
        self.stopped
    }

    /// Frames since the start.
    pub fn frame(&self) -> u64 {
        self.board.vic.frame(self.board.cycles)
    }

    /// Runs until `cycles` (since the start) have passed or the program stops.
    pub fn run_until(&mut self, cycles: u64) -> Option<Stop> {
        while self.stopped.is_none() && self.board.cycles < cycles {
            self.service();
            let next = self.next_event().min(cycles);
            self.board.set_deadline(if self.trace.is_some() { 0 } else { next });
            if let Some(trace) = &mut self.trace {
                trace(&self.cpu, &self.board);
            }
            if let Exit::UndocumentedQ { pc, opcode } = self.cpu.run(&mut self.board) {
                self.stopped = Some(Stop::UndocumentedQ { pc, opcode });
            }
            self.after_instruction();
        }
        self.board.expansion.accelerator.sync(self.board.cycles);
        self.stopped
    }

    /// Runs to the start of the next frame.
    pub fn run_frame(&mut self) -> Option<Stop> {
        let next = self.board.vic.next_frame(self.board.cycles);
        let stop = self.run_until(next);
        self.board.keyboard.frame();
        stop
    }

    /// Runs one instruction.
    pub fn step(&mut self) -> Option<Stop> {
        self.run_until(self.board.cycles + 1)
    }

    /// What instructions ask for that happens behind them.
    fn after_instruction(&mut self) {
        if std::mem::take(&mut self.board.inline_dma) {
            self.cpu.pc = self.board.run_inline_dma(self.cpu.pc);
        }
        if let Some(number) = self.board.trap.take() {
            hypervisor::run(&mut *self.hypervisor, number, &mut self.cpu, &mut self.board);
        }
        match self.board.ended {
            Some(Ended::Exit(code)) => self.stopped = Some(Stop::Exit(code)),
            Some(Ended::Returned) => self.stopped = Some(Stop::Returned),
            None => {}
        }
    }

    /// Brings devices up to date and delivers interrupts.
    fn service(&mut self) {
        let board = &mut self.board;
        let cycles = board.cycles;
        board.vic.sync(cycles);
        for cia in &mut board.cia {
            cia.sync(cycles);
        }
        let nmi = board.cia[1].interrupt();
        self.nmi_pending |= nmi && !self.nmi_line;
        self.nmi_line = nmi;
        let irq = board.vic.interrupt() || board.cia[0].interrupt();
        if self.nmi_pending && self.cpu.nmi(board) {
            self.nmi_pending = false;
        } else if irq {
            self.cpu.irq(board);
        }
    }

    fn next_event(&self) -> u64 {
        let board = &self.board;
        let cycles = board.cycles;
        let irq = board.vic.interrupt() || board.cia[0].interrupt();
        // An interrupt that could not be taken directly after a short instruction: try again.
        if self.nmi_pending && !self.cpu.interrupts_blocked || irq && self.cpu.irq_possible() {
            return cycles;
        }
        let events = [board.vic.next_event(cycles), board.cia[0].next_event(), board.cia[1].next_event()];
        events.into_iter().flatten().min().unwrap_or(u64::MAX).max(cycles + 1)
    }
}

impl Machine {
    /// Reads the flat memory as a program would, with side effects.
    pub fn read_flat(&mut self, address: u32) -> u8 {
        self.board.read_flat(address)
    }

    /// Writes the flat memory as a program would.
    pub fn write_flat(&mut self, address: u32, value: u8) {
        self.board.write_flat(address, value);
    }
}
