//! Reading a linked 32-bit little-endian RISC-V ELF that kept its relocations.

use thiserror::Error;

/// Why a file is not a usable ELF.
#[derive(Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ElfError {
    /// Not an ELF, or of another kind.
    #[error("not a 32-bit little-endian RISC-V ELF: {0}")]
    Kind(&'static str),
    /// A header points outside the file.
    #[error("{what} at byte {offset} lies outside the file of {len} bytes")]
    Outside {
        /// Which structure.
        what: &'static str,
        /// Where it should be.
        offset: u64,
        /// Length of the file.
        len: usize,
    },
    /// A field has a value that no such file has.
    #[error("{what} is {value}, expected {expected}; link the program again")]
    Field {
        /// Which field.
        what: &'static str,
        /// What it holds.
        value: u64,
        /// What it may hold.
        expected: &'static str,
    },
    /// An index or a name does not exist.
    #[error("{what} refers to entry {index}, which does not exist")]
    Dangling {
        /// Which structure.
        what: &'static str,
        /// The entry.
        index: u32,
    },
}

/// A section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Its name.
    pub name: String,
    /// Address of its first byte.
    pub addr: u32,
    /// Size in memory.
    pub size: u32,
    /// True for executable sections.
    pub code: bool,
    /// True where the section is in memory at run time.
    pub alloc: bool,
    /// Contents; empty for .bss.
    pub data: Vec<u8>,
}

impl Section {
    /// True when `addr` lies in the section.
    pub fn contains(&self, addr: u32) -> bool {
        addr.wrapping_sub(self.addr) < self.size
    }
}

/// A symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// Its address.
    pub value: u32,
    /// Its size in bytes, 0 when unknown.
    pub size: u32,
    /// Its section (index into [`Elf::sections`]), where it lies in one.
    pub section: Option<usize>,
    /// False for symbols that nothing defines; absolute ones are defined without a section.
    pub defined: bool,
    /// True for functions.
    pub function: bool,
    /// True for global and weak symbols.
    pub global: bool,
}

/// A relocation that the linker has applied and kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reloc {
    /// Address of the place.
    pub addr: u32,
    /// Section of the place.
    pub section: usize,
    /// R_RISCV_* number.
    pub kind: u32,
    /// Index into [`Elf::symbols`].
    pub symbol: usize,
    /// Addend.
    pub addend: i32,
}

