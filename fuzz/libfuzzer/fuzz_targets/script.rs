//! The target `script` of `ssnail_fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    (ssnail_fuzz::target("script").expect("a target").run)(data);
});
