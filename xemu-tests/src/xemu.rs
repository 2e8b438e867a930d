//! The same program in Xemu (`XMEGA65`, or `xmega65` on the search path), watched and typed to through its monitor on a
//! socket. Time is counted in frames of the emulator, for the monitor answers once a frame: a slow or busy PC changes nothing.

use rv45::asm::assemble;
use ssnail_disk::block::{BlockDevice, FileDevice, MemDevice};
use ssnail_m65::io::keyboard::{Key, modifier};
use ssnail_m65::io::matrix;
use ssnail_m65::{Machine, Model};
use std::io::{Read, Write};
use std::os::unix::fs::chown;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};
use tempfile::TempDir;

/// Where Xemu can be had.
pub const SOURCE: &str = "https://github.com/lgblgblgb/xemu";
/// Sectors that the card has at least.
const CARD_SECTORS: u32 = (128 << 20) / 512;
/// How long the emulator may take to start, and to answer.
const PATIENCE: Duration = Duration::from_secs(120);
const NO_KEY: u8 = 0x7f;
/// Virtual keys of the keyboard: three at a time.
const KEYS: [u32; 3] = [0x0ffd_3615, 0x0ffd_3616, 0x0ffd_3617];
/// Oldest event of the keyboard's queue.
const QUEUE: u32 = 0x0ffd_3610;
/// How long the program may leave a key in the queue: a token without the core takes seconds.
const KEY_TAKEN: Duration = Duration::from_secs(60);
/// Keys that change others, and their places in the matrix.
const MODIFIERS: [(u8, u8); 3] = [(modifier::SHIFT, 15), (modifier::CTRL, 58), (modifier::MEGA, 61)];
/// Bytes in a line of a memory dump.
const DUMP_LINE: u32 = 16;
/// A user who owns nothing: for Xemu started by root, which it refuses.
const NOBODY: u32 = 65_534;

/// How a program gets into the machine.
pub struct Start<'a> {
    /// A PRG file.
    pub prg: &'a [u8],
    /// Address of its SYS.
    pub entry: u16,
    /// The card.
    pub card: MemDevice,
    /// A disk in drive 8 that does not lie on the card.
    pub disk: Option<&'a [u8]>,
    /// The card's own `MEGA65.D81` is mounted at the start.
    pub default_disk: bool,
}

/// A run of the emulator; dropped, it ends.
pub struct Xemu {
    child: Child,
    monitor: UnixStream,
    folder: TempDir,
}

/// The emulator, or nothing where there is none.
pub fn found() -> Option<PathBuf> {
    if let Some(named) = env::var_os("XMEGA65").filter(|name| !name.is_empty()) {
        return Some(named.into());
    }
    let search = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&search).map(|folder| folder.join("xmega65")).find(|path| path.is_file())
}

/// The emulator, or nothing where a test is to be skipped, with the reason printed.
pub fn path() -> Option<PathBuf> {
    if is_root() {
        println!("skipped: Xemu does not run as root (make xemu-test changes the user)");
        return None;
    }
    let found = found();
    if found.is_none() {
        println!("skipped: no xmega65 on PATH, and XMEGA65 is not set");
    }
    found
}

/// Whether this process runs as root.
fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|o| o.stdout.starts_with(b"0\n"))
}

/// The user and group for Xemu, where this process runs as root: who called sudo, else nobody.
pub fn other_user() -> Option<(u32, u32)> {
    let number = |name: &str| env::var(name).ok()?.parse().ok().filter(|&n| n != 0);
    is_root().then(|| (number("SUDO_UID").unwrap_or(NOBODY), number("SUDO_GID").unwrap_or(NOBODY)))
}

/// Address that RUN would start in a program.
pub fn entry(prg: &[u8]) -> u16 {
    let mut machine = Machine::new(Model::R3);
    machine.load_prg(prg).unwrap_or_else(|e| panic!("{e}"));
    machine.cpu.pc
}

