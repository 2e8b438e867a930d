//! Random Rust expressions over all integer types and f32: compiled for this machine and for
//! RISC-V, the latter interpreted and translated. All outputs must agree.
//!
//! In the slow set: `cargo test -p rv45 --test random_rust -- --ignored`. `RV45_EXPRESSIONS` sets how
//! many there are (default 600), `RV45_SEED` which.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use rv45::link::{Options, link};
use rv45::lower::Peepholes;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32 ^ (self.0 >> 11) as u32
    }
    fn below(&mut self, n: u32) -> u32 {
        self.next() % n
    }
    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len() as u32) as usize]
    }
}

const INTS: [&str; 8] = ["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64"];

/// An expression of type `ty` over `a: u32`, `b: i64`, `c: u8`, `f: f32`.
fn expression(r: &mut Random, ty: &str, depth: u32) -> String {
    if ty == "f32" {
        return float(r, depth);
    }
    if depth == 0 || r.below(9) == 0 {
        return match r.below(5) {
            0 => format!("({} as {ty})", literal(r)),
            1 => format!("(a as {ty})"),
            2 => format!("(b as {ty})"),
            3 => format!("(c as {ty})"),
            _ => format!("((a >> {}) as {ty})", r.below(31)),
        };
    }
    let next = depth - 1;
    let e = |r: &mut Random| expression(r, ty, next);
    match r.below(16) {
        0..=2 => {
            let m = r.pick(&["wrapping_add", "wrapping_sub", "wrapping_mul"]);
            format!("{}.{m}({})", e(r), e(r))
        }
        3 => format!("({} {} {})", e(r), r.pick(&["&", "|", "^"]), e(r)),
        4 => {
            let m = r.pick(&["wrapping_shl", "wrapping_shr", "rotate_left", "rotate_right"]);
            format!("{}.{m}({} & 63)", e(r), expression(r, "u32", next))
        }
        5 => {
            let m = r.pick(&["checked_div", "checked_rem"]);
            format!("{}.{m}({}).unwrap_or({})", e(r), e(r), e(r))
        }
        6 => format!("if {} {{ {} }} else {{ {} }}", condition(r, next), e(r), e(r)),
        7 => {
            let other = r.pick(&INTS);
            format!("({} as {ty})", expression(r, other, next))
        }
        8 => format!("(!{})", e(r)),
        9 => format!("{}.wrapping_neg()", e(r)),
        10 => {
            let m = r.pick(&["leading_zeros", "trailing_zeros", "count_ones"]);
            format!("({}.{m}() as {ty})", e(r))
        }
        11 => format!("{}.{}({})", e(r), r.pick(&["min", "max", "saturating_add", "saturating_sub"]), e(r)),
        12 => format!("{}.swap_bytes()", e(r)),
        13 => format!("({} as {ty})", float(r, next)),
        14 => {
            let n = 1 + r.below(4);
            format!(
                "{{ let mut s = {}; for i in 0..{n}u32 {{ s = s.wrapping_mul(3).wrapping_add({} ^ i as {ty}); }} s }}",
                e(r),
                e(r)
            )
        }
        _ => format!(
            "match {} % 5 {{ 0 => {}, 1 => {}, 2 => {}, 3 => {}, _ => {} }}",
            expression(r, "u32", next),
            e(r),
            e(r),
            e(r),
            e(r),
            e(r)
        ),
    }
}

fn float(r: &mut Random, depth: u32) -> String {
    if depth == 0 {
        return match r.below(4) {
            0 => "f".into(),
            1 => "(a as f32)".into(),
            2 => "(b as f32)".into(),
            _ => format!("{}f32", ["0.0", "1.0", "-2.5", "1e10", "3.1415927", "0.1"][r.below(6) as usize]),
        };
    }
    let next = depth - 1;
    match r.below(6) {
        0..=2 => format!("({} {} {})", float(r, next), r.pick(&["+", "-", "*", "/"]), float(r, next)),
        3 => format!("(-{})", float(r, next)),
        4 => {
            let ty = r.pick(&["u32", "i32", "u8", "i64"]);
            format!("({} as f32)", expression(r, ty, next))
        }
        _ => format!("if {} {{ {} }} else {{ {} }}", condition(r, next), float(r, next), float(r, next)),
    }
}

fn condition(r: &mut Random, depth: u32) -> String {
    let op = r.pick(&["<", "<=", ">", ">=", "==", "!="]);
    let ty = if r.below(5) == 0 { "f32" } else { r.pick(&INTS) };
    format!("({}) {op} ({})", expression(r, ty, depth), expression(r, ty, depth))
}

fn literal(r: &mut Random) -> String {
    let list = [0i64, 1, 2, 7, 10, 100, 127, 128, 255, 256, 1000, 65535, 65536, 0x7FFF_FFFF, -1, -2, -128, -32768];
    format!("({}i64)", if r.below(3) == 0 { i64::from(r.next()) - 0x7000_0000 } else { list[r.below(18) as usize] })
}

