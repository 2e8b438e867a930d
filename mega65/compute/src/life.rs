//! The sign of life: a mark that moves along the end of the title's row, a place for each layer.

use crate::far::{fill, poke};

/// Last cells of the first row; screen as in `hw/vic.rs`.
const TRACK: u32 = 0x1_E000 + 80 - PLACES;
const PLACES: u32 = 8;
const BLANK: u8 = 0x20;
const POINT: u8 = 0x2E;
const MARK: u8 = 0x2A;

/// Shows that so many layers have been computed.
pub fn show(layers: u32) {
    fill(TRACK, POINT, PLACES);
    poke(TRACK + layers % PLACES, MARK);
}

/// Shows that nothing is computed.
pub fn clear() {
    fill(TRACK, BLANK, PLACES);
}
