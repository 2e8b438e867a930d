//! Runs of programs in Xemu. `XMEGA65` names the emulator, else the search path is asked; it refuses to run as root.

use ssnail_disk::block::{BlockDevice, FileDevice, MemDevice};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

/// Sectors that the card has at least: Xemu takes none below 64 MB.
const CARD_SECTORS: u32 = (128 << 20) / 512;
/// A run takes longer than this where the program does not end.
const PATIENCE: Duration = Duration::from_secs(90);

/// What is left of a run.
pub struct Ended {
    /// Chip RAM.
    pub memory: Vec<u8>,
    /// The screen as text.
    pub screen: String,
}

/// The emulator, or why the test is skipped.
pub fn path() -> Option<PathBuf> {
    let found = find();
    if let Err(reason) = &found {
        println!("skipped: {reason}");
    }
    found.ok()
}

fn find() -> Result<PathBuf, String> {
    let user = Command::new("id").arg("-u").output().map_err(|e| e.to_string())?;
    if user.stdout.starts_with(b"0\n") {
        return Err("Xemu does not run as root".into());
    }
    if let Some(path) = env::var_os("XMEGA65") {
        return Ok(path.into());
    }
    let search = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&search)
        .map(|folder| folder.join("xmega65"))
        .find(|path| path.is_file())
        .ok_or_else(|| "no xmega65 on PATH, and XMEGA65 is not set".into())
}

/// Loads `code` at `entry`, starts it with SYS and waits until it ends by writing $42 to $D6CF.
pub fn run(emulator: &Path, code: &[u8], entry: u16, mut card: MemDevice) -> Ended {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let mut file = vec![0x01, 0x20];
    file.resize(2 + usize::from(entry) - 0x2001, 0);
    file.extend(code);
    fs::write(path("p.prg"), file).unwrap();
    let mut image = FileDevice::create_new(&path("card.img"), card.sectors().max(CARD_SECTORS)).unwrap();
    let mut sector = [0; 512];
    for lba in 0..card.sectors() {
        card.read(lba, &mut sector).unwrap();
        if sector != [0; 512] {
            image.write(lba, &sector).unwrap();
        }
    }
    drop(image);
    let mut child = Command::new(emulator)
        .args(["-skipconfigfile", "-headless", "-sleepless", "-besure", "-testing", "-nosound", "-useinitrom"])
        .arg("-sdimg")
        .arg(path("card.img"))
        .arg("-prg")
        .arg(path("p.prg"))
        .args(["-prgmode", "65", "-prgtest", &format!("SYS{entry}"), "-dumpscreen"])
        .arg(path("screen.txt"))
        .arg("-dumpmem")
        .arg(path("memory.bin"))
        .env("XDG_DATA_HOME", folder.path())
        .env("HOME", folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > PATIENCE {
            let _ = child.kill();
            panic!("the program does not end in Xemu");
        }
        thread::sleep(Duration::from_millis(50));
    }
    let memory = fs::read(path("memory.bin")).unwrap();
    let screen = fs::read_to_string(path("screen.txt")).unwrap_or_default();
    Ended { memory, screen }
}

/// Says where two stretches of memory differ first.
#[track_caller]
pub fn assert_same(ours: &[u8], theirs: &[u8], start: usize, what: &str) {
    let differing: Vec<String> = (0..ours.len().max(theirs.len()))
        .filter(|&n| ours.get(n) != theirs.get(n))
        .take(12)
        .map(|n| format!("${:04X}: here {:02X?}, Xemu {:02X?}", start + n, ours.get(n), theirs.get(n)))
        .collect();
    assert!(differing.is_empty(), "{what}:\n{}", differing.join("\n"));
}
