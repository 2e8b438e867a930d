//! Files: opening, reading sector by sector, loading whole.

use super::descriptor::Mode;
use super::options::EndOfFile;
use super::{Hdos, error};
use crate::board::Board;
use crate::cpu::{Bus, Cpu};

const SECTOR: u32 = 512;
/// Sectors that loadfile counts.
const MAX_SECTORS: u32 = 0x1_0000;

impl Hdos {
    /// Points a descriptor at the entry read last, and takes its length for the file to read.
    pub(super) fn take_entry(&mut self) -> Result<(), u8> {
        let (start, size) = (self.entry.cluster(), self.entry.size());
        // With all descriptors in use the current one is taken over.
        let _ = self.claim();
        let descriptor = self.descriptor()?;
        descriptor.used = true;
        descriptor.mode = Mode::File;
        descriptor.start = start;
        descriptor.rewind();
        self.bytes_remaining = size;
        Ok(())
    }

    pub(super) fn open_file(&mut self) -> Result<(), u8> {
        if self.entry.is_directory() {
            return Err(error::IS_DIRECTORY);
        }
        self.take_entry()
    }

    /// The trap readfile: the next sector to the buffer, the bytes that count in Y and X.
    pub(super) fn read_file(&mut self, cpu: &mut Cpu, board: &mut Board) -> Result<(), u8> {
        let count = self.bytes_remaining.min(SECTOR);
        [cpu.x, cpu.y] = (count as u16).to_le_bytes();
        if count == 0 {
            return match self.options.end_of_file {
                EndOfFile::CarryClear => Err(0),
                EndOfFile::CarrySet => Ok(()),
            };
        }
        self.bytes_remaining -= count;
        board.uncover_sector_buffer();
        self.read_current(board)?;
        // An early end of the chain shows in nothing but the code that is kept: the mark at its end is a cluster like
        // any other to the next call.
        if let Err(code) = self.next_sector(board) {
            self.error = code;
        }
        Ok(())
    }

    /// The trap loadfile: finds the name and copies the file to Z:Y:X above `base`, byte by byte. The
    /// address stays in its 16 MB.
    pub(super) fn load_file(&mut self, base: u32, cpu: &Cpu, board: &mut Board) -> Result<(), u8> {
        self.find_file(board)?;
        self.open_file()?;
        board.uncover_sector_buffer();
        let start = u32::from_le_bytes([cpu.x, cpu.y, cpu.z, 0]);
        for sector in 0..MAX_SECTORS {
            if let Err(code) = self.read_current(board) {
                self.close()?;
                return Err(code);
            }
            let count = self.bytes_remaining.min(SECTOR);
            self.copy_out(base, start.wrapping_add(sector * SECTOR), count, board);
            self.bytes_remaining -= count;
            if count < SECTOR || self.next_sector(board).is_err() {
                self.error = 0;
                return self.close();
            }
        }
        self.close()?;
        Err(error::FILE_TOO_LONG)
    }

    /// The hypervisor may write to the ROM area.
    fn copy_out(&mut self, base: u32, to: u32, count: u32, board: &mut Board) {
        let protected = std::mem::replace(&mut board.rom_write_protected, false);
        let before = board.cycles;
        let data = board.storage.sd_buffer;
        for (n, byte) in (0..count).zip(data) {
            board.write_flat(base | to.wrapping_add(n) & 0xff_ffff, byte);
        }
        board.cycles = before;
        board.rom_write_protected = protected;
        self.time += u64::from(count) * u64::from(self.options.copy_cycles);
    }
}
