//! What the PC says about an image, and what it computes: the golden model, or the portable executor where the machine has
//! no core, in as much memory as the machine has.

use ssnail_machine::{Accelerator, Numerics, Options, image};
use ssnail_shared::exec::{BLOCK, Executor, Step, Work};
use ssnail_shared::fold::AsciiFolder;
use ssnail_shared::header::{Header, field_name, offset};
use ssnail_shared::isa::INSTRUCTION_LEN;
use ssnail_shared::map::{HEADER_LEN, MEGABYTE, MEMORY_BASE, PAYLOAD, TOKENS};
use ssnail_shared::mem::{Fault, Memory, ReadMemory, SliceMemory};
use ssnail_shared::runtime::{self, StopReason};
use ssnail_shared::sampler::Settings;
use ssnail_shared::session::{Core, CoreState, Event, Session, TurnError};
use ssnail_shared::tokenizer::{Error, Place, Rules, Tables, WORDS_PER_BYTE, encode};
use ssnail_shared::work::{Count, VECTOR_MAX};

/// Tokens of an answer.
pub const N: u32 = 5;
/// Instructions of a job; a sound one needs some hundreds.
const LIMIT: u64 = 3000;
/// Bytes that a job may read and still be waited for where the processor computes.
const PATIENCE: u64 = 3 << 20;
/// What models cannot have without the core.
const RESERVE: u32 = 0x3_0000;
/// What SSNAIL.CPU reads of a script to estimate its time.
const SCRIPT_MAX: u32 = 0x1E00;
/// Error code of a vector longer than the buffers of SSNAIL.CPU.
const TOO_WIDE: u8 = 0x40;

/// What is due.
#[derive(Debug, PartialEq)]
pub enum Due {
    /// A refusal with one of these sentences, by the list or after loading.
    Refused(Vec<String>),
    /// A conversation.
    Answer(Answer),
}

/// What a turn leaves.
#[derive(Debug, PartialEq)]
pub struct Answer {
    /// Words of the token buffer: prompt and answer.
    pub tokens: Vec<u32>,
    /// Text without blanks.
    pub text: String,
    /// Bits of an encoder's vector.
    pub vector: Vec<u32>,
    /// How it ended.
    pub end: End,
}

