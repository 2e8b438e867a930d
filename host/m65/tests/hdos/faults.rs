//! Cards that fail and files that are damaged, through HDOS.

use crate::card::{Dos, card_with, content};
use ssnail_m65::Model;
use ssnail_m65::hdos::{error, function};
use ssnail_m65::io::card::{Effect, Fault, Trigger};
use ssnail_m65::io::f011::{DiskKind, Image};

const SD_COMMAND: u32 = 0x0ffd_3680;
const FLOPPY: u32 = 0x0ffd_3080;

fn once(trigger: Trigger, effect: Effect) -> Fault {
    Fault { trigger, effect, times: 1 }
}

/// The controller's error bit, which stays until a reset.
fn stalled(dos: &mut Dos) -> bool {
    dos.machine.read_flat(SD_COMMAND) & 0x40 != 0
}

fn reset(dos: &mut Dos) {
    dos.machine.write_flat(SD_COMMAND, 0);
    assert_eq!(dos.machine.read_flat(SD_COMMAND) & 0x44, 0x04);
    dos.machine.write_flat(SD_COMMAND, 1);
    assert!(!stalled(dos));
}

#[test]
fn a_bad_sector_leaves_old_data_and_a_controller_that_stands_still() {
    let data = content(1, 5000);
    let mut dos = Dos::new(card_with(2, &[("/A", &data)]));
    let bad = dos.card().clusters_of("/A").unwrap()[1] + 1;
    dos.card().fail_sector(bad);
    dos.open("/A").ok();
    for sector in 0..3 {
        assert_eq!(dos.read().ok().count(), 512);
        assert_eq!(dos.buffer(), data[sector * 512..][..512]);
        assert!(!stalled(&mut dos));
    }
    for _ in 3..5 {
        assert_eq!(dos.read().ok().count(), 512, "the hypervisor does not look at the bit");
        assert!(stalled(&mut dos));
        assert_eq!(dos.buffer(), data[2 * 512..][..512]);
    }
    let reads = dos.card().reads;
    dos.root();
    assert_eq!(dos.find("A").error(), Some(error::NOT_FOUND), "what is in the buffer is no directory");
    assert_eq!(dos.card().reads, reads, "nothing reaches the card");
    reset(&mut dos);
    dos.card().heal();
    assert_eq!(dos.file("/A"), Ok(data));
}

#[test]
fn the_fat_that_cannot_be_read_shows_in_the_bit() {
    let data = content(1, 4 * 512);
    let mut dos = Dos::new(card_with(2, &[("/A", &data)]));
    dos.open("/A").ok();
    dos.card().inject(once(Trigger::Read(3), Effect::Error));
    dos.read().ok();
    assert!(!stalled(&mut dos));
    // The second sector of the cluster, then the FAT, then the sector again, which does not succeed either.
    assert_eq!(dos.read().ok().count(), 512);
    assert_eq!(dos.buffer(), data[512..1024]);
    assert!(stalled(&mut dos));
}

#[test]
fn a_disk_on_a_card_that_fails_stops_the_card_as_well() {
    let mut dos = Dos::new(card_with(4, &[("/A", &[1])]));
    dos.machine.board.storage.floppy.mount(0, Image::Card(100), DiskKind::D81, false);
    dos.card().inject(once(Trigger::Read(1), Effect::Error));
    for (register, value) in [(0, 0x60), (4, 0), (5, 1), (6, 0), (1, 0x40)] {
        dos.machine.write_flat(FLOPPY + register, value);
    }
    dos.machine.board.cycles += 100_000;
    assert_eq!(dos.machine.read_flat(FLOPPY + 2) & 0x90, 0x10, "not found");
    assert!(stalled(&mut dos));
    reset(&mut dos);
    assert_eq!(dos.file("/A"), Ok(vec![1]));
}

#[test]
fn a_card_that_was_silent_once_is_asked_again() {
    let data = content(1, 2048);
    let mut dos = Dos::new(card_with(4, &[("/A", &data)]));
    dos.open("/A").ok();
    dos.card().inject(once(Trigger::Read(2), Effect::Silence));
    dos.read().ok();
    let late = dos.read().ok();
    assert!(late.cycles > 40_500_000 / 3, "it waits for long");
    assert_eq!(dos.buffer(), data[512..1024]);
}

#[test]
fn a_card_that_does_not_tell_errors_leaves_old_data() {
    let data = content(1, 2048);
    let mut dos = Dos::new(card_with(4, &[("/A", &data)]));
    let start = dos.card().clusters_of("/A").unwrap()[0];
    dos.card().inject(Fault { trigger: Trigger::Sector(start + 2), effect: Effect::Stale, times: u32::MAX });
    let flip = Effect::Flip { offset: 100, mask: 0x40 };
    dos.card().inject(Fault { trigger: Trigger::Sector(start + 3), effect: flip, times: u32::MAX });
    let read = dos.file("/A").unwrap();
    assert_eq!(read[..1024], data[..1024]);
    assert_eq!(read[1024..1536], data[512..1024]);
    let different: Vec<usize> = (1536..2048).filter(|&i| read[i] != data[i]).collect();
    assert_eq!(different, [1636]);
    assert_eq!(read[1636] ^ data[1636], 0x40);
}

