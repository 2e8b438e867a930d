//! Placing everything in memory: constants, code, data, start-up; the PRG.

mod assign;
mod constants;
pub mod map;
mod packed;
mod payload;
pub mod regions;
mod start;
mod thunks;

use crate::asm::{Item, Label, LayoutError, Mnemonic, Mode, Symbols, TextError};
use crate::chain;
use crate::elf::{Elf, ElfError};
use crate::flow::heat::Heat;
use crate::flow::live::Callees;
use crate::flow::whole;
use crate::front::{self, CodePointer, Data, FrontError, Source};
use crate::ir::{Function, Placement};
use crate::lower::{self, Peepholes, Pool, Style};
use crate::outline;
use crate::runtime::Runtime;
use std::collections::HashSet;

/// First byte of the PRG in memory.
pub const LOAD: u16 = 0x2001;
/// End of the code that lies in main memory.
pub const MAIN_END: u16 = 0xD000;
/// End of what BASIC can load.
pub const FILE_END: u32 = 0xF700;

/// How a program is translated.
#[derive(Debug, Clone)]
pub struct Options {
    /// The function to start at.
    pub entry: String,
    /// What may be left out of the plain sequences.
    pub peepholes: Peepholes,
    /// Panics go to the routine `rv_panic` (an endless loop unless [`Options::assembly`] has another)
    /// instead of the panic handler; messages and their formatting vanish.
    pub abort_on_panic: bool,
    /// Detect stack overflow: after each prologue; the program ends in `rv_overflow` then.
    pub checks: bool,
    /// Compress the file even when it is small enough without.
    pub compress: bool,
    /// Overlays become files of their own, which the program loads before it calls into them, instead
    /// of being moved to their place from the PRG.
    pub overlay_files: bool,
    /// End of the code in main memory; what does not fit goes to $E000 up.
    pub main_end: u16,
    /// Everything but hot functions in the smallest form, several times slower.
    pub smallest: bool,
    /// Share repeated sequences.
    pub outline: bool,
    /// Functions (by part of their name) that are kept fast whatever their section says.
    pub hot: Vec<String>,
    /// Functions that are kept small.
    pub cold: Vec<String>,
    /// Sources of further hand-written routines (`.func NAME` each); they replace functions of the
    /// program and of the runtime that have the same name.
    pub assembly: Vec<String>,
    /// First address of the soft stack (it grows downwards, inside one 64 KB bank).
    pub stack_top: u32,
    /// Hardware stack: from just below this page down.
    pub hardware_stack_end: u16,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            entry: "main".into(),
            peepholes: Peepholes::ALL,
            abort_on_panic: false,
            checks: false,
            compress: false,
            overlay_files: false,
            main_end: MAIN_END,
            smallest: false,
            outline: true,
            hot: Vec::new(),
            cold: Vec::new(),
            assembly: Vec::new(),
            stack_top: 0x5_FFF0,
            hardware_stack_end: 0x1E00,
        }
    }
}

