//! The hand-worked cases and their reader.

/// One line of the table.
#[derive(Clone, Debug, Default)]
pub struct Case {
    /// The line itself, for messages.
    pub text: String,
    /// Mnemonic as in the opcode matrix.
    pub mnemonic: String,
    /// Registers and memory before.
    pub before: Vec<(String, u32)>,
    /// What differs after.
    pub after: Vec<(String, u32)>,
    /// P before.
    pub flags_before: u8,
    /// P after.
    pub flags_after: u8,
    words: bool,
}

impl Case {
    /// The operand in memory.
    pub fn operand(&self) -> Option<u32> {
        self.before.iter().find(|(n, _)| n == "m").map(|(_, v)| *v)
    }

    /// Bytes of the operand.
    pub fn size(&self) -> usize {
        if self.words { 2 } else { 1 }
    }
}

fn side(text: &str) -> (Vec<(String, u32)>, u8) {
    let mut values = vec![];
    let mut flags = 0;
    for item in text.split_whitespace() {
        if let Some((name, value)) = item.split_once('=') {
            values.push((name.to_owned(), u32::from_str_radix(value, 16).unwrap()));
        } else {
            for letter in item.chars().filter(|&l| l != '-') {
                flags |= match letter {
                    'N' => 0x80,
                    'V' => 0x40,
                    'D' => 0x08,
                    'I' => 0x04,
                    'Z' => 0x02,
                    'C' => 0x01,
                    _ => panic!("flag {letter}"),
                };
            }
        }
    }
    (values, flags)
}

/// Reads a table.
pub fn parse(text: &str) -> Vec<Case> {
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| {
            let (mnemonics, rest) = line.trim().split_once(' ').unwrap();
            let (left, right) = rest.split_once('|').unwrap();
            let (before, flags_before) = side(left);
            let (after, flags_after) = side(right);
            Case {
                text: line.trim().to_owned(),
                mnemonic: mnemonics.to_owned(),
                before,
                after,
                flags_before,
                flags_after,
                words: matches!(mnemonics, "INW" | "DEW" | "ASW" | "ROW"),
            }
        })
        .collect()
}

