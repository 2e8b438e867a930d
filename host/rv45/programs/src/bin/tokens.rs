//! The shared tokenizers on an image's vocabulary in attic RAM: ids of every line of a text.
#![no_std]
#![no_main]

use core::hint::black_box;
use rv45_programs::{exit, report, write};
use ssnail_shared::header::Header;
use ssnail_shared::mem::{Fault, ReadMemory};
use ssnail_shared::tokenizer::{encode, Place, Rules, Tables};

/// The image's header and payload lie where the accelerator has them.
const IMAGE: u32 = 0x800_0000;
/// Length of the text, then the text.
const TEXT: u32 = 0x850_0000;

struct Far;

impl ReadMemory for Far {
    fn read(&self, address: u32, out: &mut [u8]) -> Result<(), Fault> {
        for (i, b) in out.iter_mut().enumerate() {
            // SAFETY: the test bench puts an image and a text there; nothing else lives in attic RAM.
            *b = unsafe { ((address + i as u32) as usize as *const u8).read() };
        }
        Ok(())
    }
}

static mut SCRATCH: [u32; 2400] = [0; 2400];

#[no_mangle]
extern "C" fn main() -> ! {
    let far = Far;
    let mut header = [0; ssnail_shared::map::HEADER_LEN as usize];
    let _ = far.read(IMAGE, &mut header);
    let Ok(header) = Header::parse(black_box(&header)) else {
        write(b"no header\n");
        exit(1)
    };
    let Ok(mut tables) = Tables::open(&far, &header) else {
        write(b"no tables\n");
        exit(2)
    };
    let length = far.read_u32(TEXT).unwrap_or(0);
    // SAFETY: there is one thread.
    let scratch = unsafe { &mut *core::ptr::addr_of_mut!(SCRATCH) };
    let mut line = [0u8; 256];
    let mut used = 0;
    for at in 0..length {
        let byte = far.read_u8(TEXT + 4 + at).unwrap_or(b'\n');
        if byte != b'\n' && used < line.len() {
            line[used] = byte;
            used += 1;
            continue;
        }
        let mut hash = 0x811C_9DC5u32;
        let made = encode(&mut tables, &line[..used], Place::Later, Rules::REFERENCE, &mut scratch[..], |id| {
            hash = (hash ^ id).wrapping_mul(0x0100_0193);
            Ok(())
        });
        match made {
            Ok(made) => report("ids", hash ^ made.tokens << 24),
            Err(_) => write(b"error\n"),
        }
        used = 0;
    }
    exit(0)
}
