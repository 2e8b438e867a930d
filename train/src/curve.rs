//! The loss curve as a picture.

use anyhow::{Context, Result};

const WIDTH: usize = 900;
const HEIGHT: usize = 480;
const LEFT: usize = 60;
const TOP: usize = 20;
const RIGHT: usize = 20;
const BOTTOM: usize = 50;
const INK: [u8; 3] = [40, 40, 40];
const GRID: [u8; 3] = [222, 222, 222];
const TRAIN: [u8; 3] = [150, 180, 225];
const HELD_OUT: [u8; 3] = [200, 60, 30];

/// Letters of three by five dots, five octal digits from top to bottom.
const FONT: [(char, u32); 26] = [
    ('0', 0o75557),
    ('1', 0o26227),
    ('2', 0o71747),
    ('3', 0o71717),
    ('4', 0o55711),
    ('5', 0o74717),
    ('6', 0o74757),
    ('7', 0o71122),
    ('8', 0o75757),
    ('9', 0o75717),
    ('.', 0o00002),
    ('-', 0o00700),
    ('a', 0o07577),
    ('d', 0o11757),
    ('e', 0o07747),
    ('g', 0o07571),
    ('h', 0o44755),
    ('i', 0o20222),
    ('l', 0o44447),
    ('n', 0o07555),
    ('o', 0o07557),
    ('p', 0o07574),
    ('r', 0o07444),
    ('s', 0o07617),
    ('t', 0o27222),
    ('u', 0o05557),
];

struct Canvas(Vec<u8>);

impl Canvas {
    fn dot(&mut self, x: usize, y: usize, colour: [u8; 3]) {
        if x < WIDTH
            && let Some(p) = self.0.get_mut((y * WIDTH + x) * 3..(y * WIDTH + x) * 3 + 3)
        {
            p.copy_from_slice(&colour);
        }
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: [u8; 3]) {
        let n = (to.0 - from.0).abs().max((to.1 - from.1).abs()).ceil().max(1.0);
        for i in 0..=n as usize {
            let t = i as f64 / n;
            let (x, y) = (from.0 + (to.0 - from.0) * t, from.1 + (to.1 - from.1) * t);
            self.dot(x.round() as usize, y.round() as usize, colour);
            self.dot(x.round() as usize, y.round() as usize + 1, colour);
        }
    }

    fn text(&mut self, x: usize, y: usize, text: &str, colour: [u8; 3]) {
        for (i, c) in text.chars().enumerate() {
            let bits = FONT.iter().find(|f| f.0 == c).map_or(0, |f| f.1);
            for dot in (0..15usize).filter(|d| bits >> (14 - d) & 1 == 1) {
                for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                    self.dot(x + i * 8 + dot % 3 * 2 + dx, y + dot / 3 * 2 + dy, colour);
                }
            }
        }
    }
}

/// Draws `log.csv` (step, training loss, held-out loss or nothing) as a PNG; the loss axis is logarithmic.
///
/// # Errors
/// When the log holds no point.
pub fn draw(log: &str) -> Result<Vec<u8>> {
    let mut lines: [Vec<(f64, f64)>; 2] = Default::default();
    for row in log.lines() {
        let fields: Vec<f64> = row.split(',').map(|f| f.parse().unwrap_or(f64::NAN)).collect();
        for (line, y) in lines.iter_mut().zip(fields.iter().skip(1)) {
            if let Some(x) = fields.first().filter(|_| y.is_finite()) {
                line.push((*x, *y));
            }
        }
    }
    let all = || lines.iter().flatten();
    let end = all().map(|p| p.0).fold(0.0, f64::max);
    let (low, high) = all().fold((f64::MAX, 0.0f64), |(l, h), p| (l.min(p.1), h.max(p.1)));
    anyhow::ensure!(end > 0.0 && low > 0.0, "the log holds no losses");
    let (low, high) = (low * 0.95, high * 1.05);
    let place = |(step, loss): (f64, f64)| {
        let x = LEFT as f64 + (WIDTH - LEFT - RIGHT) as f64 * step / end;
        let y = (HEIGHT - BOTTOM) as f64 - (HEIGHT - TOP - BOTTOM) as f64 * (loss / low).ln() / (high / low).ln();
        (x, y)
    };
    let mut canvas = Canvas(vec![255; WIDTH * HEIGHT * 3]);
    for loss in
        [0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0].into_iter().filter(|l| (low..high).contains(l))
    {
        canvas.line(place((0.0, loss)), place((end, loss)), GRID);
        canvas.text(22, place((0.0, loss)).1 as usize - 4, &format!("{loss:.1}"), INK);
    }
    let every = [100.0, 250.0, 500.0, 1000.0, 2500.0].into_iter().find(|e| end / e <= 10.0).unwrap_or(5000.0);
    let mut step = 0.0;
    while step <= end {
        canvas.line(place((step, low)), place((step, high)), GRID);
        canvas.text(place((step, low)).0 as usize - 12, HEIGHT - BOTTOM + 10, &format!("{step:.0}"), INK);
        step += every;
    }
    for (line, colour) in lines.iter().zip([TRAIN, HELD_OUT]) {
        for pair in line.windows(2) {
            if let [a, b] = pair {
                canvas.line(place(*a), place(*b), colour);
            }
        }
    }
    canvas.text(LEFT, HEIGHT - 18, "steps", INK);
    canvas.text(WIDTH - 300, TOP + 10, "loss on training stories", TRAIN);
    canvas.text(WIDTH - 300, TOP + 30, "loss on held-out stories", HELD_OUT);
    let mut png = Vec::new();
    let mut encoder = png::Encoder::new(&mut png, WIDTH as u32, HEIGHT as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header().and_then(|mut w| w.write_image_data(&canvas.0)).context("writing the picture")?;
    Ok(png)
}