/// Byte instructions. Registers not given are A=$A1 X=$23 Y=$45 Z=$67.
pub const CASES: &str = "
LDA m=80 VCZ | a=80 NVC
LDA m=00 N | a=00 Z
LDX m=7F Z | x=7F -
LDX m=00 | x=00 Z
LDY m=FF | y=FF N
LDY m=00 C | y=00 ZC
LDZ m=81 | z=81 N
LDZ m=00 | z=00 Z
STA a=5A m=00 NZ | m=5A NZ
STX x=5B m=FF | m=5B -
STY y=5C m=00 VC | m=5C VC
STZ z=5D m=00 | m=5D -
ORA a=41 m=82 | a=C3 N
ORA a=00 m=00 N | a=00 Z
AND a=F0 m=8F | a=80 N
AND a=F0 m=0F C | a=00 ZC
EOR a=FF m=7F | a=80 N
EOR a=55 m=55 | a=00 Z
ADC a=50 m=50 | a=A0 NV
ADC a=50 m=50 C | a=A1 NV
ADC a=FF m=01 V | a=00 ZC
ADC a=80 m=80 | a=00 VZC
ADC a=7F m=00 C | a=80 NV
ADC a=FF m=FF C | a=FF NC
ADC a=D0 m=90 | a=60 VC
ADC a=99 m=01 D | a=00 NDC
ADC a=58 m=46 CD | a=05 NVDC
ADC a=12 m=34 D | a=46 D
ADC a=15 m=26 D | a=41 D
ADC a=81 m=92 D | a=73 VDC
ADC a=0F m=0F D | a=14 D
ADC a=00 m=00 D | a=00 DZ
ADC a=80 m=80 D | a=60 VZDC
ADC a=50 m=50 D | a=00 NVDC
SBC a=50 m=F0 C | a=60 -
SBC a=50 m=B0 C | a=A0 NV
SBC a=50 m=50 C | a=00 ZC
SBC a=50 m=50 | a=FF N
SBC a=80 m=01 C | a=7F VC
SBC a=00 m=80 C | a=80 NV
SBC a=46 m=12 CD | a=34 CD
SBC a=40 m=13 CD | a=27 CD
SBC a=32 m=02 D | a=29 CD
SBC a=12 m=21 CD | a=91 ND
SBC a=21 m=34 CD | a=87 ND
SBC a=00 m=00 D | a=99 ND
SBC a=00 m=01 CD | a=99 ND
CMP a=80 m=7F NV | VC
CMP a=40 m=40 | ZC
CMP a=40 m=41 C | N
CMP a=00 m=FF VC | V
CPX x=10 m=08 | C
CPX x=10 m=10 N | ZC
CPX x=10 m=20 C | N
CPY y=F0 m=08 | NC
CPY y=F0 m=F0 | ZC
CPY y=00 m=01 | N
CPZ z=01 m=00 | C
CPZ z=7F m=7F | ZC
CPZ z=7F m=80 C | N
BIT a=01 m=C0 C | NVZC
BIT a=40 m=40 NZ | V
BIT a=80 m=80 | N
BIT a=3F m=3F NVZ | -
ASL m=81 | m=02 C
ASL m=40 C | m=80 N
ASL m=80 | m=00 ZC
LSR m=81 N | m=40 C
LSR m=01 | m=00 ZC
LSR m=FE C | m=7F -
ROL m=80 C | m=01 C
ROL m=80 | m=00 ZC
ROL m=40 C | m=81 N
ROR m=01 C | m=80 NC
ROR m=01 | m=00 ZC
ROR m=80 | m=40 -
ASR m=81 | m=C0 NC
ASR m=01 | m=00 ZC
ASR m=7E C | m=3F -
INC m=FF C | m=00 ZC
INC m=7F | m=80 N
DEC m=00 | m=FF N
DEC m=01 VC | m=00 VZC
TSB a=0F m=F0 N | m=FF NZ
TSB a=18 m=08 VC | m=18 VC
TRB a=0F m=FF NZ | m=F0 N
TRB a=0F m=F0 | m=F0 Z
INW m=00FF | m=0100 -
INW m=FFFF C | m=0000 ZC
INW m=7FFF | m=8000 N
DEW m=0000 | m=FFFF N
DEW m=0001 | m=0000 Z
DEW m=0100 N | m=00FF -
ASW m=8001 | m=0002 C
ASW m=4080 C | m=8100 N
ASW m=8000 | m=0000 ZC
ROW m=8000 C | m=0001 C
ROW m=40C0 C | m=8181 N
ROW m=8000 | m=0000 ZC
NEG a=01 VC | a=FF NVC
NEG a=00 N | a=00 Z
NEG a=80 | a=80 N
INX x=FF | x=00 Z
INX x=7F C | x=80 NC
DEX x=00 | x=FF N
DEX x=01 | x=00 Z
INY y=FF | y=00 Z
INY y=7F | y=80 N
DEY y=00 | y=FF N
DEY y=01 | y=00 Z
INZ z=FF | z=00 Z
INZ z=7F | z=80 N
DEZ z=00 | z=FF N
DEZ z=01 | z=00 Z
TAX a=80 Z | x=80 N
TAX a=00 | x=00 Z
TXA x=80 | a=80 N
TXA x=00 | a=00 Z
TAY a=01 NZ | y=01 -
TAY a=00 | y=00 Z
TYA y=FF | a=FF N
TYA y=00 | a=00 Z
TAZ a=90 | z=90 N
TAZ a=00 | z=00 Z
TZA z=91 | a=91 N
TZA z=00 | a=00 Z
CLC NVDIZC | NVDIZ
SEC NVDIZ | NVDIZC
CLV NVDIZC | NDIZC
CLD NVDIZC | NVIZC
SED NVIZC | NVDIZC
CLI NVDIZC | NVDZC
SEI NVDZC | NVDIZC
EOM NVDIZC | NVDIZC
CLV | -
";

