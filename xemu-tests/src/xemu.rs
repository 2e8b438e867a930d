//! The same program in Xemu (`XMEGA65`, or `xmega65` on the search path; it refuses to run as root), watched and
//! typed to through its monitor on a socket.

use ssnail_disk::block::{BlockDevice, FileDevice, MemDevice};
use ssnail_m65::io::keyboard::Key;
use ssnail_m65::io::matrix;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};
use tempfile::TempDir;

/// Sectors that the card has at least.
const CARD_SECTORS: u32 = (128 << 20) / 512;
/// A key is down for this long, and up for as long behind it.
const KEY: Duration = Duration::from_millis(60);
const NO_KEY: u8 = 0x7f;
/// Virtual keys of the keyboard: two at a time.
const KEYS: [u32; 2] = [0x0ffd_3615, 0x0ffd_3616];
const LEFT_SHIFT: u8 = 15;
/// Bytes in a line of a memory dump.
const DUMP_LINE: u32 = 16;

/// A run of the emulator; dropped, it ends.
pub struct Xemu {
    child: Child,
    monitor: UnixStream,
    _folder: TempDir,
}

/// The emulator, or nothing where there is none.
pub fn path() -> Option<PathBuf> {
    let user = Command::new("id").arg("-u").output().ok()?;
    if user.stdout.starts_with(b"0\n") {
        println!("skipped: Xemu does not run as root");
        return None;
    }
    let named = env::var_os("XMEGA65").map(PathBuf::from);
    let search = env::var_os("PATH").unwrap_or_default();
    let found = named.or_else(|| env::split_paths(&search).map(|f| f.join("xmega65")).find(|p| p.is_file()));
    if found.is_none() {
        println!("skipped: no xmega65 on PATH, and XMEGA65 is not set");
    }
    found
}

impl Xemu {
    /// Starts a program with a card; `entry` is the address of its SYS.
    pub fn start(emulator: PathBuf, prg: &[u8], entry: u16, mut card: MemDevice) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("p.prg"), prg).unwrap();
        let sectors = card.sectors().max(CARD_SECTORS);
        let mut image = FileDevice::create_new(&path("card.img"), sectors).unwrap();
        let mut sector = [0; 512];
        for lba in 0..card.sectors() {
            card.read(lba, &mut sector).unwrap();
            if sector != [0; 512] {
                image.write(lba, &sector).unwrap();
            }
        }
        drop(image);
        let child = Command::new(emulator)
            .args(["-skipconfigfile", "-headless", "-sleepless", "-besure", "-testing", "-nosound", "-useinitrom"])
            .arg("-sdimg")
            .arg(path("card.img"))
            .arg("-prg")
            .arg(path("p.prg"))
            .args(["-prgmode", "65", "-prgtest", &format!("SYS{entry}"), "-uartmon"])
            .arg(path("monitor"))
            .env("XDG_DATA_HOME", folder.path())
            .env("HOME", folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let start = Instant::now();
        let monitor = loop {
            match UnixStream::connect(path("monitor")) {
                Ok(stream) => break stream,
                Err(e) => assert!(start.elapsed() < Duration::from_secs(20), "no monitor: {e}"),
            }
            thread::sleep(KEY);
        };
        monitor.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
        Self { child, monitor, _folder: folder }
    }

    /// One command of the monitor; its answer ends with a line of one dot.
    fn ask(&mut self, command: &str) -> String {
        self.monitor.write_all(format!("{command}\r\n").as_bytes()).unwrap();
        let (mut answer, mut part) = (Vec::new(), [0; 4096]);
        while !answer.ends_with(b"\n.\r\n") {
            match self.monitor.read(&mut part) {
                Ok(n) if n > 0 => answer.extend_from_slice(&part[..n]),
                _ => break,
            }
        }
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Memory by its 28-bit address.
    pub fn memory(&mut self, address: u32, length: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        while (bytes.len() as u32) < length {
            let answer = self.ask(&format!("M{:x}", address + bytes.len() as u32));
            let before = bytes.len();
            for line in answer.lines() {
                let Some(digits) = line.strip_prefix(':').and_then(|l| l.split_once(':')).map(|(_, d)| d.trim()) else {
                    continue;
                };
                if digits.len() == 2 * DUMP_LINE as usize {
                    bytes.extend(
                        (0..digits.len() / 2).filter_map(|n| u8::from_str_radix(&digits[2 * n..2 * n + 2], 16).ok()),
                    );
                }
            }
            assert!(bytes.len() > before, "the monitor shows no memory at ${address:07X}: {answer}");
        }
        bytes.truncate(length as usize);
        bytes
    }

    /// Presses a key and lets it go.
    pub fn press(&mut self, key: &Key) {
        let Some(position) = matrix::position(key) else { panic!("{key:?} is not in the matrix") };
        let shift = key.modifiers & 1 != 0;
        if shift {
            self.ask(&format!("s{:x} {LEFT_SHIFT:x}", KEYS[1]));
        }
        for code in [position, NO_KEY] {
            self.ask(&format!("s{:x} {code:x}", KEYS[0]));
            thread::sleep(KEY);
        }
        if shift {
            self.ask(&format!("s{:x} {NO_KEY:x}", KEYS[1]));
        }
    }
}

impl Drop for Xemu {
    fn drop(&mut self) {
        // Nothing is lost where it has ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