#[test]
fn a_card_pulled_out_does_not_answer() {
    let data = content(1, 2048);
    let mut dos = Dos::new(card_with(4, &[("/A", &data)]));
    dos.open("/A").ok();
    dos.card().inject(once(Trigger::Read(3), Effect::Remove));
    dos.read().ok();
    dos.read().ok();
    let gone = dos.read();
    assert_eq!(gone.error(), Some(error::TIMEOUT));
    assert!(gone.cycles > 40_500_000 / 3, "it waits for long");
    assert_eq!(dos.find("A").error(), Some(error::TIMEOUT));
    assert_eq!(dos.call(function::OPENDIR, 0, 0, 0).ok().a, 1, "opening reads nothing");
    assert_eq!(dos.entry(1), Err(error::TIMEOUT));
    dos.card().heal();
    assert_eq!(dos.file("/A"), Ok(data));
}

#[test]
fn a_file_shorter_than_its_entry_tells_so_in_the_code_alone() {
    for cluster in [1, 2, 4, 8] {
        let bytes = cluster * 512;
        let data = content(1, bytes * 4);
        let mut dos = Dos::new(card_with(cluster as u32, &[("/A", &data)]));
        dos.card().cut_chain("/A", 2).unwrap();
        dos.open("/A").ok();
        for sector in 0..2 * cluster {
            assert_eq!(dos.read().ok().count(), 512);
            assert_eq!(dos.buffer(), data[sector * 512..][..512]);
        }
        // The mark at the end of the chain is taken for a cluster, far behind the card: what was read last comes again.
        assert_eq!(dos.call(function::GETERRORCODE, 0, 0, 0).ok().a, error::BAD_CLUSTER);
        assert_eq!(dos.read().ok().count(), 512, "{cluster} sectors per cluster");
        assert_eq!(dos.buffer(), data[2 * bytes - 512..2 * bytes]);
        assert!(stalled(&mut dos), "the card has no such sector");
        reset(&mut dos);
        // Loading whole does not mind.
        dos.root();
        dos.set_name("A").ok();
        dos.call(function::LOADFILE, 0, 0, 4).ok();
        let chip = &dos.machine.board.chip_ram()[0x4_0000..];
        assert!(chip[..2 * bytes] == data[..2 * bytes]);
        assert_eq!(chip[2 * bytes..2 * bytes + 64], [0; 64]);
    }
}

#[test]
fn a_lost_file_is_not_found() {
    let mut dos = Dos::new(card_with(4, &[("/A", &[1]), ("/B", &[2])]));
    dos.card().lose_file("/A").unwrap();
    assert!(dos.card().lose_file("/A").is_err());
    assert_eq!(dos.find("A").error(), Some(error::NOT_FOUND));
    assert_eq!(dos.file("/B"), Ok(vec![2]));
}

#[test]
fn a_bad_sector_in_a_directory_shows_in_the_bit() {
    let mut dos = Dos::new(card_with(1, &[("/D/A", &[1])]));
    let bad = dos.card().clusters_of("/D").unwrap()[0];
    dos.enter("D");
    dos.card().fail_sector(bad);
    // The names are those of the folder before, whose sector is still in the buffer.
    assert_eq!(dos.find("D").error(), None);
    assert!(stalled(&mut dos));
}

#[test]
fn without_a_card_there_is_no_drive() {
    let mut dos = Dos::new(card_with(1, &[]));
    dos.machine = ssnail_m65::Machine::new(Model::R3);
    assert!(dos.call(function::GETVERSION, 0, 0, 0).ok);
    assert!(!dos.machine.board.storage.missed);
    assert_eq!(dos.call(function::CDROOTDIR, 0, 0, 0).error(), Some(error::NO_DRIVE));
    assert_eq!(dos.find("A").error(), Some(error::NOT_FOUND));
    assert_eq!(dos.read().count(), 0);
    assert!(dos.machine.board.storage.missed);
    assert_eq!(dos.machine.board.diagnostics.count(ssnail_m65::diagnostics::Report::UnknownTrap), 0);
}

#[test]
fn noise_for_a_card_is_no_drive_and_no_panic() {
    let mut noise = ssnail_disk::block::MemDevice::from_bytes(&content(9, 1 << 20));
    let mut dos = Dos::new(noise.clone());
    assert_eq!(dos.call(function::CDROOTDIR, 0, 0, 0).error(), Some(error::NO_DRIVE));
    let mut sector = content(10, 512);
    sector[510..].copy_from_slice(&[0x55, 0xaa]);
    ssnail_disk::block::BlockDevice::write(&mut noise, 0, &sector).unwrap();
    let mut dos = Dos::new(noise);
    for function in (0..0x70).step_by(2) {
        dos.call(function, 0, 0x40, 0);
    }
}
