//! Ctrl-C and termination. Outside a conversation the process ends at once and leaves no
//! temporary file behind; while something runs that can stop by itself (see [`listen`]), the first
//! Ctrl-C only asks it to.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use tempfile::NamedTempFile;

/// Temporary files that exist now.
static LITTER: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
/// True while a [`Listening`] lives.
static LISTENING: AtomicBool = AtomicBool::new(false);
/// Requests since it began.
static REQUESTS: AtomicU32 = AtomicU32::new(0);

/// Status of a process that Ctrl-C ended, as shells report it.
const INTERRUPTED: i32 = 130;
/// So many unanswered requests end the process even while somebody listens.
const PATIENCE: u32 = 3;

/// Installs the handlers; without one (no terminal, a restricted system) Ctrl-C simply kills.
pub fn install() {
    let _ = ctrlc::set_handler(|| {
        let earlier = REQUESTS.fetch_add(1, Ordering::SeqCst);
        if !LISTENING.load(Ordering::SeqCst) || earlier + 1 >= PATIENCE {
            leave();
        }
    });
    #[cfg(unix)]
    faults::install();
}

fn leave() -> ! {
    terminal::restore();
    // Held to the end: no other thread makes a file that nobody would remove.
    let litter = LITTER.lock();
    if let Ok(litter) = &litter {
        remove(litter);
    }
    std::process::exit(INTERRUPTED)
}

fn remove(litter: &[PathBuf]) {
    for path in litter {
        let _ = std::fs::remove_file(path);
    }
}

/// While this value lives, Ctrl-C is a request that can be asked for. The outermost of several counts.
#[derive(Debug)]
pub struct Listening {
    outermost: bool,
}

/// Begins to listen; requests from before are forgotten, unless somebody listens already.
pub fn listen() -> Listening {
    let outermost = !LISTENING.swap(true, Ordering::SeqCst);
    if outermost {
        REQUESTS.store(0, Ordering::SeqCst);
    }
    Listening { outermost }
}

impl Listening {
    /// True once Ctrl-C was pressed.
    pub fn requested(&self) -> bool {
        REQUESTS.load(Ordering::SeqCst) > 0
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        if self.outermost {
            LISTENING.store(false, Ordering::SeqCst);
        }
    }
}

/// A temporary file that must not outlive the process; registered while this value lives.
#[derive(Debug)]
pub struct Litter(PathBuf);

impl Litter {
    /// Registers a file that may come to be.
    pub fn new(path: &Path) -> Self {
        LITTER.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_path_buf());
        Self(path.to_path_buf())
    }

    /// Makes a temporary file and registers it, with no moment between at which an interrupt would leave it behind.
    ///
    /// # Errors
    /// That of `make`.
    pub fn make(make: impl FnOnce() -> io::Result<NamedTempFile>) -> io::Result<(NamedTempFile, Self)> {
        let mut litter = LITTER.lock().unwrap_or_else(PoisonError::into_inner);
        let file = make()?;
        litter.push(file.path().to_path_buf());
        let this = Self(file.path().to_path_buf());
        Ok((file, this))
    }
}

impl Drop for Litter {
    fn drop(&mut self) {
        if let Ok(mut litter) = LITTER.lock() {
            litter.retain(|known| *known != self.0);
        }
    }
}

/// The terminal's settings, for a process that ends while a line is being edited.
pub mod terminal {
    #[cfg(unix)]
    use nix::sys::termios::{SetArg, Termios, tcgetattr, tcsetattr};
    #[cfg(unix)]
    static SETTINGS: std::sync::Mutex<Option<Termios>> = std::sync::Mutex::new(None);

    /// Remembers the settings of the terminal at standard input, as they are before any editing.
    pub fn remember() {
        #[cfg(unix)]
        if let (Ok(mut settings), Ok(now)) = (SETTINGS.lock(), tcgetattr(std::io::stdin())) {
            *settings = Some(now);
        }
    }

    /// Puts back what was remembered.
    pub fn restore() {
        #[cfg(unix)]
        if let Ok(settings) = SETTINGS.lock()
            && let Some(settings) = &*settings
        {
            // A terminal that is gone needs nothing.
            let _ = tcsetattr(std::io::stdin(), SetArg::TCSANOW, settings);
        }
    }
}

/// What became of a mapped file.
#[cfg(unix)]
pub const SHORTER: &str = "a file became shorter while it was read (or its disk failed); copy it again";

/// Faults that come as signals. A model file is mapped: where another program shortens it meanwhile, reading the lost
/// part is signalled by SIGBUS. Memory that cannot be had is SIGABRT. There is nothing to go on with: the process ends
/// with a sentence and status 2, and leaves no temporary file. A file that may not become longer is no signal but an
/// error of the write.
#[cfg(unix)]
#[allow(unsafe_code)]
mod faults {
    use super::{LITTER, SHORTER, remove, terminal};
    use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction, signal};
    use std::io::Write;

    const NO_MEMORY: &[u8] = b"ssnail: more memory is needed than there is; nothing half written is left behind\n";

    pub fn install() {
        let action = SigAction::new(SigHandler::Handler(end), SaFlags::empty(), SigSet::empty());
        // SAFETY: the signals come from a read of the mapping and from the standard library's abort, in the thread that
        // reads or allocates: no lock of the allocator or the streams is held there, and the handler never returns.
        let _ = unsafe { sigaction(Signal::SIGBUS, &action) };
        let _ = unsafe { sigaction(Signal::SIGABRT, &action) };
        // SAFETY: nothing is called.
        let _ = unsafe { signal(Signal::SIGXFSZ, SigHandler::SigIgn) };
    }

    extern "C" fn end(number: i32) {
        let mut stderr = std::io::stderr();
        let _ = if number == Signal::SIGABRT as i32 {
            stderr.write_all(NO_MEMORY)
        } else {
            // In one piece each: nothing is formatted in a handler.
            stderr.write_all(b"ssnail: ").and(stderr.write_all(SHORTER.as_bytes())).and(stderr.write_all(b"\n"))
        };
        terminal::restore();
        // A thread that makes a file at this moment is let finish; one that waits for this thread would wait for ever.
        for _ in 0..100 {
            if let Ok(litter) = LITTER.try_lock() {
                remove(&litter);
                std::process::exit(2)
            }
            std::thread::yield_now();
        }
        std::process::exit(2)
    }
}
