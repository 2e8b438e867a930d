//! The target `elf` of `ssnail_fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    (ssnail_fuzz::target("elf").expect("a target").run)(data);
});