/// How a turn ended.
#[derive(Debug, PartialEq)]
pub enum End {
    /// With a note, or with none.
    Note(&'static str),
    /// With an error that has these words.
    Error(String),
    /// Not within the limit.
    Endless,
}

/// Memory that models have.
pub fn memory(core: bool) -> u32 {
    8 * MEGABYTE - if core { 0 } else { RESERVE }
}

/// What SSNAIL.PRG owes this image, on a machine of 8 MB.
pub fn due(file: &[u8], core: bool, text: &str) -> Due {
    let refused = |words: &str| Due::Refused(vec![words.to_owned()]);
    let header = match image::check(file) {
        Ok(header) => header,
        Err(image::ImageError::Header(error)) => {
            let name = String::from_utf8_lossy(field_name(error.offset)).into_owned();
            return refused(&match error.offset {
                offset::MAGIC => "not a SSNAIL image".to_owned(),
                offset::VERSION => "an image of another version".to_owned(),
                offset::LOAD_BASE | offset::HOST_SEGMENT_LEN => "made for an older memory map".to_owned(),
                at => format!("damaged: header field {name} at ${at:02X}"),
            });
        }
        Err(_) => return refused("damaged: its length is not what its header says"),
    };
    if header.memory_needed > memory(core) {
        return refused("too big: needs");
    }
    if !core && widest(file, &header) > VECTOR_MAX {
        return refused("too wide: vectors of");
    }
    // As the PC's tools load it: in the memory that it asks for.
    let options = Options { numerics: Numerics::Hardware, threads: 1, max_instructions: LIMIT, plain: true };
    let payload = SliceMemory::new(PAYLOAD, &file[HEADER_LEN as usize..]);
    let loaded = match Accelerator::load(file, &options, |_| {}) {
        Err(image::ImageError::Table(error)) => Err(error),
        Err(error) => panic!("{error}"),
        Ok(_) => Ok(()),
    };
    // Of two faults the PC names that of a cache, the MEGA65 that of the tokenizer's tables.
    let tables = Tables::open(&payload, &header).and_then(|tables| tables.check());
    let faults: Vec<String> = [loaded, tables].into_iter().filter_map(Result::err).map(|e| said(&e)).collect();
    if !faults.is_empty() {
        return Due::Refused(faults);
    }
    // The rest in the machine's memory.
    let room = memory(core);
    let mut large = file.to_vec();
    let needed = offset::MEMORY_NEEDED as usize;
    large[needed..needed + 4].copy_from_slice(&room.to_le_bytes());
    let mut golden = Whole(Accelerator::load(&large, &options, |_| {}).unwrap());
    golden.0.machine_mut().memory_mut().write_u32(MEMORY_BASE + offset::MEMORY_NEEDED, header.memory_needed).unwrap();
    let mut memory = vec![0; room as usize];
    memory[..HEADER_LEN as usize].copy_from_slice(&file[..HEADER_LEN as usize]);
    memory[(PAYLOAD - MEMORY_BASE) as usize..][..header.payload_len as usize]
        .copy_from_slice(&file[HEADER_LEN as usize..]);
    let mut answer = turn(&mut golden, &header, text);
    let slow = golden.0.stats().bytes() > PATIENCE;
    if !core {
        let mut portable = Slow { memory: SliceMemory::new(MEMORY_BASE, memory), job: None, left: LIMIT };
        let plain = turn(&mut portable, &header, text);
        let room = plain.end == End::Error(stopped(TOO_WIDE, &header));
        assert!(room || plain == answer, "golden model and portable executor: {answer:?} and {plain:?}");
        answer = plain;
        if slow {
            answer.end = End::Endless;
        }
    }
    Due::Answer(answer)
}

/// What the MEGA65 says of damaged tables.
fn said(error: &Error) -> String {
    match *error {
        Error::Damaged { field, address, .. } => format!("[damaged image: {field} at ${address:08X}"),
        ref error => panic!("no field is named: {error}"),
    }
}

/// The longest vector as SSNAIL.CPU counts it.
fn widest(file: &[u8], header: &Header) -> u32 {
    let from = HEADER_LEN + header.code - PAYLOAD;
    let mut count = Count::default();
    let mut at = from;
    while at < HEADER_LEN + SCRIPT_MAX {
        let bytes = file.get(at as usize..).and_then(|rest| rest.first_chunk());
        if !bytes.is_some_and(|bytes| count.see(bytes)) {
            break;
        }
        at += INSTRUCTION_LEN;
    }
    count.widest
}

fn stopped(code: u8, header: &Header) -> String {
    let text = ssnail_shared::registers::JobError::from_code(code).map_or("unknown reason", |e| e.text());
    if header.is_encoder() {
        format!("[the core stopped with error {code};")
    } else {
        format!("[the core stopped: {text} (error {code})")
    }
}

/// Something that runs jobs on the PC.
pub trait Reference: Core {
    /// Whether the last job ended because it took too long.
    fn endless(&self) -> bool;
}

/// The golden model; a job is over before anybody looks, as with a core that is fast.
struct Whole(Accelerator);

impl ReadMemory for Whole {
    fn read(&self, address: u32, out: &mut [u8]) -> Result<(), Fault> {
        self.0.read(address, out)
    }
}

impl Memory for Whole {
    fn write(&mut self, address: u32, data: &[u8]) -> Result<(), Fault> {
        self.0.write(address, data)
    }
}

impl Core for Whole {
    fn go(&mut self, job: u32) {
        self.0.go(job);
    }

    fn state(&mut self) -> CoreState {
        loop {
            match self.0.state() {
                CoreState::Busy => {}
                state => return state,
            }
        }
    }
}

impl Reference for Whole {
    fn endless(&self) -> bool {
        matches!(self.0.fault(), Some(ssnail_machine::Fault::Limit { .. }))
    }
}

/// The portable executor with the room that SSNAIL.CPU has.
struct Slow {
    memory: SliceMemory<Vec<u8>>,
    job: Option<Executor>,
    left: u64,
}

impl ReadMemory for Slow {
    fn read(&self, address: u32, out: &mut [u8]) -> Result<(), Fault> {
        self.memory.read(address, out)
    }
}

impl Memory for Slow {
    fn write(&mut self, address: u32, data: &[u8]) -> Result<(), Fault> {
        self.memory.write(address, data)
    }
}

impl Core for Slow {
    fn go(&mut self, job: u32) {
        self.job = Some(Executor::new(job));
        self.left = LIMIT;
    }

