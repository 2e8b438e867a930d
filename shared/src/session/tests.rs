use super::*;
use crate::cases::step;
use crate::header::{Architecture, DESCRIPTION_LEN};
use crate::map::{MEMORY_BASE, PAYLOAD};
use crate::mem::{ReadMemory, SliceMemory};

const EOS: u32 = 2;
const ROWS: u32 = 300;
const LOGITS: u32 = PAYLOAD + 0x1000;
const CONTEXT: u32 = 40;

/// A core whose next token depends on every token before it, so that a wrong buffer shows.
struct Toy {
    memory: SliceMemory<Vec<u8>>,
    busy: u32,
    processed: Vec<u32>,
    jobs: u32,
    eos_at: Option<u32>,
    fail: Option<u8>,
    /// The token whose logit is no number.
    spoilt: Option<u32>,
    finished: bool,
}

impl ReadMemory for Toy {
    fn read(&self, address: u32, out: &mut [u8]) -> Result<(), Fault> {
        self.memory.read(address, out)
    }
}

impl Memory for Toy {
    fn write(&mut self, address: u32, data: &[u8]) -> Result<(), Fault> {
        self.memory.write(address, data)
    }
}

impl Toy {
    fn new() -> Self {
        Self {
            memory: SliceMemory::new(MEMORY_BASE, vec![0; 0x8000]),
            busy: 0,
            processed: Vec::new(),
            jobs: 0,
            eos_at: None,
            fail: None,
            spoilt: None,
            finished: true,
        }
    }

    fn word(&self, a: u32) -> u32 {
        self.read_u32(a).unwrap()
    }

    /// What comes after the tokens processed so far.
    fn next(&self) -> u32 {
        if Some(self.processed.len() as u32) == self.eos_at {
            return EOS;
        }
        3 + self.processed.iter().fold(7u32, |h, t| (h ^ t).wrapping_mul(16_777_619)) % (ROWS - 3)
    }

    /// One position of the emitted script; `false` when the job has ended.
    fn position(&mut self) -> bool {
        let pos = self.word(runtime::POS);
        let end = |toy: &mut Self, reason: StopReason, pos: u32| {
            toy.write_u32(runtime::POS, pos).unwrap();
            toy.write_u32(runtime::STOP_REASON, reason as u32).unwrap();
            false
        };
        if self.word(runtime::N_GENERATE) == 0 {
            return end(self, StopReason::Count, pos);
        }
        if pos >= CONTEXT {
            return end(self, StopReason::Context, pos);
        }
        self.processed.truncate(pos as usize);
        assert_eq!(self.processed.len() as u32, pos, "a position was skipped");
        self.processed.push(self.word(TOKENS + 4 * pos));
        let token = self.next();
        for i in 0..ROWS {
            let z = if i == token { 9.0f32 } else { (i % 5) as f32 };
            let z = if self.spoilt == Some(i) { f32::NAN } else { z };
            self.write(LOGITS + 4 * i, &z.to_le_bytes()).unwrap();
        }
        if pos + 1 >= self.word(runtime::PROMPT_LEN) {
            self.write_u32(TOKENS + 4 * (pos + 1), token).unwrap();
            let generated = self.word(runtime::GENERATED) + 1;
            self.write_u32(runtime::GENERATED, generated).unwrap();
            if token == EOS {
                return end(self, StopReason::Eos, pos + 1);
            }
            if generated == self.word(runtime::N_GENERATE) {
                return end(self, StopReason::Count, pos + 1);
            }
            if self.word(runtime::STOP_REQUEST) != 0 {
                return end(self, StopReason::Requested, pos + 1);
            }
        }
        self.write_u32(runtime::POS, pos + 1).unwrap();
        true
    }
}

impl Core for Toy {
    fn go(&mut self, job: u32) {
        assert_eq!(job, PAYLOAD);
        assert!(self.finished, "GO while busy");
        self.jobs += 1;
        self.finished = false;
        self.busy = 2;
    }

    fn state(&mut self) -> CoreState {
        if self.finished {
            return CoreState::Idle;
        }
        if let Some(code) = self.fail {
            self.finished = true;
            return CoreState::Failed(code);
        }
        if self.busy > 0 {
            self.busy -= 1;
            return CoreState::Busy;
        }
        self.busy = 1;
        self.finished = !self.position();
        if self.finished { CoreState::Idle } else { CoreState::Busy }
    }
}

fn header() -> Header {
    Header {
        flags: 0,
        code: PAYLOAD,
        data: PAYLOAD,
        scratch: LOGITS,
        tokens: TOKENS,
        vocab: PAYLOAD,
        n_vocab: ROWS,
        context: CONTEXT,
        bos: 1,
        eos: EOS,
        payload_len: 0x1000,
        output: LOGITS,
        output_len: ROWS,
        memory_needed: 0x8000,
        architecture: Architecture::Llama,
        tokenizer: PAYLOAD,
        description: [0; DESCRIPTION_LEN],
    }
}

