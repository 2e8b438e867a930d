//! Measuring in cycles of the 45GS02.

use ssnail_m65::Scenario;
use ssnail_m65::io::keyboard::Key;
use ssnail_shared::runtime::GENERATED;

/// Cycles in a second.
pub const HERTZ: u64 = 40_500_000;
/// Cycles between two looks.
const GRAIN: u64 = 500;

/// Runs until `done`, at most `limit` cycles; the cycles that passed.
pub fn until(scenario: &mut Scenario, limit: u64, mut done: impl FnMut(&mut Scenario) -> bool) -> u64 {
    let start = scenario.machine.board.cycles;
    while !done(scenario) {
        let now = scenario.machine.board.cycles;
        assert!(now < start + limit, "nothing came:\n{}", crate::scenario::shown(scenario));
        scenario.machine.run_until(now + GRAIN);
    }
    scenario.machine.board.cycles - start
}

/// Whether a job runs.
pub fn busy(scenario: &Scenario) -> bool {
    scenario.machine.board.expansion.accelerator.device().busy()
}

/// Tokens that the running job has published.
pub fn generated(scenario: &Scenario) -> u32 {
    let bytes = ssnail_m65::scenario::dump(&scenario.machine, GENERATED, 4).expect("the runtime block");
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

/// Screen codes of some rows.
pub fn rows(scenario: &Scenario, rows: std::ops::Range<usize>) -> Vec<u8> {
    let vic = &scenario.machine.board.vic;
    let (start, step) = (vic.screen_address() as usize, vic.line_step() as usize);
    scenario.machine.board.chip_ram()[start + rows.start * step..start + rows.end * step].to_vec()
}

/// Presses a key now.
pub fn press(scenario: &mut Scenario, ascii: u8) {
    scenario.machine.board.keyboard.press(Key { ascii, petscii: ascii, modifiers: 0 });
}

/// Cycles as milliseconds.
pub fn milliseconds(cycles: u64) -> f64 {
    cycles as f64 * 1000.0 / HERTZ as f64
}