    fn state(&mut self) -> CoreState {
        const ROOM: usize = VECTOR_MAX as usize;
        const SCORES: usize = 3584;
        let Some(executor) = &mut self.job else { return CoreState::Idle };
        let (mut x, mut q, mut scale, mut scores) =
            (vec![0.0; ROOM], vec![0; ROOM], vec![0.0; ROOM / BLOCK as usize], vec![0.0; SCORES]);
        while self.left > 0 {
            self.left -= 1;
            let mut work = Work { x: &mut x, q: &mut q, scale: &mut scale, scores: &mut scores };
            match executor.step(&mut self.memory, &mut work) {
                Ok(Step::Halt) => {
                    self.job = None;
                    return CoreState::Idle;
                }
                Ok(_) => {}
                Err(ssnail_shared::exec::Fault::Room { .. }) => return CoreState::Failed(TOO_WIDE),
                Err(fault) => return CoreState::Failed(fault.job_error() as u8),
            }
        }
        CoreState::Failed(0xFF)
    }
}

impl Reference for Slow {
    fn endless(&self) -> bool {
        self.left == 0 && self.job.is_some()
    }
}

/// Ids of a text as the native program makes them.
fn ids<C: Core>(core: &C, header: &Header, text: &str) -> Result<Vec<u32>, Error> {
    let mut scratch = vec![0; (4 * text.len() + 16) * WORDS_PER_BYTE as usize];
    let mut ids = Vec::new();
    let mut tables = Tables::open(core, header)?;
    encode(&mut tables, text.as_bytes(), Place::First, Rules::TYPED, scratch.as_mut_slice(), |id| {
        ids.push(id);
        Ok(())
    })?;
    Ok(ids)
}

/// One turn.
fn turn<C: Reference>(core: &mut C, header: &Header, text: &str) -> Answer {
    let mut answer = Answer { tokens: Vec::new(), text: String::new(), vector: Vec::new(), end: End::Note("") };
    let ids = match ids(core, header, text) {
        Ok(ids) => ids,
        Err(error) => {
            answer.end = End::Error(format!("{error}"));
            return answer;
        }
    };
    answer.end = if header.is_encoder() {
        vector(core, header, &ids, &mut answer)
    } else {
        told(core, header, &ids, &mut answer)
    };
    if core.endless() {
        answer.end = End::Endless;
    }
    answer
}

fn told<C: Reference>(core: &mut C, header: &Header, ids: &[u32], answer: &mut Answer) -> End {
    let mut room = [];
    let mut session = Session::new(header, Settings::GREEDY, 0, &mut room);
    let mut folder = AsciiFolder::new();
    let explained = |error: TurnError| match error {
        TurnError::Core(code) => End::Error(stopped(code, header)),
        TurnError::ContextFull { .. } => End::Note("[context full"),
        TurnError::Runtime { address, .. } => End::Error(format!("at ${address:08X}")),
        TurnError::NoSuchToken { token, .. } => End::Error(format!("[token {token} does not exist")),
        TurnError::Sample(_) => End::Error("is not a number".to_owned()),
        TurnError::Memory(fault) => End::Error(format!("[the core's memory does not answer at ${:08X}", fault.address)),
    };
    for &id in ids {
        if let Err(error) = session.push(core, id) {
            return explained(error);
        }
    }
    if session.is_empty() {
        return End::Note("[nothing to go on from");
    }
    let end = match session.begin(core, N) {
        Err(error) => explained(error),
        Ok(()) => loop {
            match session.poll(core) {
                Err(error) => break explained(error),
                Ok(Event::Token(token)) => {
                    let read = Tables::open(core, header).and_then(|tables| {
                        tables.piece(token, |bytes| {
                            for &b in bytes {
                                answer.text.extend(folder.push(b).as_bytes().iter().map(|&b| char::from(b)));
                            }
                        })
                    });
                    // The script wrote over the tables. Which word is met first depends on when they were opened.
                    if let Err(Error::Damaged { .. }) = read {
                        break End::Error("[damaged image: $".to_owned());
                    }
                }
                Ok(Event::Done(StopReason::Eos)) => break End::Note("[end of text]"),
                Ok(Event::Done(StopReason::Context)) => break End::Note("[context full"),
                Ok(Event::Done(StopReason::Requested)) => break End::Note("[stopped]"),
                Ok(Event::Done(StopReason::Count)) => break End::Note(""),
                Ok(_) => {}
            }
        },
    };
    answer.text.extend(folder.finish().as_bytes().iter().map(|&b| char::from(b)));
    answer.text.retain(|c| !c.is_whitespace());
    answer.tokens = (0..session.len()).map(|n| core.read_u32(TOKENS + 4 * n).unwrap()).collect();
    end
}

/// An encoder's job, as the native program starts it.
fn vector<C: Reference>(core: &mut C, header: &Header, ids: &[u32], answer: &mut Answer) -> End {
    if ids.len() > header.context as usize {
        return End::Error("[the line is too long: this model reads".to_owned());
    }
    for (n, &id) in ids.iter().enumerate() {
        core.write_u32(TOKENS + 4 * n as u32, id).unwrap();
    }
    core.write_u32(runtime::PROMPT_LEN, ids.len() as u32).unwrap();
    core.write_u32(runtime::STOP_REASON, 0).unwrap();
    core.go(header.code);
    if let CoreState::Failed(code) = core.state() {
        return End::Error(stopped(code, header));
    }
    answer.tokens = (0..ids.len() as u32).map(|n| core.read_u32(TOKENS + 4 * n).unwrap()).collect();
    if core.read_u32(runtime::STOP_REASON).ok().and_then(StopReason::from_word) != Some(StopReason::Count) {
        return End::Error("[the line is too long for this model]".to_owned());
    }
    answer.vector = (0..header.output_len).map(|n| core.read_u32(header.output + 4 * n).unwrap_or(0)).collect();
    if answer.vector.iter().all(|&bits| f32::from_bits(bits).is_finite()) {
        End::Note("[stored; the next line is compared with it]")
    } else {
        End::Error("[the vector is no row of numbers".to_owned())
    }
}
