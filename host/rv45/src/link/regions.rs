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

/// Places `pieces` behind the start-up code; `tail` ends the main image. Functions that do not fit
/// into main memory go to high memory where there is room.
///
/// # Errors
/// [`LinkError::TooLarge`] with the largest functions, and what [`Layout`] reports.
pub fn place(
    mut pieces: Vec<Piece>,
    begin: &[Item],
    tail: Piece,
    data: &[Data],
    main_end: u16,
    symbols: &Symbols,
) -> Result<Placed, LinkError> {
    let overlays = pieces.iter().any(|p| overlay_number(p.placement).is_some());
    loop {
        let mut ordered = chain::order(pieces.clone());
        ordered.push(tail.clone());
        ordered.sort_by_key(|p| rank(p.placement));
        let mut sequences = vec![Sequence { start: Some(super::LOAD), items: begin }];
        let mut last = 0;
        for piece in &ordered {
            let rank = rank(piece.placement);
            sequences.push(Sequence { start: (rank != last).then_some(HIGH), items: &piece.items });
            last = rank;
        }
        let layout = Layout::new(&sequences, symbols)?;
        let map = map::Map::new(&ordered, &layout, data);
        let end = end_of(&ordered, &layout, 0);
        let over = end.saturating_sub(u32::from(main_end));
        let high_used = end_of(&ordered, &layout, 1).saturating_sub(u32::from(HIGH));
        if over > 0 {
            if overlays || !spill(&mut pieces, &ordered, &map, over, HIGH_SIZE.saturating_sub(high_used)) {
                return Err(map.too_large("the code", end, main_end.into()));
            }
            continue;
        }
        for r in 1..=2 + OVERLAYS {
            let end = end_of(&ordered, &layout, r);
            if end > u32::from(HIGH) + HIGH_SIZE {
                let what = if r == 1 { "code in $E000-$FFF9" } else { "an overlay" };
                return Err(map.too_large(what, end, u32::from(HIGH) + HIGH_SIZE));
            }
        }
        return encode(ordered, layout, begin, symbols);
    }
}

/// Where the last piece of a region ends.
fn end_of(pieces: &[Piece], layout: &Layout, region: u8) -> u32 {
    match pieces.iter().rposition(|p| rank(p.placement) == region) {
        // A region may end exactly at 64 KB.
        Some(i) => layout.spans[i + 1].0 as u32 + u32::from(layout.spans[i + 1].1.wrapping_sub(layout.spans[i + 1].0)),
        None => 0,
    }
}

fn label_of(piece: &Piece) -> Option<Label> {
    match piece.items.first() {
        Some(Item::Label(label)) => Some(*label),
        _ => None,
    }
}

/// Moves functions of about `bytes` bytes to high memory: cold ones, then the largest others.
fn spill(pieces: &mut [Piece], ordered: &[Piece], map: &map::Map, bytes: u32, room: u32) -> bool {
    let sizes: HashMap<Label, u32> =
        ordered.iter().zip(&map.code).filter_map(|(p, e)| Some((label_of(p)?, u32::from(e.size)))).collect();
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
    moved > 0
}

fn encode(pieces: Vec<Piece>, layout: Layout, begin: &[Item], symbols: &Symbols) -> Result<Placed, LinkError> {
    let mut placed =
        Placed { main: layout.encode(0, begin, symbols)?, high: Vec::new(), overlays: Vec::new(), pieces, layout };
    for (i, piece) in placed.pieces.iter().enumerate() {
        let bytes = placed.layout.encode(i + 1, &piece.items, symbols)?;
        match (piece.placement, overlay_number(piece.placement)) {
            (Placement::High, _) => placed.high.extend(bytes),
            (_, Some(n)) => match placed.overlays.last_mut() {
                Some(last) if last.0 == n => last.1.extend(bytes),
                _ => placed.overlays.push((n, bytes)),
            },
            _ => placed.main.extend(bytes),
        }
    }
    Ok(placed)
}
