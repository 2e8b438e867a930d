//! Where the cycles go: `profile SCENE`, with SCENE load, tokens, answer or sample, and a model.
#![allow(clippy::unwrap_used, missing_docs)]

use ssnail_m65::{Model, Scenario};
use ssnail_xemu_tests::bench::{HERTZ, busy, press, until};
use ssnail_xemu_tests::card::File;
use ssnail_xemu_tests::scenario::{Setup, Step, play};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Functions by overlay (0: none): start, end, name.
type Functions = Vec<(u8, u16, u16, String)>;

fn functions() -> Functions {
    let map = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../build/SSNAIL.map")).unwrap();
    map.lines()
        .filter_map(|l| {
            let (address, rest) = l.strip_prefix('$')?.split_once(' ')?;
            let address = u16::from_str_radix(address, 16).ok()?;
            let mut fields = rest.split_whitespace();
            let size: u16 = fields.next()?.parse().ok()?;
            let name = fields.nth(2)?.to_owned();
            let overlay = l.split_once("[Overlay(").and_then(|(_, n)| n[..1].parse::<u8>().ok()).map_or(0, |n| n + 1);
            Some((overlay, address, address + size, name))
        })
        .collect()
}

fn main() {
    let a: Vec<String> = std::env::args().collect();
    let image = if a[2].starts_with("vocab") {
        ssnail_xemu_tests::model::tiny_with_vocabulary(&a[2], "q8_0").unwrap()
    } else {
        ssnail_xemu_tests::model::image(&a[2], "keep").unwrap()
    };
    let mut s = Setup::with(Model::R3, &[File::new("/SSNAIL/MODEL.SSN", &image)]).start().unwrap();
    play(&mut s, &[Step::Expect("1 model", 300)]);
    if a[1] != "load" {
        play(&mut s, &[Step::Type("<RETURN>"), Step::Expect("/help lists", 3000)]);
        let keys = if a[1] == "sample" { "/temp 0.8<RETURN>/n 12<RETURN>" } else { "/greedy<RETURN>/n 30<RETURN>" };
        play(&mut s, &[Step::Type(keys), Step::Expect("at most", 300)]);
        s.frames(100);
        let text = "Once upon a time there was a little girl who lived near a big forest with her mother, two brothers \
             and a cat named Tom; every day they went out to play, and 12 of the 345 birds sang to them, didn't they";
        s.type_text(if matches!(a[1].as_str(), "tokens" | "sample") { text } else { "The" }).unwrap();
        s.frames(600);
    }
    let counts = Rc::new(RefCell::new(HashMap::<usize, (u64, u64)>::new()));
    watch(&mut s, counts.clone());
    press(&mut s, 13);
    let cycles = match a[1].as_str() {
        "load" => until(&mut s, 60 * HERTZ, |s| s.screen().contains("/help lists")),
        "tokens" => until(&mut s, 60 * HERTZ, |s| busy(s)),
        "sample" => {
            until(&mut s, 60 * HERTZ, |s| busy(s));
            // Sums of ten tokens.
            let mut sums = HashMap::<usize, (u64, u64)>::new();
            let mut cycles = 0;
            for _ in 0..10 {
                until(&mut s, HERTZ, |s| !busy(s));
                counts.borrow_mut().clear();
                cycles += until(&mut s, 100 * HERTZ, |s| busy(s));
                for (function, (cycles, calls)) in counts.borrow().iter() {
                    let sum = sums.entry(*function).or_default();
                    *sum = (sum.0 + cycles, sum.1 + calls);
                }
            }
            *counts.borrow_mut() = sums;
            cycles
        }
        _ => {
            until(&mut s, 60 * HERTZ, |s| busy(s));
            counts.borrow_mut().clear();
            until(&mut s, 60 * HERTZ, |s| !busy(s))
        }
    };
    let functions = functions();
    let mut list: Vec<_> = counts.borrow().iter().map(|(&i, &c)| (c, i)).collect();
    list.sort_unstable_by(|a, b| b.cmp(a));
    println!("{cycles} cycles");
    for ((cycles, count), i) in list.iter().take(40) {
        let name = functions.get(*i).map_or("elsewhere", |f| &f.3);
        println!("{cycles:9} {count:8} {name}");
    }
}

fn watch(s: &mut Scenario, counts: Rc<RefCell<HashMap<usize, (u64, u64)>>>) {
    let functions = functions();
    let mut index: Vec<Vec<usize>> = Vec::new();
    for overlay in 0..8u8 {
        let mut at = vec![usize::MAX; 0x1_0000];
        for (i, f) in functions.iter().enumerate() {
            if f.0 == overlay {
                at[usize::from(f.1)..usize::from(f.2)].fill(i);
            }
        }
        index.push(at);
    }
    let mut last = (usize::MAX, 0u64);
    s.machine.set_trace(move |cpu, board| {
        let (function, since) = last;
        let mut counts = counts.borrow_mut();
        let entry = counts.entry(function).or_default();
        entry.0 += board.cycles - since.min(board.cycles);
        let overlay = if cpu.pc >= 0xE000 { usize::from(board.chip_ram()[0x1EFD]) & 7 } else { 0 };
        let now = index[overlay][usize::from(cpu.pc)];
        if now != usize::MAX && functions[now].1 == cpu.pc {
            counts.entry(now).or_default().1 += 1;
        }
        last = (now, board.cycles);
    });
}