fn turn(s: &mut Session<'_>, core: &mut Toy, prompt: &[u32], n: u32) -> (Vec<u32>, StopReason) {
    for &t in prompt {
        s.push(core, t).unwrap();
    }
    s.begin(core, n).unwrap();
    let mut tokens = Vec::new();
    for _ in 0..10_000 {
        match s.poll(core).unwrap() {
            Event::Token(t) => tokens.push(t),
            Event::Done(reason) => return (tokens, reason),
            Event::Working | Event::Prompt { .. } => {}
        }
    }
    panic!("the turn never ends");
}

/// Continuations as one long job would make them.
fn expected(context: &mut Vec<u32>, n: usize) -> Vec<u32> {
    let mut toy = Toy::new();
    let mut out = Vec::new();
    for _ in 0..n {
        toy.processed.clone_from(context);
        let t = toy.next();
        context.push(t);
        out.push(t);
    }
    out
}

#[test]
fn turns_continue_where_the_last_one_ended() {
    let mut room = [Candidate::default(); 64];
    let mut core = Toy::new();
    let mut s = Session::new(&header(), Settings::GREEDY, 1, &mut room);
    let mut context = vec![1, 9, 8];
    let want = expected(&mut context, 4);
    assert_eq!(turn(&mut s, &mut core, &[1, 9, 8], 4), (want, StopReason::Count));
    context.extend([20, 21]);
    let want = expected(&mut context, 3);
    assert_eq!(turn(&mut s, &mut core, &[20, 21], 3), (want, StopReason::Count));
    let want = expected(&mut context, 2);
    assert_eq!(turn(&mut s, &mut core, &[], 2), (want, StopReason::Count));
    assert_eq!(s.len(), context.len() as u32);
}

#[test]
fn a_long_prompt_in_parts_gives_the_same_tokens() {
    for len in (1..=CONTEXT).step_by(step(CONTEXT)) {
        let mut room = [Candidate::default(); 64];
        let mut core = Toy::new();
        let mut s = Session::new(&header(), Settings::GREEDY, 1, &mut room);
        let prompt: Vec<u32> = (0..len).map(|i| 5 + i).collect();
        let mut context = prompt.clone();
        let n = (CONTEXT + 1 - len).min(3) as usize;
        let want = expected(&mut context, n);
        let (got, reason) = turn(&mut s, &mut core, &prompt, 3);
        assert_eq!(got, want, "length {len}");
        assert_eq!(reason, if n < 3 { StopReason::Context } else { StopReason::Count });
    }
}

/// Specification, section 20, item 19: `/n 0` on the first turn.
#[test]
fn no_tokens_asked_for_keeps_the_prompt() {
    for settings in [Settings::GREEDY, Settings::CHAT] {
        let mut room = [Candidate::default(); 64];
        let mut core = Toy::new();
        let mut s = Session::new(&header(), settings, 1, &mut room);
        assert_eq!(turn(&mut s, &mut core, &[1, 9, 8], 0), (vec![], StopReason::Count));
        turn(&mut s, &mut core, &[7, 6], 1);
        assert_eq!(core.processed, [1, 9, 8, 7, 6]);
    }
}

/// Specification, section 20, item 21: going on after "context full".
#[test]
fn a_full_context_refuses_more_and_writes_nothing() {
    for settings in [Settings::GREEDY, Settings { temperature: 0.01, ..Settings::CHAT }] {
        let mut room = [Candidate::default(); 64];
        let mut core = Toy::new();
        let mut s = Session::new(&header(), settings, 1, &mut room);
        let (tokens, reason) = turn(&mut s, &mut core, &[1, 9, 8], 1000);
        assert_eq!(reason, StopReason::Context);
        assert_eq!(tokens.len() as u32, CONTEXT + 1 - 3);
        let before = core.memory.read_u32(TOKENS + 4 * (CONTEXT + 1)).unwrap();
        let full = Err(TurnError::ContextFull { needed: CONTEXT + 2, context: CONTEXT });
        assert_eq!(s.push(&mut core, 5), full);
        assert_eq!(s.begin(&mut core, 5), full);
        assert_eq!(core.memory.read_u32(TOKENS + 4 * (CONTEXT + 1)).unwrap(), before);
        s.reset();
        assert_eq!(turn(&mut s, &mut core, &[1, 9], 2).1, StopReason::Count);
    }
}

#[test]
fn a_text_that_does_not_fit_is_taken_back() {
    let mut room = [Candidate::default(); 64];
    let mut core = Toy::new();
    let mut s = Session::new(&header(), Settings::GREEDY, 1, &mut room);
    let (first, _) = turn(&mut s, &mut core, &[1, 9, 8], 2);
    let len = s.len();
    while s.push(&mut core, 4).is_ok() {}
    s.truncate(&core, len).unwrap();
    let mut context = [&[1, 9, 8], &first[..]].concat();
    let want = expected(&mut context, 3);
    assert_eq!(turn(&mut s, &mut core, &[], 3).0, want);
    assert_eq!(s.recent.distinct(), {
        let mut d = context;
        d.sort_unstable();
        d.dedup();
        d
    });
}

