//! Helper threads that wait for work: awake for a moment after each piece, then asleep.

use std::hint;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::engine::Own;
use super::prefetch;
use super::work::{Joint, Shared};
use crate::memory::Memory;

/// How often a helper looks for new work before it goes to sleep: some tens of microseconds, longer than the pauses
/// between the matrices of one token.
const LOOKS: u32 = if cfg!(miri) { 60 } else { 6000 };
/// How often the caller looks for results before it asks whether anyone has begun.
const A_MOMENT: u32 = if cfg!(miri) { 30 } else { 100 };

/// How the helpers finished a piece of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Finish {
    /// As was to be expected.
    InTime,
    /// Much later: the system had given their processor to something else.
    Late,
    /// One has ended, and its results with it.
    Lost,
}

/// A part of memory that no other thread writes to by accident, because it shares no line of a cache.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Apart<T>(T);

/// What a thread will read after its share of a piece of work, so far as anyone can tell: addresses of this process, which
/// nothing but asking for the memory behind them is done with.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct After {
    /// Where it begins; zero where nothing is known.
    pub(super) at: usize,
    /// Bytes.
    length: usize,
}

impl After {
    /// Most bytes that an idle helper asks for: a part of what its cache holds.
    const MOST: usize = 256 << 10;

    /// The run of `thread` in the next piece of work.
    pub(super) fn find(next: &Joint, board: &Board, thread: usize, memory: &Memory) -> Option<Self> {
        let run = board.run(thread, next.len());
        let (address, rest) = next.address(run.start)?;
        let length = rest.min(Self::MOST);
        Some(Self { at: memory.slice(address, length as u64)?.as_ptr().addr(), length })
    }

    /// The next line that has not been asked for.
    fn line(&mut self) -> Option<usize> {
        let line = self.at;
        self.at += 64;
        self.length = self.length.checked_sub(64)?;
        Some(line)
    }
}

/// Which chunks are still to be taken. Every thread has a run of its own, one after the other in memory as the processor
/// expects it; when that is done it takes from the others' runs.
#[derive(Debug)]
pub(super) struct Board {
    next: Vec<Apart<AtomicUsize>>,
}

impl Board {
    fn new(threads: usize) -> Self {
        Self { next: (0..threads).map(|_| Apart::default()).collect() }
    }

    /// First chunk of a thread's run.
    fn first(&self, thread: usize, chunks: usize) -> usize {
        thread * chunks / self.next.len()
    }

    /// The chunks that a thread takes first.
    pub(super) fn run(&self, thread: usize, chunks: usize) -> Range<usize> {
        self.first(thread, chunks)..self.first(thread + 1, chunks)
    }

    /// Before a piece of work: nothing of it is taken.
    fn reset(&self, chunks: usize) {
        for (thread, next) in self.next.iter().enumerate() {
            next.0.store(self.first(thread, chunks), Ordering::Relaxed);
        }
    }

    /// The next chunk for `thread`.
    pub(super) fn take(&self, thread: usize, chunks: usize) -> Option<usize> {
        (thread..self.next.len()).chain(0..thread).find_map(|run| {
            let (next, end) = (&self.next[run].0, self.first(run + 1, chunks));
            let left = next.load(Ordering::Relaxed) < end;
            Some(next.fetch_add(1, Ordering::Relaxed)).filter(|chunk| left && *chunk < end)
        })
    }
}

/// The helpers of one engine; they end when it is dropped.
#[derive(Debug)]
pub(super) struct Pool {
    helpers: Vec<Helper>,
    board: Arc<Board>,
}

#[derive(Debug)]
struct Helper {
    desk: Arc<Desk>,
    thread: Option<JoinHandle<()>>,
}

/// A piece of work: its number, what to do, and how many results there are in all. It stays where it is until the caller
/// takes it away: the counts of its owners are then touched by one thread only.
#[derive(Debug)]
pub(super) struct Task {
    number: u32,
    begun: bool,
    pub(super) total: usize,
    pub(super) shared: Shared,
    /// What the helper will read when this is done.
    pub(super) after: After,
}

/// Where work is laid for a helper, and where its results are found.
#[derive(Debug, Default)]
struct Desk {
    bell: Apart<Bell>,
    /// Follows [`Bell::posted`] when a piece is done.
    done: Apart<AtomicU32>,
    /// The helper holds it while it works.
    slot: Apart<Mutex<Slot>>,
}

#[derive(Debug, Default)]
struct Bell {
    /// Counts the pieces of work laid here.
    posted: AtomicU32,
    asleep: AtomicBool,
    quit: AtomicBool,
}

