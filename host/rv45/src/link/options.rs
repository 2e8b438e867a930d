//! How a program is translated.

use super::MAIN_END;
use crate::lower::Peepholes;

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
    /// Panic messages that the panic handler does not look at are left out, and what formats them.
    pub silent_panics: bool,
    /// Detect stack overflow: after each prologue; the program ends in `rv_overflow` then.
    pub checks: bool,
    /// Compress the file even when it is small enough without.
    pub compress: bool,
    /// Overlays become files of their own, which the program loads before it calls into them, instead
    /// of being moved to their place from the PRG.
    pub overlay_files: bool,
    /// A part of another program instead of one of its own: see [`super::part`].
    pub part: bool,
    /// End of the code in main memory; what does not fit goes to $E000 up.
    pub main_end: u16,
    /// Everything but hot functions in the smallest form, several times slower.
    pub smallest: bool,
    /// Share repeated sequences.
    pub outline: bool,
    /// Numbers that `core::fmt` prints get their digits from the hand-written routine.
    pub decimal: bool,
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
            silent_panics: true,
            checks: false,
            compress: false,
            overlay_files: false,
            part: false,
            main_end: MAIN_END,
            smallest: false,
            outline: true,
            decimal: true,
            hot: Vec::new(),
            cold: Vec::new(),
            assembly: Vec::new(),
            stack_top: 0x5_FFF0,
            hardware_stack_end: 0x1E00,
        }
    }
}
