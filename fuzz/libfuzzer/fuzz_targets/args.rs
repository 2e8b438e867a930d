//! The target `args` of `ssnail_fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    (ssnail_fuzz::target("args").expect("a target").run)(data);
});