#[derive(Debug, Default)]
struct Slot {
    task: Option<Task>,
    results: Vec<f32>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A kernel that panicked has left numbers, which the next piece overwrites.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pool {
    /// Starts `helpers` threads; fewer where the system refuses.
    pub(super) fn new(helpers: usize) -> Self {
        let board = Arc::new(Board::new(helpers + 1));
        let start = |index| {
            let desk = Arc::<Desk>::default();
            let (theirs, board) = (Arc::clone(&desk), Arc::clone(&board));
            let thread = thread::Builder::new().name("ssnail-rows".into());
            let thread = thread.spawn(move || theirs.serve(&board, index + 1)).ok()?;
            Some(Helper { desk, thread: Some(thread) })
        };
        Self { helpers: (0..helpers).map_while(start).collect(), board }
    }

    /// Threads waiting for work.
    pub(super) fn helpers(&self) -> usize {
        self.helpers.len()
    }

    /// The chunks of the piece in work.
    pub(super) fn board(&self) -> &Board {
        &self.board
    }

    /// Lays a piece of work before every helper. [`Pool::wake`] must follow.
    pub(super) fn start(&self, shared: &Shared, chunks: usize, total: usize, after: impl Fn(usize) -> After) {
        self.board.reset(chunks);
        for (index, helper) in self.helpers.iter().enumerate() {
            let bell = &helper.desk.bell.0;
            let number = bell.posted.load(Ordering::Relaxed).wrapping_add(1);
            lock(&helper.desk.slot.0).task =
                Some(Task { number, begun: false, total, shared: shared.clone(), after: after(index + 1) });
            bell.posted.store(number, Ordering::Release);
        }
    }

    /// Wakes the helpers that sleep. Apart from [`Pool::start`], so that the caller need not wait until the others can
    /// see what it has laid before them.
    pub(super) fn wake(&self) {
        fence(Ordering::SeqCst);
        for helper in &self.helpers {
            if helper.desk.bell.0.asleep.load(Ordering::SeqCst)
                && let Some(thread) = &helper.thread
            {
                thread.thread().unpark();
            }
        }
    }

    /// Waits for every helper and gives what each computed to `take`, but for those that have ended. No helper has a task
    /// afterwards. Says whether any was late: the system had given its processor to something else.
    pub(super) fn finish(&self, patience: Duration, mut take: impl FnMut(&[f32])) -> bool {
        let mut late = false;
        for helper in &self.helpers {
            let finish = helper.wait(patience);
            late |= finish == Some(Finish::Late);
            if matches!(finish, Some(Finish::InTime | Finish::Late)) {
                take(&lock(&helper.desk.slot.0).results);
            }
            lock(&helper.desk.slot.0).task = None;
        }
        late
    }
}

impl Helper {
    /// Waits until the task is done; `None` if it had not been begun, and is taken back.
    fn wait(&self, patience: Duration) -> Option<Finish> {
        let desk = &self.desk;
        let posted = desk.bell.0.posted.load(Ordering::Relaxed);
        let (mut looks, mut since, mut finish) = (0, None, Finish::InTime);
        while desk.done.0.load(Ordering::Acquire) != posted {
            looks += 1;
            // A piece that nobody has begun needs no waiting: its chunks are taken.
            if looks == A_MOMENT && desk.slot.0.try_lock().is_ok_and(|mut slot| slot.withdraw()) {
                return None;
            }
            if looks < LOOKS {
                hint::spin_loop();
            } else if self.thread.as_ref().is_none_or(JoinHandle::is_finished) {
                return Some(Finish::Lost);
            } else {
                if since.get_or_insert_with(Instant::now).elapsed() > patience {
                    finish = Finish::Late;
                }
                thread::yield_now();
            }
        }
        Some(finish)
    }
}

impl Slot {
    /// Takes back a task that has not been begun; whether there was one.
    fn withdraw(&mut self) -> bool {
        self.task.take_if(|task| !task.begun).is_some()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        for helper in &mut self.helpers {
            helper.desk.bell.0.quit.store(true, Ordering::SeqCst);
            helper.desk.bell.0.posted.fetch_add(1, Ordering::SeqCst);
            if let Some(thread) = helper.thread.take() {
                thread.thread().unpark();
                // It can only have panicked, which has been reported already.
                let _ = thread.join();
            }
        }
    }
}

impl Desk {
    /// What a helper does, as thread number `thread`.
    fn serve(&self, board: &Board, thread: usize) {
        let mut own = Own::default();
        let (mut seen, mut after) = (0, After::default());
        loop {
            seen = self.wait(seen, after);
            if self.bell.0.quit.load(Ordering::SeqCst) {
                return;
            }
            let mut slot = lock(&self.slot.0);
            let Slot { task, results } = &mut *slot;
            if let Some(task) = task.as_mut().filter(|task| !task.begun) {
                task.begun = true;
                own.work(task, board, thread, results);
                let number = task.number;
                after = task.after;
                drop(slot);
                self.done.0.store(number, Ordering::Release);
            }
        }
    }

    /// Waits until `posted` differs from `seen`; gives the new value. Meanwhile asks for what will be read next.
    fn wait(&self, seen: u32, mut after: After) -> u32 {
        let bell = &self.bell.0;
        for _ in 0..LOOKS {
            let posted = bell.posted.load(Ordering::SeqCst);
            if posted != seen {
                return posted;
            }
            match after.line() {
                Some(line) => prefetch(line),
                None => hint::spin_loop(),
            }
        }
        bell.asleep.store(true, Ordering::SeqCst);
        loop {
            let posted = bell.posted.load(Ordering::SeqCst);
            if posted != seen {
                bell.asleep.store(false, Ordering::SeqCst);
                return posted;
            }
            thread::park();
        }
    }
}
