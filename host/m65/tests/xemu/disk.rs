//! The hypervisor's disk services, against the real hypervisor.

use super::card::{blank, content, put};
use super::{CLEAR, RESULTS, agree, assembled};
use ssnail_disk::fat::Layout;

/// One call of the hypervisor: function, X, Y; its registers and carry go to the next five bytes.
fn trap(code: &mut String, at: &mut u16, function: u8, x: u8, y: u8) {
    *code += &format!(
        "        LDA #${function:02X}
        LDX #${x:02X}
        LDY #${y:02X}
        LDZ #$00
        STA $D640
        CLV
        PHP
        STA ${:04X}
        STX ${:04X}
        STY ${:04X}
        STZ ${:04X}
        PLA
        AND #1
        STA ${:04X}
        LDZ #0\n",
        *at,
        *at + 1,
        *at + 2,
        *at + 3,
        *at + 4
    );
    *at += 5;
}

/// Puts a name into page $16.
fn name(code: &mut String, name: &str) {
    for (n, byte) in name.bytes().chain([0]).enumerate() {
        *code += &format!("        LDA #{byte}\n        STA ${:04X}\n", 0x1600 + n);
    }
}

/// Copies memory by DMA.
fn keep(code: &mut String, megabyte: u8, from: &str, bank: u8, to: u16, length: u16) {
    *code += &format!(
        "        STA $D707
        .byte $0B, $80, ${megabyte:02X}, $00, $00
        .word {length}, {from}
        .byte ${bank:02X}
        .word ${to:04X}
        .byte $00, $00, 0, 0\n"
    );
}

#[test]
fn disk_services_agree_with_xemu() {
    for (cluster, layout) in [(1, Layout::Contiguous), (1, Layout::Scattered(2)), (8, Layout::Contiguous)] {
        compare(cluster, layout);
    }
}

fn compare(cluster: u32, layout: Layout) {
    let mut card = blank(cluster);
    let (one, two) = (content(1, 1500), content(2, 512));
    put(&mut card, "/ONE.BIN", &one, layout);
    put(&mut card, "/TWO.BIN", &two, layout);
    put(&mut card, "/EMPTY.BIN", &[], layout);
    put(&mut card, "/NOEXT", &two[..100], layout);
    put(&mut card, "/A longer name.text", &two[..200], layout);
    card.mkdir("/SUB").unwrap();
    put(&mut card, "/SUB/DEEP.BIN", &one[..700], layout);
    let card = card.finish().unwrap();

    let (mut code, mut at, mut entries) = (String::from(CLEAR), 0x4000, 0x5000);
    let c = &mut code;
    trap(c, &mut at, 0x22, 0, 0);
    trap(c, &mut at, 0x02, 0, 0);
    trap(c, &mut at, 0x3c, 0, 0);
    // The directory to its end. What comes after that depends on what a card says about a sector
    // that it does not have.
    trap(c, &mut at, 0x12, 0, 0);
    for _ in 0..7 {
        trap(c, &mut at, 0x14, 0, 0x17);
        keep(c, 0, "$1700", 0, entries, 87);
        entries += 96;
    }
    trap(c, &mut at, 0x16, 0, 0);
    trap(c, &mut at, 0x16, 0, 0);
    // Files: to the end, empty, missing, a folder.
    for (file, reads) in [
        ("ONE.BIN", 4),
        ("two.bin", 2),
        ("NOEXT", 2),
        ("A longer name.text", 1),
        ("EMPTY.BIN", 1),
        ("NONE.BIN", 1),
        ("SUB", 1),
    ] {
        trap(c, &mut at, 0x22, 0, 0);
        name(c, file);
        trap(c, &mut at, 0x2e, 0, 0x16);
        trap(c, &mut at, 0x34, 0, 0);
        trap(c, &mut at, 0x18, 0, 0);
        for _ in 0..reads {
            trap(c, &mut at, 0x1a, 0, 0);
        }
        *c += "        LDA #$80\n        TSB $D689\n";
        keep(c, 0xff, "$6E00", 0x0d, entries, 512);
        entries += 512;
    }
    // A folder and back, whole files, errors.
    trap(c, &mut at, 0x22, 0, 0);
    name(c, "SUB");
    trap(c, &mut at, 0x2e, 0, 0x16);
    trap(c, &mut at, 0x34, 0, 0);
    trap(c, &mut at, 0x0c, 0, 0);
    name(c, "DEEP.BIN");
    trap(c, &mut at, 0x2e, 0, 0x16);
    *c += "        LDZ #0\n";
    // X, Y are the low bytes of the address: $7000, and in attic RAM.
    trap(c, &mut at, 0x36, 0x00, 0x70);
    trap(c, &mut at, 0x3e, 0x00, 0x20);
    keep(c, 0x80, "$2000", 0, 0x7400, 700);
    name(c, "..");
    trap(c, &mut at, 0x2e, 0, 0x16);
    trap(c, &mut at, 0x34, 0, 0);
    trap(c, &mut at, 0x0c, 0, 0);
    name(c, "TWO.BIN");
    trap(c, &mut at, 0x2e, 0, 0x16);
    trap(c, &mut at, 0x34, 0, 0);
    trap(c, &mut at, 0x2e, 0, 0x7f);
    trap(c, &mut at, 0x3c, 9, 0);
    trap(c, &mut at, 0x38, 0, 0);
    trap(c, &mut at, 0x20, 7, 0);
    trap(c, &mut at, 0x18, 0, 0);
    // Descriptors run out.
    for _ in 0..6 {
        trap(c, &mut at, 0x12, 0, 0);
    }
    trap(c, &mut at, 0x22, 0, 0);
    assert!(at <= 0x4800 && entries <= 0x7000);
    agree(
        &format!("HDOS, {cluster} sectors a cluster, {layout:?}"),
        &assembled(&code),
        card,
        &[RESULTS, 0x5000..usize::from(entries), 0x7000..0x7800],
    );
}
