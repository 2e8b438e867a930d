//! Runs a PRG for some frames with typed keys and prints the screen.
use ssnail_m65::{Machine, Model, Scenario};
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let mut m = Machine::new(a[3].parse::<Model>().unwrap());
    m.load_prg(&std::fs::read(&a[1]).unwrap()).unwrap();
    let mut s = Scenario::new(m);
    s.type_text(a.get(4).map_or("", |s| s)).unwrap();
    let stop = s.frames(a[2].parse().unwrap());
    println!("{}", s.screen().text());
    println!("{stop:?} pc {:04X} cycles {}", s.machine.cpu.pc, s.machine.board.cycles);
}