/// Writes a card as an image file, as large as Xemu wants it.
fn write_card(path: &Path, card: &mut MemDevice) {
    let mut image = FileDevice::create_new(path, card.sectors().max(CARD_SECTORS)).unwrap();
    let mut sector = [0; 512];
    for lba in 0..card.sectors() {
        card.read(lba, &mut sector).unwrap();
        if sector != [0; 512] {
            image.write(lba, &sector).unwrap();
        }
    }
}

impl Xemu {
    /// Starts a program.
    ///
    /// # Errors
    /// A sentence that says why the emulator does not run.
    pub fn start(emulator: &Path, mut start: Start<'_>) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let path = |name: &str| folder.path().join(name);
        fs::write(path("p.prg"), start.prg).unwrap();
        write_card(&path("card.img"), &mut start.card);
        let mut command = Command::new(emulator);
        command
            .args(["-skipconfigfile", "-headless", "-sleepless", "-besure", "-testing", "-nosound", "-useinitrom"])
            .arg("-sdimg")
            .arg(path("card.img"))
            .arg("-prg")
            .arg(path("p.prg"))
            .args(["-prgmode", "65", "-prgtest", &format!("SYS{}", start.entry), "-uartmon"])
            .arg(path("monitor"))
            .arg("-hyperserialfile")
            .arg(path("serial"));
        if let Some(disk) = start.disk {
            fs::write(path("disk.d81"), disk).unwrap();
            command.arg("-8").arg(path("disk.d81"));
        }
        if start.default_disk {
            command.arg("-defd81fromsd");
        }
        if let Some((user, group)) = other_user() {
            chown(folder.path(), Some(user), Some(group)).unwrap();
            for file in fs::read_dir(folder.path()).unwrap() {
                chown(file.unwrap().path(), Some(user), Some(group)).unwrap();
            }
            command.uid(user).gid(group);
        }
        let log = fs::File::create(path("log")).unwrap();
        let mut child = command
            .env("XDG_DATA_HOME", folder.path())
            .env("HOME", folder.path())
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .map_err(|e| format!("{}: {e}", emulator.display()))?;
        let begun = Instant::now();
        let monitor = loop {
            if let Ok(stream) = UnixStream::connect(path("monitor")) {
                break stream;
            }
            if let Ok(Some(status)) = child.try_wait() {
                let log = fs::read_to_string(path("log")).unwrap_or_default();
                return Err(format!("Xemu ended ({status}): {}", log.lines().last().unwrap_or_default()));
            }
            if begun.elapsed() > PATIENCE {
                let _ = child.kill();
                return Err("Xemu opened no monitor".into());
            }
            thread::sleep(Duration::from_millis(20));
        };
        monitor.set_read_timeout(Some(PATIENCE)).unwrap();
        Ok(Self { child, monitor, folder })
    }

