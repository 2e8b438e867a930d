//! Ctrl-C and termination. Outside a conversation the process ends at once and leaves no
//! temporary file behind; while something runs that can stop by itself (see [`listen`]), the first
//! Ctrl-C only asks it to.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

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

/// Installs the handler; without one (no terminal, a restricted system) Ctrl-C simply kills.
pub fn install() {
    let _ = ctrlc::set_handler(|| {
        let earlier = REQUESTS.fetch_add(1, Ordering::SeqCst);
        if !LISTENING.load(Ordering::SeqCst) || earlier + 1 >= PATIENCE {
            leave();
        }
    });
}

fn leave() -> ! {
    terminal::restore();
    if let Ok(litter) = LITTER.lock() {
        for path in litter.iter() {
            let _ = std::fs::remove_file(path);
        }
    }
    std::process::exit(INTERRUPTED)
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
    /// Registers the file.
    pub fn new(path: &Path) -> Self {
        if let Ok(mut litter) = LITTER.lock() {
            litter.push(path.to_path_buf());
        }
        Self(path.to_path_buf())
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
