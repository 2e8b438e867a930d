//! The `ssnail` command.
fn main() {}