/// Q instructions; Q byte order A X Y Z.
pub const Q_CASES: &str = "
LDQ m=80000000 VCZ | q=80000000 NVC
LDQ m=00000000 N | q=00000000 Z
LDQ m=00000080 | q=00000080 -
STQ q=80000000 m=0 N | m=80000000 Z
STQ q=000000FF m=0 ZC | m=000000FF NC
STQ q=12345678 m=0 NZ | m=12345678 -
ORQ q=01020304 m=80000000 | q=81020304 N
ORQ q=00000000 m=00000000 | q=00000000 Z
ANDQ q=FF00FF00 m=80FF00FF C | q=80000000 NC
ANDQ q=0000FFFF m=FFFF0000 | q=00000000 Z
EORQ q=FFFFFFFF m=7FFFFFFF | q=80000000 N
EORQ q=12345678 m=12345678 | q=00000000 Z
ADCQ q=7FFFFFFF m=00000000 C | q=80000000 NV
ADCQ q=FFFFFFFF m=00000001 V | q=00000000 ZC
ADCQ q=80000000 m=80000000 | q=00000000 VZC
ADCQ q=99999999 m=11111111 D | q=AAAAAAAA ND
ADCQ q=000000FF m=00000001 | q=00000100 -
SBCQ q=00000100 m=00000001 C | q=000000FF C
SBCQ q=80000000 m=00000001 C | q=7FFFFFFF VC
SBCQ q=00000000 m=00000000 | q=FFFFFFFF N
SBCQ q=00000010 m=00000001 CD | q=0000000F CD
SBCQ q=12345678 m=12345678 C | q=00000000 ZC
CMPQ q=80000000 m=00000001 V | VC
CMPQ q=12345678 m=12345678 | ZC
CMPQ q=00000000 m=00000001 C | N
BITQ q=00000001 m=C0000000 C | NVZC
BITQ q=40000000 m=40000000 | V
BITQ q=00010000 m=00010000 NVZ | -
ASLQ m=80000001 | m=00000002 C
ASLQ m=40000080 C | m=80000100 N
ASLQ m=80000000 | m=00000000 ZC
LSRQ m=80000001 N | m=40000000 C
LSRQ m=00000001 | m=00000000 ZC
LSRQ m=00000100 C | m=00000080 -
ASRQ m=80000001 | m=C0000000 NC
ASRQ m=00000001 | m=00000000 ZC
ROLQ m=80000000 C | m=00000001 C
ROLQ m=40808000 C | m=81010001 N
ROLQ m=80000000 | m=00000000 ZC
RORQ m=00000001 C | m=80000000 NC
RORQ m=00000100 | m=00000080 -
RORQ m=00000001 | m=00000000 ZC
INQ m=FFFFFFFF C | m=00000000 ZC
INQ m=7FFFFFFF | m=80000000 N
INQ m=0000FFFF | m=00010000 -
DEQ m=00000000 | m=FFFFFFFF N
DEQ m=00010000 C | m=0000FFFF C
DEQ m=00000001 | m=00000000 Z
";

/// Mnemonic, mode, opcode behind the prefix, cycles with prefix.
pub const Q_FORMS: &str = "
LDQ bp A5 10
LDQ abs AD 11
LDQ (bp) B2 13
LDQ flat B2 16
STQ bp 85 9
STQ abs 8D 10
STQ (bp) 92 12
STQ flat 92 15
ORQ bp 05 11
ORQ abs 0D 12
ORQ (bp) 12 14
ORQ flat 12 17
ANDQ bp 25 11
ANDQ abs 2D 12
ANDQ (bp) 32 14
ANDQ flat 32 17
EORQ bp 45 11
EORQ abs 4D 12
EORQ (bp) 52 14
EORQ flat 52 17
ADCQ bp 65 11
ADCQ abs 6D 12
ADCQ (bp) 72 14
ADCQ flat 72 17
SBCQ bp E5 11
SBCQ abs ED 12
SBCQ (bp) F2 14
SBCQ flat F2 17
CMPQ bp C5 11
CMPQ abs CD 12
CMPQ (bp) D2 14
CMPQ flat D2 17
BITQ bp 24 11
BITQ abs 2C 12
ASLQ bp 06 17
ASLQ bp,X 16 17
ASLQ abs 0E 18
ASLQ abs,X 1E 18
ASLQ q 0A 4
LSRQ bp 46 17
LSRQ bp,X 56 17
LSRQ abs 4E 18
LSRQ abs,X 5E 18
LSRQ q 4A 4
ASRQ bp 44 17
ASRQ bp,X 54 17
ASRQ q 43 4
ROLQ bp 26 17
ROLQ bp,X 36 17
ROLQ abs 2E 18
ROLQ abs,X 3E 18
ROLQ q 2A 4
RORQ bp 66 17
RORQ bp,X 76 17
RORQ abs 6E 18
RORQ abs,X 7E 18
RORQ q 6A 4
INQ bp E6 17
INQ bp,X F6 17
INQ abs EE 18
INQ abs,X FE 18
INQ q 1A 4
DEQ bp C6 17
DEQ bp,X D6 17
DEQ abs CE 18
DEQ abs,X DE 18
DEQ q 3A 4
";