    /// One command of the monitor, which takes at least a frame; its answer ends with a line of one dot.
    fn ask(&mut self, command: &str) -> String {
        let (mut answer, mut part) = (Vec::new(), [0; 4096]);
        if self.monitor.write_all(format!("{command}\r\n").as_bytes()).is_ok() {
            while !answer.ends_with(b"\n.\r\n") {
                match self.monitor.read(&mut part) {
                    Ok(n) if n > 0 => answer.extend_from_slice(&part[..n]),
                    _ => break,
                }
            }
        }
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Memory by its 28-bit address.
    pub fn memory(&mut self, address: u32, length: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        while (bytes.len() as u32) < length {
            // A line for little, sixteen of them for more.
            let command = if length <= DUMP_LINE { 'm' } else { 'M' };
            let answer = self.ask(&format!("{command}{:x}", address + bytes.len() as u32));
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
            assert!(
                bytes.len() > before,
                "Xemu's monitor shows no memory at ${address:07X}: {answer:?}; the emulator {}:\n{}",
                match self.child.try_wait() {
                    Ok(Some(status)) => format!("has ended ({status})"),
                    _ => "runs".into(),
                },
                self.log()
            );
        }
        bytes.truncate(length as usize);
        bytes
    }

    /// Writes up to 64 bytes of memory.
    fn write(&mut self, address: u32, bytes: &[u8]) {
        let digits: Vec<String> = bytes.iter().map(|b| format!("{b:02x}")).collect();
        self.ask(&format!("s{address:x} {}", digits.join(" ")));
    }

    /// Presses a key, lets it go, and waits until the program has taken it.
    ///
    /// # Errors
    /// The program does not take it.
    pub fn press(&mut self, key: &Key) -> Result<(), String> {
        let position = matrix::position(key).ok_or_else(|| format!("{key:?} is not in the matrix"))?;
        let held: Vec<u8> = MODIFIERS.iter().filter(|m| key.modifiers & m.0 != 0).map(|m| m.1).collect();
        for (place, code) in KEYS[1..].iter().zip(&held) {
            self.write(*place, &[*code]);
        }
        for code in [position, NO_KEY] {
            self.write(KEYS[0], &[code]);
            // Some frames for the keyboard to notice.
            self.memory(QUEUE, 1);
        }
        for (place, _) in KEYS[1..].iter().zip(&held) {
            self.write(*place, &[NO_KEY]);
        }
        let begun = Instant::now();
        while begun.elapsed() < KEY_TAKEN {
            if self.memory(QUEUE, 1) == [0] {
                return Ok(());
            }
        }
        Err(format!("the program takes no key ({key:?})"))
    }

    /// Ends the run: attic RAM from $8000000 on, sent out by a program that takes the place of the one that ran.
    ///
    /// # Errors
    /// The emulator did not end.
    pub fn attic(mut self, length: u32) -> Result<Vec<u8>, String> {
        let pages = length.div_ceil(256);
        let code = assemble(&DUMP.replace("PAGES", &pages.to_string()), DUMP_AT).map_err(|e| e.to_string())?;
        for (at, part) in (DUMP_AT..).step_by(32).zip(code.bytes.chunks(32)) {
            self.write(u32::from(at), part);
        }
        self.ask(&format!("g{DUMP_AT:x}"));
        let begun = Instant::now();
        while !matches!(self.child.try_wait(), Ok(Some(_))) {
            if begun.elapsed() > 4 * PATIENCE {
                return Err("attic RAM was not sent in time".into());
            }
            thread::sleep(Duration::from_millis(20));
        }
        let sent = fs::read(self.folder.path().join("serial")).map_err(|e| e.to_string())?;
        // Before it is what the hypervisor itself said.
        let start = sent.len().checked_sub(pages as usize * 256).ok_or("attic RAM did not come whole")?;
        Ok(sent[start..start + length as usize].to_vec())
    }

    /// The last lines that the emulator said.
    pub fn log(&self) -> String {
        let log = fs::read(self.folder.path().join("log")).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(12)..].join("\n")
    }
}

const DUMP_AT: u16 = 0x1600;
/// Sends pages of attic RAM to the hypervisor's serial line, then ends the emulator.
const DUMP: &str = "
size = PAGES
        SEI
        LDA #0
        TAX
        TAY
        TAZ
        MAP
        EOM
        LDA #$47
        STA $D02F
        LDA #$53
        STA $D02F
        LDA #$35
        STA abs:$0001
        LDA #$17
        TAB
        LDA #0
        STA $80
        STA $81
        STA $82
        STA $84
        STA $85
        LDA #$08
        STA $83
next:   LDZ #0
        LDA [$80],Z
        STA $D643
        CLV
        INC $80
        BNE next
        INC $81
        BNE count
        INC $82
count:  INC $84
        BNE low
        INC $85
low:    LDA $84
        CMP #<size
        BNE next
        LDA $85
        CMP #>size
        BNE next
        LDA #0
        STA $D6CF
        LDA #$42
        STA $D6CF
stop:   BRA stop
";

impl Drop for Xemu {
    fn drop(&mut self) {
        // Nothing is lost where it has ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