/// Why a program was not linked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// The ELF is damaged or of another kind.
    #[error(transparent)]
    Elf(#[from] ElfError),
    /// Something in it cannot be translated.
    #[error(transparent)]
    Front(#[from] FrontError),
    /// A hand-written routine has a mistake.
    #[error("hand-written routine: {0}")]
    Runtime(#[from] TextError),
    /// Addresses do not work out.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// A called function is neither in the ELF nor hand-written.
    #[error("`{0}` is called and neither defined in the program nor hand-written")]
    Undefined(String),
    /// The translator asked for an instruction that does not exist.
    #[error("`{function}` needs {mnemonic:?} in mode {mode:?}, which does not exist")]
    Encoding {
        /// Where.
        function: String,
        /// The mnemonic.
        mnemonic: Mnemonic,
        /// The mode.
        mode: Mode,
    },
    /// The code is too large for its place.
    #[error("{what} ends at ${end:X}, beyond ${limit:X}; the largest functions are {largest}")]
    TooLarge {
        /// Which part.
        what: &'static str,
        /// Where it would end.
        end: u32,
        /// Where it has to end.
        limit: u32,
        /// Names and sizes.
        largest: String,
    },
    /// Even compressed the file is too large.
    #[error("code and data of {image} bytes come to a file of {packed} bytes when compressed; BASIC loads 54,975")]
    Packed {
        /// Bytes of code and initialised data.
        image: usize,
        /// Bytes of the file.
        packed: usize,
    },
    /// Data lies where it cannot be.
    #[error("section {name} at ${addr:X} of {size} bytes is not in banks 4 and 5 below the stack (link with rv45.ld)")]
    Data {
        /// Section.
        name: String,
        /// Its address.
        addr: u32,
        /// Its size.
        size: u32,
    },
}

/// One piece of code with its name: a function or a hand-written routine.
#[derive(Debug, Clone)]
pub struct Piece {
    /// Its name.
    pub name: String,
    /// Where it is to lie.
    pub placement: Placement,
    /// Bytes in the ELF, 0 for hand-written routines.
    pub source_bytes: u32,
    /// False for what must stay in main memory.
    pub movable: bool,
    /// Its code.
    pub items: Vec<Item>,
}

/// A program ready to run.
#[derive(Debug, Clone)]
pub struct Program {
    /// The PRG file with its load address.
    pub prg: Vec<u8>,
    /// Address that SYS starts.
    pub start: u16,
    /// Address of the endless loop at the end.
    pub halt: u16,
    /// What lies where.
    pub map: map::Map,
    /// Source and result side by side.
    pub listing: String,
    /// Overlays that are not in the PRG: number, address in chip RAM, bytes.
    pub overlays: Vec<(u8, u32, Vec<u8>)>,
}

/// Translates the linked ELF in `file`.
///
/// # Errors
/// [`LinkError`] with the place of what is wrong.
pub fn link(file: &[u8], options: &Options) -> Result<Program, LinkError> {
    let elf = Elf::parse(file)?;
    let mut symbols = Symbols::default();
    let mut runtime = Runtime::new(&mut symbols)?;
    for text in &options.assembly {
        runtime.add(text, &mut symbols)?;
    }
    let source =
        front::read(&elf, &options.entry, &mut symbols, &|name| runtime.redirect(name, options.abort_on_panic))?;
    link_source(source, &runtime, &mut symbols, options)
}

/// Translates and links a program that was read (or made) as [`Source`].
///
/// # Errors
/// As [`link`].
pub fn link_source(
    source: Source,
    runtime: &Runtime,
    symbols: &mut Symbols,
    options: &Options,
) -> Result<Program, LinkError> {
    let mut pool = Pool::default();
    let heat = Heat::new(&source.functions, source.entry);
    let targets: Vec<Label> = source.pointers.iter().map(|p| p.target).collect();
    let callees = whole::analyse(&source.functions, &targets, source.entry, &|label| symbols.name(label));
    let mut pieces = translate(source.functions, source.entry, options, &callees, symbols, &mut pool)?;
    pieces.iter_mut().for_each(|p| chain::tail_calls(p, symbols));
    let shared = share(&mut pieces, options, symbols);
    pieces.extend(shared);
    pieces.iter_mut().for_each(|p| chain::tail_calls(p, symbols));
    chain::aliases(&mut pieces, &|p| p.name.starts_with("rv_shared_"));
    let constants = constants::place(&mut pieces, &pool);
    let halt = symbols.named("rv_halt");
    let data = payload::check(source.data, options)?;
    let begin = start::code(source.entry, halt, payload::stack_page(&data, options), options, symbols);
    let room = Room { begin: &begin, data: &data, constants: &constants, runtime, options };
    let mut built = room.fit(pieces, &source.pointers, &heat, symbols)?;
    let code = built.placed.encode(&begin, symbols)?;
    let mut payload = payload::Payload {
        data: payload::bytes(&data, &built.pointers, &built.placed.layout),
        high: code.high,
        ..Default::default()
    };
    let mut files = Vec::new();
    if options.overlay_files {
        files.extend(code.overlays.into_iter().map(|(n, bytes)| (n, regions::overlay_home(n), bytes)));
    } else {
        payload.overlays = code.overlays;
    }
    let (start, halt) = {
        let address = |label| built.placed.layout.address(label).unwrap_or(0);
        (address(symbols.named("rv_start")), address(halt))
    };
    let length = code.main.len() + payload.len();
    let prg = if options.compress || u32::from(LOAD) + length as u32 > FILE_END {
        let mut image = code.main;
        let main = image.len();
        let moved = built.table.fill(&payload, packed::STAGE + main as u32, &mut image, false);
        image.extend(moved);
        packed::file(&image, main, start)?
    } else {
        let mut image = code.main;
        let moved = built.table.fill(&payload, u32::from(LOAD) + image.len() as u32, &mut image, true);
        [LOAD.to_le_bytes().to_vec(), image, moved].concat()
    };
    let listing = map::listing(&built.placed.pieces, &built.placed.layout, symbols);
    Ok(Program { prg, start, halt, map: std::mem::take(&mut built.placed.map), listing, overlays: files })
}

/// What every attempt at placing the code has in common.
struct Room<'a> {
    begin: &'a [Item],
    data: &'a [Data],
    constants: &'a constants::Placed,
    runtime: &'a Runtime,
    options: &'a Options,
}

/// Code that was placed, with the pointers to it and the start-up's list.
struct Built {
    placed: regions::Placed,
    pointers: Vec<CodePointer>,
    table: payload::Table,
}

impl Room<'_> {
    /// One attempt: thunks, hand-written routines, addresses.
    fn build(
        &self,
        mut pieces: Vec<Piece>,
        mut pointers: Vec<CodePointer>,
        symbols: &mut Symbols,
    ) -> Result<Built, LinkError> {
        thunks::insert(&mut pieces, &mut pointers, symbols);
        let targets: Vec<Label> = pointers.iter().map(|p| p.target).collect();
        add_runtime(&mut pieces, self.begin, &targets, self.runtime, symbols)?;
        // The list's size must be known before addresses are, so it has a job for all there may be.
        let table = payload::Table::new(self.data, &overlay_numbers(&pieces), symbols);
        let constants = [self.constants.absolute_items.clone(), self.constants.image_items(symbols)].concat();
        let tail = Piece {
            name: "constants and the start-up's table".into(),
            placement: Placement::Normal,
            source_bytes: 0,
            movable: false,
            items: [constants, table.items()].concat(),
        };
        let placed = regions::place(pieces, self.begin, tail, self.data, symbols)?;
        Ok(Built { placed, pointers, table })
    }

    /// Places code so that it fits: in main memory, else with high memory, else with overlays.
    fn fit(
        &self,
        pieces: Vec<Piece>,
        pointers: &[CodePointer],
        heat: &Heat,
        symbols: &mut Symbols,
    ) -> Result<Built, LinkError> {
        let limit = u32::from(self.options.main_end.min(MAIN_END));
        let over = |built: &Built| built.placed.main_end().saturating_sub(limit);
        let mut built = self.build(pieces.clone(), pointers.to_vec(), symbols)?;
        let explicit = pieces.iter().any(|p| regions::overlay_number(p.placement).is_some());
        if over(&built) > 0 && !explicit {
            let mut moved = pieces.clone();
            let room = regions::HIGH_SIZE.saturating_sub(built.placed.high_used());
            if regions::spill(&mut moved, &built.placed.sizes(), over(&built) + 32, room) {
                built = self.build(moved, pointers.to_vec(), symbols)?;
            }
        }
        if over(&built) > 0 {
            let sizes = built.placed.sizes();
            let movable: u32 = built
                .placed
                .pieces
                .iter()
                .filter(|p| p.movable && matches!(p.placement, Placement::Normal | Placement::Cold))
                .filter_map(|p| sizes.get(&regions::label_of(p)?))
                .sum();
            let fixed = built.placed.main_end() - movable;
            let mut budget = limit.saturating_sub(fixed + 128);
            for _ in 0..6 {
                let mut moved = pieces.clone();
                if !assign::assign(&mut moved, &sizes, heat, budget) {
                    break;
                }
                let attempt = self.build(moved, pointers.to_vec(), symbols)?;
                let over = over(&attempt);
                if over == 0 {
                    built = attempt;
                    break;
                }
                budget = budget.saturating_sub(over + 32);
            }
        }
        if over(&built) > 0 {
            return Err(built.placed.map.too_large("the code", built.placed.main_end(), limit));
        }
        built.placed.check_high()?;
        Ok(built)
    }
}

