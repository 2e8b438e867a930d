//! Images made to do harm, on the golden model and on the portable executor: each gets the answer of the table.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../../host/convert/tests/common/adversarial.rs"]
mod adversarial;
#[path = "../../host/convert/tests/common/mod.rs"]
mod tiny;

use adversarial::{Answer, CASES};
use ssnail_convert::Options as Convert;
use ssnail_machine::{Accelerator, Fault as HostFault, Memory, Numerics, Options, RunError, image};
use ssnail_shared::caches;
use ssnail_shared::exec::{BLOCK, Executor, Step, Work};
use ssnail_shared::header::Header;
use ssnail_shared::map::{HEADER_LEN, MEMORY_BASE, PAYLOAD, TOKENS};
use ssnail_shared::mem::{Memory as _, ReadMemory, SliceMemory};
use ssnail_shared::registers::JobError;
use ssnail_shared::runtime;
use ssnail_shared::tokenizer::{Place, Rules, Tables};
use ssnail_shared::work::VECTOR_MAX;
use std::path::Path;
use tiny::Tiny;

const TEXT: &str = "abc ab zz";
const TOKENS_TO_COME: u32 = 3;
/// Instructions that a run may take; the sound image needs some hundreds.
const LIMIT: u64 = 20_000;

/// How a run ended.
#[derive(Debug, PartialEq)]
enum End {
    Refused(String),
    Job(JobError),
    Limit,
    Told(Vec<u32>),
}

/// The tables of an image checked, and the tokens of a text.
fn prompt<M: ReadMemory>(memory: &M, header: &Header) -> Result<Vec<u32>, End> {
    let refused = |error: &dyn std::fmt::Display| End::Refused(error.to_string());
    let mut tables = Tables::open(memory, header).map_err(|e| refused(&e))?;
    tables.check().map_err(|e| refused(&e))?;
    let ids = ssnail_text::check::image_ids(&mut tables, TEXT, Place::First, Rules::REAL).map_err(|e| refused(&e))?;
    assert!(ids.iter().all(|&id| id < header.n_vocab), "{ids:?}");
    for id in 0..header.n_vocab {
        let mut length = 0;
        tables.piece(id, |part| length += part.len()).map_err(|e| refused(&e))?;
        assert!(length <= header.payload_len as usize);
    }
    Ok(ids)
}

fn golden(file: &[u8], plain: bool) -> End {
    let options = Options { numerics: Numerics::Hardware, threads: 1, max_instructions: LIMIT, plain };
    let mut loaded = match Accelerator::load(file, &options, |_| {}) {
        Ok(loaded) => loaded,
        Err(error) => return End::Refused(error.to_string()),
    };
    let header = loaded.header().clone();
    let ids = match prompt(loaded.machine().memory(), &header) {
        Ok(ids) => ids,
        Err(end) => return end,
    };
    match loaded.generate(&ids, TOKENS_TO_COME, &mut ()) {
        Ok(outcome) => End::Told(outcome.generated),
        Err(RunError::Fault(HostFault::Limit { .. })) => End::Limit,
        Err(RunError::Fault(fault)) => End::Job(fault.job_error().unwrap()),
        Err(error) => panic!("{error}"),
    }
}

fn portable(file: &[u8]) -> End {
    let header = match image::check(file) {
        Ok(header) => header,
        Err(error) => return End::Refused(error.to_string()),
    };
    let mut bytes = vec![0; Memory::length_for(header.memory_needed) as usize];
    bytes[(PAYLOAD - MEMORY_BASE) as usize..][..header.payload_len as usize]
        .copy_from_slice(&file[HEADER_LEN as usize..]);
    let mut memory = SliceMemory::new(MEMORY_BASE, bytes);
    if let Err(error) = caches::check(&memory, &header) {
        return End::Refused(error.to_string());
    }
    let ids = match prompt(&memory, &header) {
        Ok(ids) => ids,
        Err(end) => return end,
    };
    for (n, id) in ids.iter().enumerate() {
        memory.write_u32(TOKENS + 4 * n as u32, *id).unwrap();
    }
    memory.write_u32(runtime::PROMPT_LEN, ids.len() as u32).unwrap();
    memory.write_u32(runtime::N_GENERATE, TOKENS_TO_COME).unwrap();
    // The room that SSNAIL.CPU has.
    const ROOM: usize = VECTOR_MAX as usize;
    let (mut x, mut q, mut scale, mut scores) =
        (vec![0.0; ROOM], vec![0; ROOM], vec![0.0; ROOM / BLOCK as usize], vec![0.0; ROOM]);
    let mut executor = Executor::new(header.code);
    for _ in 0..LIMIT {
        let mut work = Work { x: &mut x, q: &mut q, scale: &mut scale, scores: &mut scores };
        match executor.step(&mut memory, &mut work) {
            Ok(Step::Halt) => {
                let count = memory.read_u32(runtime::GENERATED).unwrap();
                let first = ids.len() as u32;
                return End::Told((0..count).map(|n| memory.read_u32(TOKENS + 4 * (first + n)).unwrap()).collect());
            }
            Ok(_) => {}
            Err(fault) => return End::Job(fault.job_error()),
        }
    }
    End::Limit
}

fn sound() -> Vec<u8> {
    Tiny::llama().image(&Convert { ctx: Some(64), ..Convert::default() }).unwrap()
}

#[test]
fn every_case_gets_its_answer() {
    let image = sound();
    let told = golden(&image, true);
    assert!(matches!(&told, End::Told(ids) if ids.len() == TOKENS_TO_COME as usize), "{told:?}");
    for case in CASES {
        let file = case.of(&image);
        assert!(file != image, "{}: nothing was changed", case.name);
        let ends = [golden(&file, false), golden(&file, true), portable(&file)];
        for end in &ends {
            let right = match (case.answer, end) {
                (Answer::Field(field), End::Refused(sentence)) => sentence.contains(field),
                (Answer::Stops(error), End::Job(found)) => error == *found,
                (Answer::Endless, End::Limit) | (Answer::Works, End::Told(_)) => true,
                _ => false,
            };
            assert!(right, "{}: {:?} expected, {ends:?}", case.name, case.answer);
        }
        assert_eq!(ends[1], ends[2], "{}: golden model and portable executor", case.name);
    }
}

#[test]
fn sound_images_are_not_refused() {
    let models = [Tiny::llama(), Tiny::gpt2(), Tiny::bert()];
    let mut images: Vec<(String, Vec<u8>)> =
        models.iter().enumerate().map(|(n, m)| (format!("tiny {n}"), m.image(&Convert::default()).unwrap())).collect();
    let data = std::env::var("SSNAIL_DATA")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data").into());
    match std::fs::read_dir(Path::new(&data).join("vectors/images")) {
        Ok(entries) => images.extend(
            entries
                .map(|e| e.unwrap().path())
                .filter(|p| p.extension().is_some_and(|e| e == "ssnail"))
                .map(|p| (p.display().to_string(), std::fs::read(p).unwrap())),
        ),
        Err(error) => println!("skipped: images of {data}/vectors: {error}"),
    }
    for (name, file) in images {
        let header = image::check(&file).unwrap_or_else(|e| panic!("{name}: {e}"));
        let memory = SliceMemory::new(PAYLOAD, &file[HEADER_LEN as usize..]);
        caches::check(&memory, &header).unwrap_or_else(|e| panic!("{name}: {e}"));
        Tables::open(&memory, &header).and_then(|t| t.check()).unwrap_or_else(|e| panic!("{name}: {e}"));
    }
}
