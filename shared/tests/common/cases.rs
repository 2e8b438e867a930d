//! How much of a long loop a test takes, and where the test data lies. Miri is some thousand times slower than the
//! processor, and looks for another kind of fault: it is content with a few cases of each kind.

/// Cases that a test takes of `all`: every one, but under Miri their square root.
#[must_use]
pub const fn cases(all: u32) -> u32 {
    if cfg!(miri) { all.isqrt() } else { all }
}

/// Step through a range of `all`: one, but under Miri such that about [`cases`] are met, odd so that low bits vary.
#[must_use]
pub const fn step(all: u32) -> usize {
    if cfg!(miri) { (all.isqrt() | 1) as usize } else { 1 }
}

/// Folder of the test data. Miri lets a test read files only without its isolation, and then hands the environment on.
#[must_use]
pub fn data_folder() -> Option<String> {
    if let Ok(folder) = std::env::var("SSNAIL_DATA") {
        return Some(folder);
    }
    if cfg!(miri) {
        println!("skipped: Miri reads the test data with -Zmiri-disable-isolation and SSNAIL_DATA");
        return None;
    }
    Some(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data").into())
}
