//! A conversation with a model that writes no text: which earlier lines are like the new one.

use crate::commands::embed::embed;
use crate::out;
use anyhow::Result;
use ssnail_machine::Accelerator;
use std::io::Write;

/// Lines shown.
const BEST: usize = 3;

/// The lines so far, with their vectors at length 1.
#[derive(Default)]
pub struct Memories {
    lines: Vec<(String, Vec<f64>)>,
}

impl Memories {
    /// Shows the most similar earlier lines, then keeps the new one; `name` is the image's. An empty line does nothing.
    ///
    /// # Errors
    /// A refusal where the line is too long.
    pub fn compare(&mut self, accelerator: &mut Accelerator, name: &str, line: &str) -> Result<()> {
        let line = line.trim();
        if line.is_empty() {
            return Ok(());
        }
        let vector = unit(&embed(accelerator, name, line)?);
        let mut similar: Vec<(f64, &str)> =
            self.lines.iter().map(|(text, other)| (dot(&vector, other), text.as_str())).collect();
        similar.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut out = out::stdout();
        if similar.is_empty() {
            writeln!(out, "[stored; the next line is compared with it]")?;
        }
        for (cosine, text) in similar.into_iter().take(BEST) {
            writeln!(out, "{cosine:+.3}  {text}")?;
        }
        self.lines.push((line.to_owned(), vector));
        Ok(())
    }

    /// How many lines there are, in words.
    pub fn count(&self) -> String {
        format!("{} lines", self.lines.len())
    }
}

fn unit(vector: &[f32]) -> Vec<f64> {
    let norm = vector.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
    vector.iter().map(|&x| if norm > 0.0 { f64::from(x) / norm } else { 0.0 }).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
