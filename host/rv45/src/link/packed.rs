//! A PRG that expands itself.

use super::{FILE_END, LOAD, LinkError, start};
use crate::asm::{AssembleError, Item, Layout, Parser, Sequence, Symbols};
use crate::pack;

/// Where the stream is expanded to, behind where initialised data will go: the stack and .bss are not in use yet.
pub const STAGE: u32 = 0x4_4000;
/// First address of data.
const DATA: u32 = 0x4_0000;
/// End of the room for it.
const STAGE_END: u32 = 0x5_FF00;

/// A file that expands `image` (bytes from the load address on, then the payload) to [`STAGE`],
/// moves its first `main` bytes to the load address and starts at `entry`. `data` bytes of it go to where data begin.
///
/// # Errors
/// [`LinkError::Packed`] when even so it is too large.
pub fn file(image: &[u8], main: usize, data: usize, entry: u16) -> Result<Vec<u8>, LinkError> {
    let stream = pack::compress(image);
    let loader = loader(main, entry)?;
    let length = loader.len() + stream.len();
    let end = u32::from(LOAD) + length as u32;
    if end > FILE_END || STAGE + image.len() as u32 > STAGE_END || DATA + data as u32 > STAGE {
        return Err(LinkError::Packed { image: image.len(), packed: length });
    }
    Ok([LOAD.to_le_bytes().to_vec(), loader, stream].concat())
}

fn loader(main: usize, entry: u16) -> Result<Vec<u8>, LinkError> {
    let mut symbols = Symbols::default();
    let mut parser = Parser::new(&mut symbols);
    for (name, value) in [
        ("MAIN_LEN", main as i64),
        ("STAGE", STAGE.into()),
        ("LOAD", LOAD.into()),
        ("START", entry.into()),
        ("BASE_PAGE", crate::lower::cells::BASE_PAGE.into()),
    ] {
        parser.define(name, value);
    }
    let routines = parser.parse(include_str!("../runtime/unpack.s"))?;
    let mut items = vec![Item::Bytes(start::stub())];
    items.extend(routines.into_iter().flat_map(|r| r.items));
    let layout = Layout::new(&[Sequence { start: Some(LOAD), items: &items }], &symbols)?;
    Ok(layout.encode(0, &items, &symbols)?)
}

impl From<AssembleError> for LinkError {
    fn from(error: AssembleError) -> Self {
        match error {
            AssembleError::Text(e) => LinkError::Runtime(e),
            AssembleError::Layout(e) => LinkError::Layout(e),
        }
    }
}