/// A linked program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Elf {
    /// Entry address.
    pub entry: u32,
    /// Sections, by their number in the file.
    pub sections: Vec<Section>,
    /// Symbols, by their number in the file.
    pub symbols: Vec<Symbol>,
    /// Relocations of sections that are in memory.
    pub relocs: Vec<Reloc>,
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn slice(&self, what: &'static str, offset: u64, len: u64) -> Result<&'a [u8], ElfError> {
        let outside = ElfError::Outside { what, offset, len: self.0.len() };
        let (Ok(start), Ok(size)) = (usize::try_from(offset), usize::try_from(len)) else { return Err(outside) };
        start.checked_add(size).and_then(|end| self.0.get(start..end)).ok_or(outside)
    }

    fn u16(&self, what: &'static str, offset: u64) -> Result<u16, ElfError> {
        let b = self.slice(what, offset, 2)?;
        Ok(u16::from_le_bytes([b[0], b[1]]))
    }

    fn u32(&self, what: &'static str, offset: u64) -> Result<u32, ElfError> {
        let b = self.slice(what, offset, 4)?;
        Ok(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    }
}

/// Longest name of a section or symbol. Names may share their bytes, so that without a limit many of them take the
/// square of the file's length.
const LONGEST_NAME: usize = 4096;
/// Bytes of an entry in the section table.
const SECTION_ENTRY: u16 = 40;

fn name_at(table: &[u8], offset: u32) -> Result<String, ElfError> {
    let tail = table.get(offset as usize..).ok_or(ElfError::Dangling { what: "a name", index: offset })?;
    let end = tail.iter().take(LONGEST_NAME + 1).position(|&b| b == 0).unwrap_or(tail.len());
    match tail.get(..end) {
        Some(name) if end <= LONGEST_NAME => Ok(String::from_utf8_lossy(name).into_owned()),
        _ => Err(ElfError::Field { what: "the length of a name", value: end as u64, expected: "4096 or less" }),
    }
}

struct RawSection {
    name: u32,
    kind: u32,
    flags: u32,
    addr: u32,
    offset: u32,
    size: u32,
    link: u32,
    info: u32,
}

const SHT_SYMTAB: u32 = 2;
const SHT_RELA: u32 = 4;
const SHT_NOBITS: u32 = 8;

impl Elf {
    /// Reads an ELF file.
    ///
    /// # Errors
    /// [`ElfError`] when it is of another kind or damaged.
    pub fn parse(file: &[u8]) -> Result<Elf, ElfError> {
        let r = Reader(file);
        let ident = r.slice("the header", 0, 16)?;
        if !ident.starts_with(b"\x7FELF") {
            return Err(ElfError::Kind("no ELF signature"));
        }
        if ident[4] != 1 || ident[5] != 1 {
            return Err(ElfError::Kind("64-bit or big-endian"));
        }
        if r.u16("the header", 18)? != 243 {
            return Err(ElfError::Kind("not for RISC-V"));
        }
        if r.u32("the header", 36)? & 1 != 0 {
            return Err(ElfError::Kind("compressed instructions; build for riscv32im"));
        }
        let raw = raw_sections(&r)?;
        let names = raw
            .get(usize::from(r.u16("the header", 50)?))
            .ok_or(ElfError::Dangling { what: "the header", index: 50 })?;
        let names = r.slice("section names", names.offset.into(), names.size.into())?;
        let mut elf = Elf { entry: r.u32("the header", 24)?, ..Elf::default() };
        let mut in_memory = 0;
        for section in &raw {
            let data = match section.kind {
                SHT_NOBITS | 0 => &[],
                _ => r.slice("a section", section.offset.into(), section.size.into())?,
            };
            let alloc = section.flags & 2 != 0;
            in_memory += if alloc { data.len() as u64 } else { 0 };
            if in_memory > file.len() as u64 {
                let what = "the size of all sections together";
                return Err(ElfError::Field { what, value: in_memory, expected: "what the file has" });
            }
            elf.sections.push(Section {
                name: name_at(names, section.name)?,
                addr: section.addr,
                size: section.size,
                code: section.flags & 4 != 0,
                alloc,
                data: if alloc { data.to_vec() } else { Vec::new() },
            });
        }
        if let Some(table) = raw.iter().find(|s| s.kind == SHT_SYMTAB) {
            elf.symbols = symbols(&r, table, &raw)?;
        }
        for table in raw.iter().filter(|s| s.kind == SHT_RELA) {
            elf.read_relocs(&r, table)?;
        }
        Ok(elf)
    }

    fn read_relocs(&mut self, r: &Reader<'_>, table: &RawSection) -> Result<(), ElfError> {
        let section = table.info as usize;
        let what = "a relocation";
        let place = self.sections.get(section).ok_or(ElfError::Dangling { what, index: table.info })?;
        if !place.alloc {
            return Ok(());
        }
        for i in 0..table.size / 12 {
            let at = u64::from(table.offset) + u64::from(i) * 12;
            let info = r.u32(what, at + 4)?;
            let symbol = (info >> 8) as usize;
            if symbol >= self.symbols.len() {
                return Err(ElfError::Dangling { what, index: info >> 8 });
            }
            self.relocs.push(Reloc {
                addr: r.u32(what, at)?,
                section,
                kind: info & 0xFF,
                symbol,
                addend: r.u32(what, at + 8)? as i32,
            });
        }
        Ok(())
    }

    /// The section that holds `addr` at run time.
    pub fn section_at(&self, addr: u32) -> Option<&Section> {
        self.sections.iter().find(|s| s.alloc && s.contains(addr))
    }

    /// The instruction word at `addr`.
    pub fn word(&self, addr: u32) -> Option<u32> {
        let section = self.section_at(addr)?;
        let at = addr.wrapping_sub(section.addr) as usize;
        let b = section.data.get(at..at.checked_add(4)?)?;
        Some(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    }
}

fn raw_sections(r: &Reader<'_>) -> Result<Vec<RawSection>, ElfError> {
    let what = "the section table";
    let (start, size, count) = (r.u32(what, 32)?, r.u16(what, 46)?, r.u16(what, 48)?);
    if count > 0 && size != SECTION_ENTRY {
        return Err(ElfError::Field { what: "e_shentsize", value: size.into(), expected: "40" });
    }
    let mut out = Vec::new();
    for i in 0..count {
        let at = u64::from(start) + u64::from(i) * u64::from(size);
        let f = |n: u64| r.u32(what, at + 4 * n);
        out.push(RawSection {
            name: f(0)?,
            kind: f(1)?,
            flags: f(2)?,
            addr: f(3)?,
            offset: f(4)?,
            size: f(5)?,
            link: f(6)?,
            info: f(7)?,
        });
    }
    Ok(out)
}

fn symbols(r: &Reader<'_>, table: &RawSection, raw: &[RawSection]) -> Result<Vec<Symbol>, ElfError> {
    let what = "the symbol table";
    let names = raw.get(table.link as usize).ok_or(ElfError::Dangling { what, index: table.link })?;
    let names = r.slice("symbol names", names.offset.into(), names.size.into())?;
    let mut out = Vec::new();
    for i in 0..table.size / 16 {
        let at = u64::from(table.offset) + u64::from(i) * 16;
        let info = r.slice(what, at + 12, 1)?[0];
        let section = usize::from(r.u16(what, at + 14)?);
        out.push(Symbol {
            name: name_at(names, r.u32(what, at)?)?,
            value: r.u32(what, at + 4)?,
            size: r.u32(what, at + 8)?,
            defined: section != 0,
            section: (section != 0 && section < raw.len()).then_some(section),
            function: info & 15 == 2,
            global: info >> 4 != 0,
        });
    }
    Ok(out)
}