fn overlay_numbers(pieces: &[Piece]) -> Vec<u8> {
    let mut list: Vec<u8> = pieces.iter().filter_map(|p| regions::overlay_number(p.placement)).collect();
    list.sort_unstable();
    list.dedup();
    list
}

fn translate(
    functions: Vec<Function>,
    entry: Label,
    options: &Options,
    callees: &Callees,
    symbols: &mut Symbols,
    pool: &mut Pool,
) -> Result<Vec<Piece>, LinkError> {
    let listed = |list: &[String], name: &str| list.iter().any(|part| name.contains(part.as_str()));
    let mut pieces = Vec::new();
    for mut function in functions {
        if listed(&options.hot, &function.name) {
            function.placement = Placement::Hot;
        } else if listed(&options.cold, &function.name) {
            function.placement = Placement::Cold;
        }
        let style = match function.placement {
            Placement::Hot => Style::Speed,
            Placement::Cold => Style::Tiny,
            _ if options.smallest => Style::Tiny,
            _ => Style::Size,
        };
        let out = lower::function(&mut function, style, (options.peepholes, options.checks), callees, symbols, pool);
        if let Some(&(mnemonic, mode)) = out.invalid.first() {
            return Err(LinkError::Encoding { function: function.name, mnemonic, mode });
        }
        pieces.push(Piece {
            name: function.name,
            placement: function.placement,
            source_bytes: function.size,
            movable: function.label != entry,
            items: out.items,
        });
    }
    Ok(pieces)
}

