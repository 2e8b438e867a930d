//! Where code lies: main memory, the RAM under the KERNAL, and overlays that share its addresses.

use super::{LinkError, Piece, map};
use crate::asm::{Item, Label, Layout, Sequence, Symbols};
use crate::chain;
use crate::front::Data;
use crate::ir::Placement;
use std::collections::HashMap;

/// Code in $E000-$FFF9; the vectors follow.
pub const HIGH: u16 = 0xE000;
/// Size of that room and of an overlay.
pub const HIGH_SIZE: u32 = 0x1FFA;
/// Overlay `n` (from 1) lies here in chip RAM while it is not mapped.
pub const fn overlay_home(n: u8) -> u32 {
    0x1_2000 + (n as u32 - 1) * 0x2000
}
/// Overlays 1 to 6 end below the colour RAM's window.
pub const OVERLAYS: u8 = 6;

/// The number of the overlay that a function section means; `.text.ovl0` is overlay 1.
pub fn overlay_number(placement: Placement) -> Option<u8> {
    match placement {
        Placement::Overlay(n) => Some(n + 1),
        _ => None,
    }
}

/// Code with its addresses.
pub struct Placed {
    /// All pieces in the order of the layout: main memory, high memory, overlays.
    pub pieces: Vec<Piece>,
    /// Sequence 0 is start-up, piece `i` is sequence `i + 1`.
    pub layout: Layout,
    /// What lies where.
    pub map: map::Map,
}

/// The bytes of placed code.
#[derive(Debug, Default)]
pub struct Code {
    /// Bytes from the load address.
    pub main: Vec<u8>,
    /// Bytes from [`HIGH`].
    pub high: Vec<u8>,
    /// Overlays with their numbers.
    pub overlays: Vec<(u8, Vec<u8>)>,
}

fn rank(placement: Placement) -> u8 {
    match placement {
        Placement::High => 1,
        Placement::Overlay(n) => 2 + n,
        _ => 0,
    }
}

/// Places `pieces` behind the start-up code; `tail` ends the main image.
///
/// # Errors
/// What [`Layout`] reports.
pub fn place(
    pieces: Vec<Piece>,
    begin: &[Item],
    tail: Piece,
    data: &[Data],
    symbols: &Symbols,
) -> Result<Placed, LinkError> {
    let mut pieces = chain::order(pieces);
    pieces.push(tail);
    pieces.sort_by_key(|p| rank(p.placement));
    let mut sequences = vec![Sequence { start: Some(super::LOAD), items: begin }];
    let mut last = 0;
    for piece in &pieces {
        let rank = rank(piece.placement);
        sequences.push(Sequence { start: (rank != last).then_some(HIGH), items: &piece.items });
        last = rank;
    }
    let layout = Layout::new(&sequences, symbols)?;
    let map = map::Map::new(&pieces, &layout, data);
    Ok(Placed { pieces, layout, map })
}

impl Placed {
    /// End of main memory's code.
    pub fn main_end(&self) -> u32 {
        end_of(&self.pieces, &self.layout, 0)
    }

    /// Bytes used from $E000 up.
    pub fn high_used(&self) -> u32 {
        end_of(&self.pieces, &self.layout, 1).saturating_sub(u32::from(HIGH))
    }

    /// Sizes of the pieces by their labels.
    pub fn sizes(&self) -> HashMap<Label, u32> {
        let entries = self.pieces.iter().zip(&self.map.code);
        entries.filter_map(|(p, e)| Some((label_of(p)?, u32::from(e.size)))).collect()
    }

    /// # Errors
    /// [`LinkError::TooLarge`] where high memory or an overlay is too full.
    pub fn check_high(&self) -> Result<(), LinkError> {
        for r in 1..=2 + OVERLAYS {
            let end = end_of(&self.pieces, &self.layout, r);
            if end > u32::from(HIGH) + HIGH_SIZE {
                let what = if r == 1 { "code in $E000-$FFF9" } else { "an overlay" };
                return Err(self.map.too_large(what, end, u32::from(HIGH) + HIGH_SIZE));
            }
        }
        Ok(())
    }

    /// The bytes.
    ///
    /// # Errors
    /// What [`Layout::encode`] reports.
    pub fn encode(&self, begin: &[Item], symbols: &Symbols) -> Result<Code, LinkError> {
        let mut code = Code { main: self.layout.encode(0, begin, symbols)?, ..Code::default() };
        for (i, piece) in self.pieces.iter().enumerate() {
            let bytes = self.layout.encode(i + 1, &piece.items, symbols)?;
            match (piece.placement, overlay_number(piece.placement)) {
                (Placement::High, _) => code.high.extend(bytes),
                (_, Some(n)) => match code.overlays.last_mut() {
                    Some(last) if last.0 == n => last.1.extend(bytes),
                    _ => code.overlays.push((n, bytes)),
                },
                _ => code.main.extend(bytes),
            }
        }
        Ok(code)
    }
}

/// Where the last piece of a region ends.
fn end_of(pieces: &[Piece], layout: &Layout, region: u8) -> u32 {
    match pieces.iter().rposition(|p| rank(p.placement) == region) {
        Some(i) => layout.spans[i + 1].1,
        None => 0,
    }
}

/// The label that a piece begins with.
pub fn label_of(piece: &Piece) -> Option<Label> {
    match piece.items.first() {
        Some(Item::Label(label)) => Some(*label),
        _ => None,
    }
}

/// Moves functions of about `bytes` bytes to high memory: cold ones, then the largest others.
pub fn spill(pieces: &mut [Piece], sizes: &HashMap<Label, u32>, bytes: u32, room: u32) -> bool {
    let size = |p: &Piece| label_of(p).and_then(|l| sizes.get(&l)).copied().unwrap_or(0);
    let mut order: Vec<usize> = (0..pieces.len())
        .filter(|&i| matches!(pieces[i].placement, Placement::Normal | Placement::Cold) && pieces[i].movable)
        .collect();
    order.sort_by_key(|&i| (pieces[i].placement != Placement::Cold, std::cmp::Reverse(size(&pieces[i]))));
    let mut moved = 0;
    for i in order {
        let size = size(&pieces[i]);
        if moved + size <= room && moved < bytes {
            pieces[i].placement = Placement::High;
            moved += size;
        }
    }
    moved >= bytes
}
