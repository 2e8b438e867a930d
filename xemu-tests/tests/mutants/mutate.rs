//! Sound images with something changed: fields of the header, of the tables behind it and of the script, and the length.

use ssnail_shared::header::{Header, TOKENIZER_BLOCK_LEN, TOKENIZER_WIDE, TokenizerBlock, offset};
use ssnail_shared::isa::{INSTRUCTION_LEN, Opcode};
use ssnail_shared::map::{ADDRESS_END, HEADER_LEN, MEGABYTE, MEMORY_BASE, OUTPUT, PAYLOAD, TOKENS};
use ssnail_shared::rng::Rng;

/// A sound image and the places where it can be changed.
pub struct Base {
    /// What it is.
    pub name: &'static str,
    /// Its file.
    pub image: Vec<u8>,
    header: Header,
    block: TokenizerBlock,
    /// Places of the file, by the table that they belong to.
    groups: Vec<Group>,
}

struct Group {
    name: &'static str,
    /// How often it is chosen.
    weight: u32,
    /// Offset in the file and bytes of each field.
    fields: Vec<(usize, usize)>,
}

/// A changed image.
pub struct Mutant {
    /// What it was made of, and how.
    pub name: String,
    /// The file.
    pub image: Vec<u8>,
}

/// Offset in the file of an address of the payload.
fn at(address: u32) -> usize {
    (address - PAYLOAD + HEADER_LEN) as usize
}

fn get(image: &[u8], (at, size): (usize, usize)) -> u32 {
    image[at..at + size].iter().rev().fold(0, |value, &b| value << 8 | u32::from(b))
}