/// Outlines; constants are still symbols then, so that their place does not matter.
fn share(pieces: &mut [Piece], options: &Options, symbols: &mut Symbols) -> Vec<Piece> {
    if !options.outline {
        return Vec::new();
    }
    let limits = match options.smallest {
        true => outline::Limits { bytes: 4, saving: 2 },
        false => outline::Limits { bytes: 8, saving: 4 },
    };
    let eligible = |piece: &Piece| piece.placement != Placement::Hot;
    outline::outline(pieces, &eligible, limits, symbols)
}

/// Adds the hand-written routines that something refers to.
fn add_runtime(
    pieces: &mut Vec<Piece>,
    begin: &[Item],
    pointers: &[Label],
    runtime: &Runtime,
    symbols: &mut Symbols,
) -> Result<(), LinkError> {
    let mut defined: HashSet<Label> = HashSet::new();
    let mut todo: Vec<Label> = pointers.to_vec();
    let mut scan = |items: &[Item], todo: &mut Vec<Label>| {
        for item in items {
            match item {
                Item::Label(label) => {
                    defined.insert(*label);
                }
                Item::Inst(inst) => todo.extend(inst.operand.label()),
                Item::Word(label, _) => todo.push(*label),
                _ => {}
            }
        }
        todo.retain(|label| !defined.contains(label));
    };
    for piece in pieces.iter() {
        scan(&piece.items, &mut todo);
    }
    scan(begin, &mut todo);
    while let Some(label) = todo.pop() {
        let name = symbols.name(label);
        if name.starts_with("rv_const_") || name.starts_with("rv_table") {
            continue;
        }
        let items = runtime.routine(&name, symbols).ok_or(LinkError::Undefined(name.clone()))?;
        scan(&items, &mut todo);
        pieces.push(Piece { name, placement: Placement::Normal, source_bytes: 0, movable: false, items });
    }
    Ok(())
}
