//! The portable executor of `shared` against the machine, over whole images: all of memory, to the bit.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::*;
use ssnail_machine::{Accelerator, Numerics, Options, Watch};
use ssnail_shared::exec::{Executor, Step, Work};
use ssnail_shared::map::{MEMORY_BASE, TOKENS};
use ssnail_shared::mem::{Memory, SliceMemory};
use ssnail_shared::runtime::{N_GENERATE, POS, PROMPT_LEN};

struct Quiet;
impl Watch for Quiet {}

const ROOM: usize = 4096;

#[test]
fn whole_runs_leave_the_same_memory() {
    let Some(manifest) = json("vectors/manifest.json") else { return };
    let mut done = 0;
    for run in manifest["runs"].as_array().unwrap().iter().filter(|r| r["mode"] == "hw") {
        let file = bytes(&format!("vectors/images/{}.ssnail", text(&run["image"]))).unwrap();
        let options = Options { numerics: Numerics::Hardware, threads: 1, ..Options::default() };
        let mut machine = Accelerator::load(&file, &options, |_| {}).unwrap();
        let prompt = words(&run["prompt_ids"]);
        let decoder = run["kind"] != "embedding";
        let n = if decoder { number(&run["n_generate"]).min(3) } else { 0 };
        let mut memory = SliceMemory::new(MEMORY_BASE, machine.machine().memory().as_bytes().to_vec());
        if decoder {
            machine.generate(&prompt, n, &mut Quiet).unwrap();
        } else {
            machine.embed(&prompt, &mut Quiet).unwrap();
        }
        for (i, id) in prompt.iter().enumerate() {
            memory.write_u32(TOKENS + 4 * i as u32, *id).unwrap();
        }
        for (address, value) in [(POS, 0), (PROMPT_LEN, prompt.len() as u32), (N_GENERATE, n)] {
            memory.write_u32(address, value).unwrap();
        }
        let (mut x, mut q) = ([0.0; ROOM], [0; ROOM]);
        let (mut scale, mut scores) = ([0.0; ROOM / 32], [0.0; ROOM]);
        let mut work = Work { x: &mut x, q: &mut q, scale: &mut scale, scores: &mut scores };
        let mut executor = Executor::default();
        while executor.step(&mut memory, &mut work).unwrap() != Step::Halt {}
        let got = memory.into_inner();
        let want = machine.machine().memory().as_bytes();
        let differ = got.iter().zip(want).position(|(a, b)| a != b);
        assert_eq!(differ, None, "{}: first difference at this offset", text(&run["image"]));
        done += 1;
    }
    assert!(done > 3, "only {done} runs");
}