/// Functions and a table of calls; the body of `cases.rs`.
fn cases(count: u32, seed: u64) -> String {
    let mut r = Random(seed);
    let mut out = String::from("#![allow(unused, clippy::all)]\n");
    for i in 0..count {
        let ty = if r.below(6) == 0 { "f32" } else { r.pick(&INTS) };
        let depth = 2 + r.below(3);
        let body = expression(&mut r, ty, depth);
        let result = match ty {
            "f32" => "if v.is_nan() { 0x7FC0_0000u64 } else { v.to_bits() as u64 }",
            _ => "v as u64",
        };
        let _ = writeln!(
            out,
            "#[inline(never)]\npub fn f{i}(a: u32, b: i64, c: u8, f: f32) -> u64 {{ let v: {ty} = {body}; {result} }}"
        );
    }
    out.push_str("pub fn all(mut each: impl FnMut(u64)) {\n    let mut r = 0x2545_F491u32;\n");
    out.push_str(
        "    let mut next = move || { r ^= r << 13; r ^= r >> 17; r ^= r << 5; r };\n    for round in 0..3u32 {\n",
    );
    for i in 0..count {
        let _ = writeln!(
            out,
            "        {{ let n = next(); let m = next(); each(f{i}(if round == 0 {{ n & 255 }} else {{ n }}, ((m as i32) as i64) << (n & 31), m as u8, f32::from_bits(m & 0xBFFF_FFFF | 0x2000_0000))); }}"
        );
    }
    out.push_str("    }\n}\n");
    out
}

const TARGET_MAIN: &str = "#![no_std]\n#![no_main]\nmod cases;\nuse rv45_rt::host::{exit, write};\n#[panic_handler]\nfn panic(_: &core::panic::PanicInfo<'_>) -> ! { write(b\"panic\"); exit(101) }\n#[no_mangle]\nextern \"C\" fn main() -> ! {\n    cases::all(|v| { let mut t = *b\"0000000000000000\\n\"; for i in 0..16 { let d = (v >> (60 - 4 * i) & 15) as u8; t[i] = if d < 10 { b'0' + d } else { b'a' + d - 10 }; } write(&t); });\n    exit(0)\n}\n";
const HOST_MAIN: &str = "mod cases;\nfn main() { cases::all(|v| println!(\"{v:016x}\")); }\n";

fn host_output(dir: &Path) -> String {
    let source = dir.join("host.rs");
    std::fs::write(&source, HOST_MAIN).unwrap();
    let binary = dir.join("host");
    let compiled = Command::new("rustc")
        .args(["-Awarnings", "-Copt-level=1", "--edition=2021", "-o"])
        .args([&binary, &source])
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    String::from_utf8(Command::new(binary).output().unwrap().stdout).unwrap()
}

#[test]
#[ignore = "slow set: compiles hundreds of functions twice"]
fn random_expressions() {
    if common::programs().is_none() {
        return;
    }
    let number = |name: &str, default: u64| std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default);
    let (count, seed) = (number("RV45_EXPRESSIONS", 600), number("RV45_SEED", 1));
    for (batch, start) in (0..count).step_by(60).enumerate() {
        let dir = std::env::temp_dir().join(format!("rv45-random-{}-{seed}-{batch}", std::process::id()));
        std::fs::create_dir_all(dir.join("src")).unwrap();
        let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let manifest = std::fs::read_to_string(here.join("programs/random/Cargo.toml")).unwrap();
        let rt = here.join("rt");
        std::fs::write(dir.join("Cargo.toml"), manifest.replace("../../rt", &rt.to_string_lossy())).unwrap();
        let text = cases((count - start).min(60) as u32, seed.wrapping_mul(1000) + batch as u64);
        std::fs::write(dir.join("src/cases.rs"), &text).unwrap();
        std::fs::write(dir.join("cases.rs"), &text).unwrap();
        std::fs::write(dir.join("src/main.rs"), TARGET_MAIN).unwrap();
        let script = format!(
            "eval \"$('{}/toolchain.sh')\"; cd '{}' && RV45_RUSTFLAGS=$RV45_RUSTFLAGS$RV45_SEPARATOR-Awarnings && rv45_cargo build -q --release $RV45_CARGO_FLAGS --target-dir target >&2 && echo target/$RV45_TARGET/release/rv45-random",
            here.display(),
            dir.display()
        );
        let built = Command::new("sh").args(["-c", &script]).output().unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let elf = dir.join(String::from_utf8_lossy(&built.stdout).trim());
        let file = std::fs::read(&elf).unwrap();
        let host = host_output(&dir);
        let expected = common::interpret(&file).output;
        compare("interpreter and this machine", &expected, &host, &dir);
        for peepholes in [Peepholes::ALL, Peepholes::NONE] {
            let program = link(&file, &Options { peepholes, ..Options::default() }).unwrap();
            let (got, _) = common::emulate(&program, 2_000_000_000);
            compare(&format!("MEGA65 ({peepholes:?}) and interpreter"), &got.output, &expected, &dir);
        }
        println!("batch {batch}: {} values agree", host.lines().count());
        std::fs::remove_dir_all(&dir).unwrap();
    }
}

fn compare(what: &str, a: &str, b: &str, dir: &Path) {
    let count = a.lines().count().max(1);
    if let Some(i) = a.lines().zip(b.lines()).position(|(x, y)| x != y) {
        panic!("{what} differ in case f{} (line {i} of {count}, sources in {})", i % (count / 3), dir.display());
    }
    assert_eq!(a.lines().count(), b.lines().count(), "{what}: different lengths");
}