#[test]
fn the_end_token_ends_the_turn_and_is_counted() {
    for settings in [Settings::GREEDY, Settings { temperature: 0.01, ..Settings::CHAT }] {
        let mut room = [Candidate::default(); 64];
        let mut core = Toy::new();
        core.eos_at = Some(6);
        let mut s = Session::new(&header(), settings, 1, &mut room);
        let (tokens, reason) = turn(&mut s, &mut core, &[1, 9, 8], 20);
        assert_eq!((tokens.len(), tokens.last(), reason), (4, Some(&EOS), StopReason::Eos));
    }
}

/// Threads on Ctrl-C during generation and during the prompt: the context stays usable.
#[test]
fn a_stop_takes_effect_soon_and_loses_nothing() {
    for settings in [Settings::GREEDY, Settings { temperature: 0.01, ..Settings::CHAT }] {
        for polls in (0..90).step_by(step(90)) {
            let mut room = [Candidate::default(); 64];
            let mut core = Toy::new();
            let mut s = Session::new(&header(), settings, 1, &mut room);
            let prompt: Vec<u32> = (0..30).map(|i| 5 + i).collect();
            for &t in &prompt {
                s.push(&mut core, t).unwrap();
            }
            s.begin(&mut core, 1000).unwrap();
            let mut context = prompt.clone();
            let mut count = 0;
            let reason = loop {
                if count == polls {
                    s.stop(&mut core).unwrap();
                }
                count += 1;
                match s.poll(&mut core).unwrap() {
                    Event::Token(t) => context.push(t),
                    Event::Done(reason) => break reason,
                    _ => {}
                }
            };
            let generated = context.len() - 30;
            if count > polls && context.len() <= CONTEXT as usize {
                assert_eq!(reason, StopReason::Requested, "after {polls} polls");
            }
            assert_eq!(s.len() as usize, context.len());
            let mut again = prompt.clone();
            assert_eq!(expected(&mut again, generated), context[30..]);
            if context.len() < CONTEXT as usize {
                let want = expected(&mut context, 1);
                assert_eq!(turn(&mut s, &mut core, &[], 1).0, want, "after {polls} polls");
            }
        }
    }
}

#[test]
fn sampled_turns_draw_one_number_a_token_and_repeat_with_the_seed() {
    let run = |seed: u32, parts: &[u32]| {
        let mut room = [Candidate::default(); 64];
        let mut core = Toy::new();
        let settings = Settings { temperature: 3.0, top_k: 0, penalty: 1.0 };
        let mut s = Session::new(&header(), settings, seed, &mut room);
        let mut all = Vec::new();
        for (i, &n) in parts.iter().enumerate() {
            all.extend(turn(&mut s, &mut core, if i == 0 { &[1, 9] } else { &[] }, n).0);
        }
        all
    };
    assert_eq!(run(7, &[12]), run(7, &[12]));
    assert_eq!(run(7, &[12]), run(7, &[5, 4, 3]));
    assert_ne!(run(7, &[12]), run(8, &[12]));
}

#[test]
fn errors_of_the_core_end_the_turn() {
    let mut room = [Candidate::default(); 64];
    let mut core = Toy::new();
    let mut s = Session::new(&header(), Settings::GREEDY, 1, &mut room);
    s.push(&mut core, 1).unwrap();
    s.begin(&mut core, 3).unwrap();
    core.fail = Some(2);
    assert_eq!(s.poll(&mut core), Err(TurnError::Core(2)));
    assert!(!s.is_running());
    core.fail = None;
    assert_eq!(turn(&mut s, &mut core, &[9], 2).1, StopReason::Count);
    assert_eq!(s.push(&mut core, ROWS), Err(TurnError::NoSuchToken { token: ROWS, n_vocab: ROWS }));
}

#[test]
fn a_core_that_chose_from_what_is_no_number_is_told_of() {
    for settings in [Settings::GREEDY, Settings::CHAT] {
        let mut core = Toy::new();
        core.spoilt = Some(299);
        let mut room = [Candidate::default(); 64];
        let mut session = Session::new(&header(), settings, 1, &mut room);
        session.push(&mut core, 5).unwrap();
        session.begin(&mut core, 3).unwrap();
        let error = loop {
            match session.poll(&mut core) {
                Ok(Event::Done(reason)) => panic!("{reason:?}"),
                Ok(_) => {}
                Err(error) => break error,
            }
        };
        assert_eq!(error, TurnError::Sample(SampleError::NotFinite { token: 299 }));
        // The conversation can go on: a text that the core sees whole is chosen from again.
        core.spoilt = None;
        session.begin(&mut core, 2).unwrap();
        while !matches!(session.poll(&mut core).unwrap(), Event::Done(StopReason::Count)) {}
    }
}
