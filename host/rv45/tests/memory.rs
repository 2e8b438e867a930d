//! Hand-written memory routines, far access and DMA.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::bench::{Bench, line};
use rv45::ir::{Ir, Placement};
use rv45::link::Options;

fn bench(name: &str) -> Bench {
    Bench::new(&Options::default(), Placement::Normal, |symbols| {
        let target = symbols.named(name);
        vec![line(Ir::Call { target }), line(Ir::Ret)]
    })
}

fn call(bench: &mut Bench, a: [u32; 3]) -> u32 {
    let mut regs = [0; 32];
    regs[2] = 0x5_FF00;
    regs[10..13].copy_from_slice(&a);
    bench.call(&regs).0[10]
}

fn pattern(n: usize, seed: u32) -> Vec<u8> {
    let mut x = seed | 1;
    (0..n)
        .map(|_| {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (x >> 24) as u8
        })
        .collect()
}

/// Lengths around the border between bytewise and DMA, pages, and the pieces of long jobs.
const LENGTHS: [usize; 14] = [0, 1, 2, 3, 7, 23, 24, 31, 32, 255, 256, 257, 0x7FFF, 0x8003];

#[test]
fn memcpy_and_memmove() {
    for name in ["memcpy", "memmove"] {
        let mut bench = bench(name);
        // Chip RAM, attic RAM, and across a megabyte of it.
        for (dst, src) in
            [(0x4_1003u32, 0x5_0001u32), (0x812_0000, 0x4_0000), (0x82F_FFF0, 0x84F_FFE9), (0x4_0001, 0x80F_FF85)]
        {
            for n in LENGTHS {
                let (data, around) = (pattern(n, n as u32 + src), pattern(n + 2, 9));
                bench.poke(dst - 1, &around);
                bench.poke(src, &data);
                assert_eq!(call(&mut bench, [dst, src, n as u32]), dst);
                let got = bench.peek(dst - 1, n as u32 + 2);
                assert!(got[1..=n] == data, "{name} {dst:X} {src:X} {n}");
                assert_eq!((got[0], got[n + 1]), (around[0], around[n + 1]), "{name} {dst:X} {src:X} {n}: around");
            }
        }
    }
}

#[test]
fn memmove_of_overlapping_ranges() {
    let mut bench = bench("memmove");
    for (dst, src) in [(0x4_1000u32, 0x4_1001u32), (0x4_1001, 0x4_1000), (0x4_1040, 0x4_1000), (0x4_1000, 0x4_1040)] {
        for n in [1usize, 2, 40, 64, 65, 300, 1000] {
            let data = pattern(2000, n as u32);
            bench.poke(0x4_0F00, &data);
            let mut want = data;
            let (d, s) = ((dst - 0x4_0F00) as usize, (src - 0x4_0F00) as usize);
            want.copy_within(s..s + n, d);
            call(&mut bench, [dst, src, n as u32]);
            assert!(bench.peek(0x4_0F00, 2000) == want, "{dst:X} {src:X} {n}");
        }
    }
}

#[test]
fn memset_and_memcmp() {
    let (mut set, mut cmp) = (bench("memset"), bench("memcmp"));
    for n in LENGTHS {
        let around = pattern(n + 2, 3);
        set.poke(0x4_0FFF, &around);
        assert_eq!(call(&mut set, [0x4_1000, 0x1234_56A7, n as u32]), 0x4_1000);
        let got = set.peek(0x4_0FFF, n as u32 + 2);
        assert!(got[1..=n].iter().all(|&b| b == 0xA7) && got[0] == around[0] && got[n + 1] == around[n + 1], "{n}");

        let (a, mut b) = (pattern(n, 1), pattern(n, 1));
        cmp.poke(0x4_0000, &a);
        cmp.poke(0x5_0000, &b);
        assert_eq!(call(&mut cmp, [0x4_0000, 0x5_0000, n as u32]), 0, "{n}");
        for at in [0, n / 2, n.saturating_sub(1)].into_iter().filter(|&at| at < n) {
            b[at] ^= 0x80;
            cmp.poke(0x5_0000, &b);
            let got = call(&mut cmp, [0x4_0000, 0x5_0000, n as u32]) as i32;
            assert_eq!(got.signum(), if a[at] < b[at] { -1 } else { 1 }, "{n} at {at}");
            b[at] ^= 0x80;
        }
    }
}

#[test]
fn far_access() {
    let at = 0x83F_FFF1;
    for (name, bytes) in [("far_read8", 1usize), ("far_read16", 2), ("far_read32", 4)] {
        let mut bench = bench(name);
        bench.poke(0x800_1234, &[0x81, 0x92, 0xA3, 0xB4, 0xC5]);
        let want = [0x81u32, 0x9281, 0, 0xB4A3_9281][bytes - 1];
        assert_eq!(call(&mut bench, [0x800_1234, 7, 7]), want, "{name}");
    }
    for (name, bytes) in [("far_write8", 1usize), ("far_write16", 2), ("far_write32", 4)] {
        let mut bench = bench(name);
        bench.poke(at, &[1, 2, 3, 4, 5]);
        call(&mut bench, [at, 0xDDCC_BBAA, 0]);
        let mut want = vec![1, 2, 3, 4, 5];
        want[..bytes].copy_from_slice(&[0xAA, 0xBB, 0xCC, 0xDD][..bytes]);
        assert_eq!(bench.peek(at, 5), want, "{name}");
    }
}
