//! Our side of `make bench`: holds images and measures on command, so that both sides can take turns.
//!
//! A command is a line on standard input, the answer a line of JSON on standard output. Times are in seconds.
//!
//! ```text
//! open IMAGE float|hardware THREADS    {"id": of this image, "bytes_per_token": that the core would read}
//! run ID PROMPT N                      {"prefill": PROMPT positions and the first token, "decode": the other N - 1}
//! times ID N                           {"times": of N tokens, each on its own}
//! close                                {} and all images are gone
//! read MB THREADS                      {"bytes_per_second": memory read, nothing else done}
//! load IMAGE                           {"seconds": through the load port, "bytes": of the file}
//! ```

use std::hint::black_box;
use std::io::{BufRead, Write};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use ssnail_machine::{Accelerator, Numerics, Options, Watch};

fn main() -> Result<()> {
    let mut images = Vec::new();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let answer = obey(&words, &mut images).with_context(|| line.clone())?;
        let mut out = std::io::stdout().lock();
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn obey(words: &[&str], images: &mut Vec<Accelerator>) -> Result<Value> {
    match *words {
        ["open", path, numerics, threads] => {
            let numerics = match numerics {
                "float" => Numerics::Float,
                "hardware" => Numerics::Hardware,
                _ => bail!("float or hardware"),
            };
            let options =
                Options { numerics, threads: threads.parse()?, max_instructions: u64::MAX, ..Options::default() };
            let mut image = Accelerator::open(path.as_ref(), &options, |_| {})?;
            let mut read =
                |n| -> Result<u64> { Ok(image.generate(&[TOKEN], n, &mut Clock::default())?.stats.bytes_read) };
            let bytes = (read(3)? - read(1)?) / 2;
            images.push(image);
            Ok(json!({ "id": images.len() - 1, "bytes_per_token": bytes }))
        }
        ["run", id, prompt, n] => {
            let image = images.get_mut(id.parse::<usize>()?).context("no such image")?;
            let prompt: Vec<u32> = (0..prompt.parse()?).map(|i| FIRST + i % SPREAD).collect();
            let (started, clock) = timed(image, &prompt, n.parse()?)?;
            let (first, last) = clock.tokens.first().zip(clock.tokens.last()).context("nothing generated")?;
            let (prefill, decode) = ((*first - started).as_secs_f64(), (*last - *first).as_secs_f64());
            Ok(json!({ "prefill": prefill, "decode": decode }))
        }
        ["times", id, n] => {
            let image = images.get_mut(id.parse::<usize>()?).context("no such image")?;
            let (started, clock) = timed(image, &[TOKEN], n.parse()?)?;
            let before = [started].into_iter().chain(clock.tokens.iter().copied());
            let times: Vec<f64> = before.zip(&clock.tokens).map(|(a, b)| (*b - a).as_secs_f64()).collect();
            Ok(json!({ "times": times }))
        }
        ["close"] => {
            images.clear();
            Ok(json!({}))
        }
        ["read", megabytes, threads] => Ok(json!({ "bytes_per_second": read(megabytes.parse()?, threads.parse()?) })),
        ["load", path] => {
            let file = std::fs::read(path)?;
            let start = Instant::now();
            black_box(Accelerator::load(&file, &Options::default(), |_| {})?);
            Ok(json!({ "seconds": start.elapsed().as_secs_f64(), "bytes": file.len() }))
        }
        _ => bail!("no such command"),
    }
}

/// Prompts are tokens from here on, so many different ones: ordinary text in every vocabulary that is measured.
const FIRST: u32 = 100;
const SPREAD: u32 = 200;
/// What is "generated" whatever the logits say: a run must not end early.
const TOKEN: u32 = 300;

/// Notes when tokens come.
#[derive(Default)]
struct Clock {
    tokens: Vec<Instant>,
}

impl Watch for Clock {
    fn token(&mut self, _token: u32) -> bool {
        self.tokens.push(Instant::now());
        true
    }

    fn choose(&mut self, _pos: u32, _logits: &[f32], largest: u32) -> u32 {
        black_box(largest);
        TOKEN
    }
}

fn timed(image: &mut Accelerator, prompt: &[u32], n: u32) -> Result<(Instant, Clock)> {
    let mut clock = Clock { tokens: Vec::with_capacity(n as usize) };
    let started = Instant::now();
    image.generate(prompt, n, &mut clock)?;
    ensure!(
        clock.tokens.len() == n as usize,
        "{} tokens instead of {n}: is the context too short?",
        clock.tokens.len()
    );
    Ok((started, clock))
}

/// Bytes per second that threads read from as much memory as a model has: the better of one stream and eight at a time.
fn read(megabytes: usize, threads: usize) -> f64 {
    const PASSES: usize = 5;
    let memory = vec![1u64; megabytes * 1_000_000 / 8];
    let parts: Vec<&[u64]> = memory.chunks(memory.len().div_ceil(threads.max(1))).collect();
    let rate = |one: fn(&[u64]) -> u64| {
        let start = Instant::now();
        thread::scope(|scope| {
            for part in &parts {
                scope.spawn(move || (0..PASSES).for_each(|_| _ = black_box(one(black_box(part)))));
            }
        });
        (PASSES * megabytes) as f64 * 1e6 / start.elapsed().as_secs_f64()
    };
    rate(streams::<1>).max(rate(streams::<8>))
}

fn streams<const N: usize>(memory: &[u64]) -> u64 {
    let length = memory.len() / N;
    let streams: [&[[u64; 16]]; N] = std::array::from_fn(|s| memory[s * length..][..length].as_chunks().0);
    let mut lanes = [0u64; 16];
    for i in 0..streams[0].len() {
        for stream in streams {
            for (lane, word) in lanes.iter_mut().zip(stream[i]) {
                *lane ^= word;
            }
        }
    }
    lanes.iter().fold(0, |a, b| a ^ b)
}
