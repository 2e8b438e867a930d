//! Helper threads that wait for work: awake for a moment after each piece, then asleep.

use std::hint;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::engine::{Own, Shared};

/// How often a helper looks for new work before it goes to sleep: some tens of microseconds, longer than the pauses
/// between the matrices of one token.
const LOOKS: u32 = 2000;

/// How the helpers finished a piece of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finish {
    /// As was to be expected.
    InTime,
    /// Much later: the system had given their processor to something else.
    Late,
    /// One has ended, and its results with it.
    Lost,
}

/// The helpers of one engine; they end when it is dropped.
#[derive(Debug, Default)]
pub(super) struct Pool {
    helpers: Vec<Helper>,
}

#[derive(Debug)]
struct Helper {
    desk: Arc<Desk>,
    thread: Option<JoinHandle<()>>,
}

/// A piece of work: its number, what to do, and how many results there are in all.
#[derive(Debug)]
struct Task {
    number: u32,
    shared: Shared,
    total: usize,
}

/// Where work is laid for a helper, and where its results are found.
#[derive(Debug, Default)]
struct Desk {
    /// Counts the pieces of work laid here.
    posted: AtomicU32,
    /// Follows `posted` when a piece is done.
    done: AtomicU32,
    asleep: AtomicBool,
    quit: AtomicBool,
    task: Mutex<Option<Task>>,
    own: Mutex<Own>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A kernel that panicked has left numbers, which the next piece overwrites.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pool {
    /// Starts `helpers` threads; fewer where the system refuses.
    pub(super) fn new(helpers: usize) -> Self {
        let start = |_| {
            let desk = Arc::<Desk>::default();
            let theirs = Arc::clone(&desk);
            let thread = thread::Builder::new().name("ssnail-rows".into()).spawn(move || theirs.serve()).ok()?;
            Some(Helper { desk, thread: Some(thread) })
        };
        Self { helpers: (0..helpers).map_while(start).collect() }
    }

    /// Threads waiting for work.
    pub(super) fn helpers(&self) -> usize {
        self.helpers.len()
    }

    /// Lays a piece of work before every helper.
    pub(super) fn start(&self, shared: &Shared, total: usize) {
        for helper in &self.helpers {
            let number = helper.desk.posted.load(Ordering::Relaxed).wrapping_add(1);
            *lock(&helper.desk.task) = Some(Task { number, shared: shared.clone(), total });
            helper.desk.posted.store(number, Ordering::SeqCst);
            if helper.desk.asleep.load(Ordering::SeqCst)
                && let Some(thread) = &helper.thread
            {
                thread.thread().unpark();
            }
        }
    }

    /// Waits for every helper and collects what they computed.
    pub(super) fn finish(&self, length: usize, patience: Duration, out: &mut [f32]) -> Finish {
        let mut finish = Finish::InTime;
        for helper in &self.helpers {
            let desk = &helper.desk;
            // A piece that nobody has begun needs no waiting: its chunks are taken.
            if lock(&desk.task).take().is_some() {
                continue;
            }
            let posted = desk.posted.load(Ordering::Relaxed);
            let mut looks = 0;
            let mut since = None;
            while desk.done.load(Ordering::Acquire) != posted {
                looks += 1;
                if looks < LOOKS {
                    hint::spin_loop();
                } else if helper.thread.as_ref().is_none_or(JoinHandle::is_finished) {
                    return Finish::Lost;
                } else {
                    if since.get_or_insert_with(Instant::now).elapsed() > patience {
                        finish = Finish::Late;
                    }
                    thread::yield_now();
                }
            }
            lock(&desk.own).hand_over(length, out);
        }
        finish
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        for helper in &mut self.helpers {
            helper.desk.quit.store(true, Ordering::SeqCst);
            helper.desk.posted.fetch_add(1, Ordering::SeqCst);
            if let Some(thread) = helper.thread.take() {
                thread.thread().unpark();
                // It can only have panicked, which has been reported already.
                let _ = thread.join();
            }
        }
    }
}

impl Desk {
    fn serve(&self) {
        let mut seen = 0;
        loop {
            seen = self.wait(seen);
            if self.quit.load(Ordering::SeqCst) {
                return;
            }
            let task = lock(&self.task).take();
            if let Some(Task { number, shared, total }) = task {
                lock(&self.own).work(&shared, total);
                // The memory must be the machine's alone again before the piece counts as done.
                drop(shared);
                self.done.store(number, Ordering::Release);
            }
        }
    }

    /// Waits until `posted` differs from `seen`; gives the new value.
    fn wait(&self, seen: u32) -> u32 {
        for _ in 0..LOOKS {
            let posted = self.posted.load(Ordering::SeqCst);
            if posted != seen {
                return posted;
            }
            hint::spin_loop();
        }
        self.asleep.store(true, Ordering::SeqCst);
        loop {
            let posted = self.posted.load(Ordering::SeqCst);
            if posted != seen {
                self.asleep.store(false, Ordering::SeqCst);
                return posted;
            }
            thread::park();
        }
    }
}