fn set(image: &mut [u8], (at, size): (usize, usize), value: u32) {
    image[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
}

impl Base {
    /// Finds the places of a sound image.
    pub fn new(name: &'static str, image: Vec<u8>) -> Self {
        let header = Header::parse(image.first_chunk().unwrap()).unwrap();
        let block = TokenizerBlock::decode(image[at(header.tokenizer)..].first_chunk().unwrap()).unwrap();
        let words = |from: usize, count: u32| (0..count as usize).map(move |n| (from + 4 * n, 4));
        let wide = block.flags & TOKENIZER_WIDE != 0;
        let size = if wide { 4 } else { 2 };
        let kind = at(header.tokenizer);
        let mut script = Vec::new();
        let mut blocks = Vec::new();
        let mut pc = header.code;
        while pc < header.vocab {
            let i = at(pc);
            if image[i] == Opcode::Attn.number() {
                blocks.extend(words(at(get(&image, (i + 4, 4))), 8));
            }
            script.extend([(i, 1), (i + 1, 1), (i + 2, 1)].into_iter().chain(words(i + 4, 3)));
            if image[i] == Opcode::Halt.number() {
                break;
            }
            pc += INSTRUCTION_LEN;
        }
        let pieces = header.vocab + 4 * (header.n_vocab + 1);
        let end = header.vocab + get(&image, (at(pieces - 4), 4));
        let group = |name, weight, fields: Vec<_>| Group { name, weight, fields };
        let groups = vec![
            group("header", 22, words(0, HEADER_LEN / 8).chain([(offset::FLAGS as usize, 2)]).collect()),
            group(
                "tokenizer block",
                18,
                words(kind + 4, TOKENIZER_BLOCK_LEN / 4 - 1).chain([(kind, 1), (kind + 1, 1), (kind + 2, 2)]).collect(),
            ),
            group("vocabulary", 10, words(at(header.vocab), header.n_vocab + 1).collect()),
            group("index", 10, words(at(block.index), block.index_len).collect()),
            group(
                "priorities",
                4,
                (0..header.n_vocab as usize).map(|n| (at(block.priorities) + n * size, size)).collect(),
            ),
            group("byte table", 4, words(at(block.bytes), 256).collect()),
            group("pieces", 4, (at(pieces)..at(end)).map(|n| (n, 1)).collect()),
            group("attention block", 6, blocks),
            group("script", 12, script),
            group("weights", 8, words(at(header.tokenizer), (header.payload_end() - header.tokenizer) / 4).collect()),
        ];
        Self { name, image, header, block, groups }
    }

    /// The mutant of this number.
    pub fn mutant(&self, number: u32) -> Mutant {
        let mut rng = Rng::new(number.wrapping_mul(0x9E37_79B9) ^ 0x5353_4E4C);
        let mut image = self.image.clone();
        let mut name = format!("{number}: {}", self.name);
        let changes = match rng.next_u32() % 8 {
            0..=5 => 1,
            6 => 2,
            _ => 3,
        };
        for _ in 0..changes {
            name.push_str(", ");
            name.push_str(&match below(&mut rng, 10) {
                0 => self.cut(&mut rng, &mut image),
                1 => self.entries(&mut rng, &mut image),
                _ => self.field(&mut rng, &mut image),
            });
        }
        Mutant { name, image }
    }

    /// One field of some table gets another value.
    fn field(&self, rng: &mut Rng, image: &mut [u8]) -> String {
        let mut left = below(rng, self.groups.iter().map(|g| g.weight).sum());
        let group = self
            .groups
            .iter()
            .find(|g| {
                let found = left < g.weight;
                left = left.wrapping_sub(g.weight);
                found
            })
            .unwrap();
        if group.fields.is_empty() {
            return "nothing".into();
        }
        let place = group.fields[below(rng, group.fields.len() as u32) as usize];
        if place.0 + place.1 > image.len() {
            return "nothing".into();
        }
        let old = get(image, place);
        let value = self.value(rng, image, group, old);
        set(image, place, value);
        format!("{} ${:X}: ${old:X} -> ${:X}", group.name, place.0, get(image, place))
    }

    /// A value that may do harm where `old` stands.
    fn value(&self, rng: &mut Rng, image: &[u8], group: &Group, old: u32) -> u32 {
        let h = &self.header;
        if group.name == "weights" && below(rng, 2) == 0 {
            // Infinities and no numbers, in F32 and F16; the largest finite ones.
            return *of(rng, &[0x7F80_0000, 0xFF80_0000, 0x7FC0_0000, 0x7C00_7C00, 0x7E00, 0x7F7F_FFFF, 0x7BFF]);
        }
        match below(rng, 12) {
            0 => old.wrapping_add(1),
            1 => old.wrapping_sub(1),
            2 => old ^ 1 << below(rng, 32),
            3 => *of(rng, &[0, 1, 2, 3, 0xFFFF, 0x1_0000, 0x1_0001]),
            4 => *of(rng, &[0x7FFF_FFFF, 0x8000_0000, u32::MAX, u32::MAX - 1, u32::MAX - 3, 0x4000_0000, 0xC000_0000]),
            5 => ADDRESS_END.wrapping_add(*of(rng, &[0, 1, u32::MAX, 3u32.wrapping_neg(), 16, 16u32.wrapping_neg()])),
            6 => {
                let ends = [h.payload_end(), h.code, h.vocab, h.tokenizer, h.output, MEMORY_BASE + h.memory_needed];
                let places = [MEMORY_BASE, OUTPUT, TOKENS, PAYLOAD, MEMORY_BASE + 8 * MEGABYTE];
                let base = if below(rng, 2) == 0 { *of(rng, &ends) } else { *of(rng, &places) };
                base.wrapping_add(*of(
                    rng,
                    &[0, 1, 4, 16, 1u32.wrapping_neg(), 4u32.wrapping_neg(), 16u32.wrapping_neg()],
                ))
            }
            7 => *of(rng, &[h.n_vocab, h.n_vocab - 1, h.n_vocab + 1, h.context, self.block.index_len, h.payload_len]),
            // What stands in another field of the same table, or of the header.
            8 => group
                .fields
                .get(below(rng, group.fields.len() as u32) as usize)
                .map_or(old, |&place| if place.0 + place.1 <= image.len() { get(image, place) } else { old }),
            9 => get(&self.image, (4 * below(rng, 32) as usize, 4)),
            10 => old.wrapping_add(4 * below(rng, 64)).wrapping_sub(4 * below(rng, 64)),
            _ => *of(rng, &[0x7F80_0000, 0x7FC0_0000, 0xFF80_0000, rng_word(old), old << 1, old >> 1]),
        }
    }

    /// The file gets another length, sometimes with a header that agrees.
    fn cut(&self, rng: &mut Rng, image: &mut Vec<u8>) -> String {
        let length = match below(rng, 4) {
            0 => below(rng, image.len() as u32 + 1) as usize,
            1 => image.len().saturating_sub(below(rng, 600) as usize),
            2 => image.len() + below(rng, 600) as usize,
            _ => below(rng, 600) as usize,
        };
        image.resize(length, 0xA5);
        let mut what = format!("{length} bytes");
        if below(rng, 2) == 0 && length >= HEADER_LEN as usize {
            set(image, (offset::PAYLOAD_LEN as usize, 4), length as u32 - HEADER_LEN);
            what.push_str(" by the header as well");
        }
        what
    }

    /// A change of several entries that no single field shows.
    fn entries(&self, rng: &mut Rng, image: &mut [u8]) -> String {
        let (n, b) = (self.header.n_vocab, &self.block);
        let word = |address: u32| (at(address), 4);
        let block = |offset: u32| (at(self.header.tokenizer) + offset as usize, 4);
        if image.len() < self.image.len() {
            return "nothing".into();
        }
        match below(rng, 5) {
            0 | 1 => {
                // Two entries of the index, or two offsets, change places.
                let (table, length) =
                    if below(rng, 3) == 0 { (self.header.vocab, n + 1) } else { (b.index, b.index_len) };
                let (i, j) = (below(rng, length), below(rng, length));
                let (x, y) = (get(image, word(table + 4 * i)), get(image, word(table + 4 * j)));
                set(image, word(table + 4 * i), y);
                set(image, word(table + 4 * j), x);
                format!("entries {i} and {j} of ${table:X} change places")
            }
            2 => {
                // An entry of the index is left out.
                let i = below(rng, b.index_len);
                for k in i..b.index_len - 1 {
                    let next = get(image, word(b.index + 4 * (k + 1)));
                    set(image, word(b.index + 4 * k), next);
                }
                set(image, block(12), b.index_len - 1);
                format!("index without entry {i}")
            }
            3 => {
                // Both sizes of the vocabulary, so that they agree.
                let size = *of(rng, &[n - 1, n + 1, 1, n / 2, 2 * n, n + 300]);
                set(image, (offset::N_VOCAB as usize, 4), size);
                set(image, block(4), size);
                format!("both vocabulary sizes {size}")
            }
            _ => {
                // All priorities alike.
                let value = *of(rng, &[0, 1, 0xFFFF, 0xFFFE]);
                for k in 0..n as usize {
                    set(image, (at(b.priorities) + 2 * k, 2), value);
                }
                format!("priorities ${value:X}")
            }
        }
    }
}

fn below(rng: &mut Rng, n: u32) -> u32 {
    if n == 0 { 0 } else { ((u64::from(rng.next_u32()) * u64::from(n)) >> 32) as u32 }
}

fn of<'a, T>(rng: &mut Rng, values: &'a [T]) -> &'a T {
    &values[below(rng, values.len() as u32) as usize]
}

/// Some word.
fn rng_word(old: u32) -> u32 {
    Rng::new(old).next_u32()
}
