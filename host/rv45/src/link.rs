//! Placing everything in memory: constants, code, data, start-up; the PRG.

mod assign;
mod constants;
mod error;
pub mod map;
mod options;
mod packed;
pub mod part;
mod payload;
pub mod regions;
mod room;
mod start;
mod thunks;

use crate::asm::{Item, Label, Symbols};
use crate::chain;
use crate::elf::Elf;
use crate::flow::live::Callees;
use crate::flow::whole;
use crate::flow::{self, heat::Heat};
use crate::front::{self, Source};
use crate::ir::{Function, Placement};
use crate::lower::{self, Pool, Style};
use crate::outline;
use crate::runtime::{HANDLER, Runtime};
use crate::rv::Reg;
pub use error::LinkError;
pub use options::Options;
use room::Room;

pub use part::LOAD;
/// End of the code that lies in main memory.
pub const MAIN_END: u16 = 0xD000;
/// End of what BASIC can load.
pub const FILE_END: u32 = 0xFF00;

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
    let mut handler = None;
    if options.silent_panics && !options.abort_on_panic {
        handler = silent_handler(&elf, &runtime, &symbols, options)?;
    }
    let short = options.abort_on_panic || handler.is_some();
    let mut source = front::read(&elf, &options.entry, handler, &mut symbols, &|name| runtime.redirect(name, short))?;
    let handler = source.functions.iter().find(|f| Some(f.addr) == handler).map(|f| f.label);
    if let Some(label) = handler {
        runtime.forward("rv_panic", label, &mut symbols);
    }
    source.functions.iter_mut().for_each(|f| flow::frames::simplify(f, options.checks));
    if options.decimal {
        crate::digits::replace(&elf, &mut source, handler, &|label| symbols.name(label));
    }
    link_source(source, &runtime, &mut symbols, options)
}

/// The address of the panic handler, if it does not look at what it is told: then panics need not tell it anything.
fn silent_handler(
    elf: &Elf,
    runtime: &Runtime,
    symbols: &Symbols,
    options: &Options,
) -> Result<Option<u32>, LinkError> {
    let Some(handler) = elf.symbols.iter().find(|s| s.function && s.defined && s.name.ends_with(HANDLER)) else {
        return Ok(None);
    };
    let mut symbols = symbols.clone();
    let source =
        front::read(elf, &options.entry, Some(handler.value), &mut symbols, &|name| runtime.redirect(name, false))?;
    let targets: Vec<Label> = source.pointers.iter().map(|p| p.target).collect();
    let callees = whole::analyse(&source.functions, &targets, source.entry, &|label| symbols.name(label));
    let looks = source
        .functions
        .iter()
        .find(|f| f.addr == handler.value)
        .is_none_or(|f| callees.reads.get(&f.label).is_none_or(|&reads| reads & flow::all(Reg::A0) != 0));
    Ok((!looks).then_some(handler.value))
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
    let stack_page = payload::stack_page(&data, options);
    let begin = match options.part {
        true => start::part(source.entry, stack_page, options, symbols),
        false => start::code(source.entry, halt, stack_page, options, symbols),
    };
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
    let prg = if options.part {
        if !payload.high.is_empty() || !payload.overlays.is_empty() || !files.is_empty() {
            return Err(built.placed.map.too_large("a part", built.placed.main_end(), MAIN_END.into()));
        }
        part::file(&code.main, &data, &payload.data)
    } else if options.compress || u32::from(LOAD) + length as u32 > FILE_END {
        let mut image = code.main;
        let main = image.len();
        let moved = built.table.fill(&payload, packed::STAGE + main as u32, &mut image, false);
        image.extend(moved);
        packed::file(&image, main, payload.data.len(), start)?
    } else {
        let mut image = code.main;
        let moved = built.table.fill(&payload, u32::from(LOAD) + image.len() as u32, &mut image, true);
        [LOAD.to_le_bytes().to_vec(), image, moved].concat()
    };
    let listing = map::listing(&built.placed.pieces, &built.placed.layout, symbols);
    Ok(Program { prg, start, halt, map: std::mem::take(&mut built.placed.map), listing, overlays: files })
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
        false => outline::Limits { bytes: 5, saving: 10 },
    };
    let mut shared = outline::outline(pieces, &|piece| piece.placement != Placement::Hot, limits, symbols);
    if !options.smallest {
        // Short runs are worth a call only where speed does not matter at all, and only if they are frequent.
        let limits = outline::Limits { bytes: 4, saving: 6 };
        shared.extend(outline::outline(pieces, &|piece| piece.placement == Placement::Cold, limits, symbols));
    }
    shared
}
