//! The screen as a picture: text, border, sprites.

use super::{Cell, Screen, chip, glyph};
use crate::board::Board;
use crate::io::vic::register;

const BORDER_X: usize = 40;
const BORDER_Y: usize = 32;
const TEXT_WIDTH: usize = 640;
const TEXT_HEIGHT: usize = 400;
const WIDTH: usize = TEXT_WIDTH + 2 * BORDER_X;
const HEIGHT: usize = TEXT_HEIGHT + 2 * BORDER_Y;
/// VIC-II coordinates of the top left text pixel.
const SPRITE_X: i32 = 24;
const SPRITE_Y: i32 = 50;

/// An RGB picture.
struct Canvas {
    pixels: Vec<u8>,
}

impl Canvas {
    fn set(&mut self, x: usize, y: usize, colour: [u8; 3]) {
        if x < WIDTH && y < HEIGHT {
            let at = (y * WIDTH + x) * 3;
            self.pixels[at..at + 3].copy_from_slice(&colour);
        }
    }

    fn fill(&mut self, x: usize, y: usize, width: usize, height: usize, colour: [u8; 3]) {
        for row in y..y + height {
            for column in x..x + width {
                self.set(column, row, colour);
            }
        }
    }
}

/// A picture of 720x464 pixels as PNG file: the text area with its border and sprites.
///
/// # Errors
/// Those of the encoder.
pub(super) fn png(screen: &Screen, board: &Board) -> Result<Vec<u8>, png::EncodingError> {
    let vic = &board.vic;
    let border = vic.text_colour(vic.raw(register::BORDER));
    let mut canvas = Canvas { pixels: border.repeat(WIDTH * HEIGHT) };
    canvas.fill(BORDER_X, BORDER_Y, TEXT_WIDTH, TEXT_HEIGHT, vic.text_colour(screen.background));
    draw_text(&mut canvas, screen, board);
    for n in (0..8).rev() {
        draw_sprite(&mut canvas, board, n);
    }
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, WIDTH as u32, HEIGHT as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header()?.write_image_data(&canvas.pixels)?;
    Ok(file)
}

fn draw_text(canvas: &mut Canvas, screen: &Screen, board: &Board) {
    let vic = &board.vic;
    let scale_x = if vic.raw(register::CONTROL_B) & 0x80 != 0 { 1 } else { 2 };
    let scale_y = usize::from(vic.raw(register::SCALE_Y)) + 1;
    for (n, cell) in screen.cells.iter().enumerate() {
        let x = n % screen.columns * 8 * scale_x;
        let y = n / screen.columns * 8 * scale_y;
        if x + 8 * scale_x > TEXT_WIDTH || y + 8 * scale_y > TEXT_HEIGHT {
            continue;
        }
        for (row, bits) in cell_rows(board, cell).into_iter().enumerate() {
            for column in 0..8 {
                if bits << column & 0x80 != 0 {
                    let bank = vic.raw(register::PALETTE_BANKS) >> if cell.alternate { 0 } else { 4 };
                    let colour = vic.colour(bank, cell.colour);
                    let left = BORDER_X + x + column * scale_x;
                    canvas.fill(left, BORDER_Y + y + row * scale_y, scale_x, scale_y, colour);
                }
            }
        }
    }
}

fn cell_rows(board: &Board, cell: &Cell) -> [u8; 8] {
    let mut rows = glyph(board, cell.code);
    if cell.underline {
        rows[7] = 0xff;
    }
    if cell.reverse {
        rows = rows.map(|r| !r);
    }
    rows
}

/// What the registers say about one sprite.
struct Sprite {
    x: i32,
    y: i32,
    data: u32,
    row_bytes: u32,
    height: u32,
    sixteen: bool,
    multi: bool,
    double_x: bool,
    double_y: bool,
}

fn sprite(board: &Board, n: u8) -> Option<Sprite> {
    let vic = &board.vic;
    let bit = |register: u8| vic.raw(register) >> n & 1 != 0;
    if !bit(0x15) {
        return None;
    }
    let list = vic.sprite_pointers();
    let pointer = if vic.raw(0x6e) & 0x80 != 0 {
        let at = list + 2 * u32::from(n);
        u32::from(chip(board, at)) | u32::from(chip(board, at + 1)) << 8
    } else {
        u32::from(chip(board, list + u32::from(n))) | u32::from(vic.bank) << 8
    };
    let wide = bit(0x57);
    Some(Sprite {
        x: i32::from(vic.raw(2 * n)) + if bit(0x10) { 256 } else { 0 },
        y: i32::from(vic.raw(2 * n + 1)),
        data: pointer * 64,
        row_bytes: if wide { 8 } else { 3 },
        height: if bit(0x55) { u32::from(vic.raw(0x56)) } else { 21 },
        sixteen: bit(0x6b),
        multi: bit(0x1c),
        double_x: bit(0x1d),
        double_y: bit(0x17),
    })
}

fn draw_sprite(canvas: &mut Canvas, board: &Board, n: u8) {
    let Some(s) = sprite(board, n) else {
        return;
    };
    let vic = &board.vic;
    let bank = vic.raw(register::PALETTE_BANKS) >> 2;
    let own = vic.raw(0x27 + n);
    let fine = vic.raw(register::CONTROL_C) & 0x10 != 0;
    let scale_x = if fine { 1 } else { 2 } * if s.double_x { 2 } else { 1 };
    let scale_y = 2 * if s.double_y { 2 } else { 1 };
    let bits = if s.sixteen {
        4
    } else if s.multi {
        2
    } else {
        1
    };
    let per_row = s.row_bytes * 8 / bits;
    for row in 0..s.height {
        for pixel in 0..per_row {
            let position = pixel * bits;
            let byte = chip(board, s.data + row * s.row_bytes + position / 8);
            let value = byte >> (8 - bits - position % 8) & ((1u32 << bits) - 1) as u8;
            let colour = match (value, s.sixteen, s.multi) {
                (0, ..) => continue,
                (v, true, _) => n * 16 + v,
                (1, _, true) => vic.raw(0x25),
                (3, _, true) => vic.raw(0x26),
                _ => own,
            };
            let width = scale_x * if s.multi && !s.sixteen { 2 } else { 1 };
            let x = BORDER_X as i32 + (s.x - SPRITE_X) * 2 + pixel as i32 * width;
            let y = BORDER_Y as i32 + (s.y - SPRITE_Y) * 2 + row as i32 * scale_y;
            if let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) {
                canvas.fill(x, y, width as usize, scale_y as usize, vic.colour(bank, colour));
            }
        }
    }
}
