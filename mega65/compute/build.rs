//! Where the linker puts this program's data: over the homes of the other program's overlays.

fn main() {
    if std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("riscv32") {
        println!("cargo::rustc-link-arg-bins=--defsym=rv45_data=0x12000");
    }
}
