//! The target `d81` of `ssnail_fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    (ssnail_fuzz::target("d81").expect("a target").run)(data);
});
