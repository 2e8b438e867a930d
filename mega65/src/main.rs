//! SSNAIL.PRG: lists the models on the SD card, loads one through the core's load port, and talks.
//!
//! Everything that knows no hardware is in `ssnail-shared` and tested on the PC. Here: `hw` (registers, DMA, HDOS, keys),
//! `card` (finding and reading models), `console` (what is on the screen), `app` (what a person sees).

#![no_std]
#![no_main]

mod app;
mod card;
mod console;
mod hw;
mod out;

/// Where the start-up code goes on.
#[allow(unsafe_code)]
#[no_mangle]
extern "C" fn main() -> ! {
    app::run();
    hw::leave()
}

/// A panic is a fault of this program: said on the top line, then the machine waits for a reset.
#[cfg(not(test))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    hw::vic::alarm(b"SSNAIL HAS A FAULT AND STOPPED. PLEASE RESET.");
    loop {}
}
