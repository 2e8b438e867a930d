//! A whole program, as one would write it: finds a file in a folder and copies it to attic RAM.

use crate::card::{blank, content, put};
use crate::common::{program, run};
use ssnail_disk::fat::Layout;
use ssnail_m65::Model;
use ssnail_m65::hdos::{EndOfFile, Options};
use ssnail_m65::io::card::Card;

const LOADER: &str = "
        SEI
        LDA #$47
        STA $D02F
        LDA #$53
        STA $D02F
        LDA #$22           ; closeall
        STA $D640
        CLV
        LDA #$02           ; getdefaultdrive
        STA $D640
        CLV
        TAX
        LDA #$3C           ; cdrootdir
        STA $D640
        CLV
        BCC fail
        LDX #$FF
copy1:  INX
        LDA folder,X
        STA $1600,X
        BNE copy1
        JSR find
        BCC fail
        LDA #$0C           ; chdir
        STA $D640
        CLV
        BCC fail
        LDX #$FF
copy2:  INX
        LDA file,X
        STA $1600,X
        BNE copy2
        JSR find
        BCC fail
        LDA #$18           ; openfile
        STA $D640
        CLV
        BCC fail
        STA $4100          ; descriptor
next:   LDA #$1A           ; readfile
        STA $D640
        CLV
        BCS count
        CPX #0
        BNE fail
        CPY #0
        BNE fail
count:  STX length
        STY length+1
        TXA
        BNE some
        TYA
        BEQ end
some:   LDA #$80
        TSB $D689
        LDA #0
        STA $D702
        STA $D704
        LDA #>list
        STA $D701
        LDA #<list
        STA $D705
        CLC
        LDA target
        ADC length
        STA target
        LDA target+1
        ADC length+1
        STA target+1
        LDA target+2
        ADC #0
        STA target+2
        JMP next
end:    LDX $4100
        LDA #$20           ; closefile
        STA $D640
        CLV
        LDA #1
        STA $4000
        RTS
fail:   STA $4001
        RTS
find:   LDY #$16
        LDA #$2E           ; setname
        STA $D640
        CLV
        BCC leave
        LDA #$34           ; findfile
        STA $D640
        CLV
leave:  RTS
folder: .byte $53, $53, $4E, $41, $49, $4C, 0
file:   .byte $66, $6F, $6F, $2E, $73, $73, $6E, 0
list:   .byte $0B, $80, $FF, $81, $80, $00
        .byte $00
length: .word 0
        .word $6E00
        .byte $0D
target: .word 0
        .byte 0, 0, 0, 0";

#[test]
fn a_loader_copies_a_file_to_attic_ram() {
    for (bytes, layout, end_of_file) in [
        (70_001, Layout::Scattered(3), EndOfFile::CarryClear),
        (70_144, Layout::Contiguous, EndOfFile::CarrySet),
        (0, Layout::Contiguous, EndOfFile::CarryClear),
    ] {
        let data = content(11, bytes);
        let mut card = blank(8);
        put(&mut card, "/SSNAIL/OTHER.SSN", &content(12, 9000), Layout::Contiguous);
        put(&mut card, "/SSNAIL/FOO.SSN", &data, layout);
        let mut machine = program(Model::R3, LOADER);
        machine.insert_card(Card::new(card.finish().unwrap()), Options { end_of_file, ..Options::default() });
        run(&mut machine, 200);
        assert_eq!([machine.board.peek(0x4000), machine.board.peek(0x4001)], [1, 0]);
        let loaded: Vec<u8> = (0..bytes as u32).map(|i| machine.board.peek(0x800_0000 + i)).collect();
        assert!(loaded == data, "{bytes} bytes");
        assert_eq!(machine.board.diagnostics.entries().count(), 0, "{}", machine.board.diagnostics);
    }
}
