//! Merging the symbols of a unit (a SentencePiece text, a BPE chunk): always the pair of lowest priority, the leftmost
//! of equals.

use super::Error;
use super::scratch::{Field, NO_SLOT, Scratch, Slots};
use super::tables::{Key, Tables};
use crate::mem::ReadMemory;

/// No pair, or a pair that makes nothing.
const NEVER: u32 = u32::MAX;

/// The bytes in some neighbouring slots, as something to look for.
pub(super) struct SlotKey<'k, 's, S: ?Sized> {
    pub(super) slots: &'k Slots<'s, S>,
    pub(super) start: u32,
    pub(super) len: u32,
    /// A space is put before the bytes.
    pub(super) spaced: bool,
}

impl<S: Scratch + ?Sized> Key for SlotKey<'_, '_, S> {
    fn len(&self) -> u32 {
        self.len + u32::from(self.spaced)
    }

    fn byte(&self, i: u32) -> u8 {
        if !self.spaced {
            return self.slots.byte(self.start + i);
        }
        if i == 0 { b' ' } else { self.slots.byte(self.start + i - 1) }
    }
}

/// The slots `base..base + len`, each a symbol at first.
///
/// The tree is a tournament: node `p` (from 1) has the winner of nodes `2p` and `2p + 1`, and node `len + i` is slot `i`
/// itself. So the best pair is at node 1, and a changed priority is carried up in log2(len) steps.
pub(super) struct Unit<'u, 's, 't, 'm, S: ?Sized, M: ?Sized> {
    pub(super) slots: &'u mut Slots<'s, S>,
    pub(super) tables: &'t mut Tables<'m, M>,
    pub(super) base: u32,
    pub(super) len: u32,
}

impl<S: Scratch + ?Sized, M: ReadMemory + ?Sized> Unit<'_, '_, '_, '_, S, M> {
    /// Merges until no pair makes a token. Ids are then read from slot `base` along the links.
    pub(super) fn merge(&mut self) -> Result<(), Error> {
        if self.len < 2 {
            return Ok(());
        }
        let end = self.base + self.len;
        for slot in self.base..end {
            self.slots.set_next(slot, if slot + 1 < end { slot + 1 } else { NO_SLOT });
            self.slots.set(slot, Field::Previous, if slot > self.base { slot - 1 } else { NO_SLOT });
        }
        for slot in self.base..end {
            let priority = self.look_up(slot)?;
            self.slots.set(slot, Field::Priority, priority);
        }
        let mut node = self.len;
        while node > 1 {
            node -= 1;
            let winner = self.play(node);
            self.slots.set(self.base + node, Field::Tree, winner);
        }
        // Every turn joins two symbols, so there are at most as many as symbols.
        for _ in 1..self.len {
            let best = self.slots.get(self.base + 1, Field::Tree);
            if self.slots.get(best, Field::Priority) == NEVER {
                break;
            }
            self.join(best)?;
        }
        Ok(())
    }

    /// Joins `slot` and the symbol behind it, and looks up the two new pairs.
    fn join(&mut self, slot: u32) -> Result<(), Error> {
        let product = self.slots.get(slot, Field::Product);
        let gone = self.slots.next(slot);
        let behind = self.slots.next(gone);
        self.slots.set(slot, Field::Id, product);
        self.slots.set_next(slot, behind);
        if behind != NO_SLOT {
            self.slots.set(behind, Field::Previous, slot);
        }
        self.rank(gone, NEVER);
        let priority = self.look_up(slot)?;
        self.rank(slot, priority);
        let before = self.slots.get(slot, Field::Previous);
        if before != NO_SLOT {
            let priority = self.look_up(before)?;
            self.rank(before, priority);
        }
        Ok(())
    }

    /// Gives `slot` a priority, and tells the tree if it is another one.
    fn rank(&mut self, slot: u32, priority: u32) {
        if self.slots.get(slot, Field::Priority) != priority {
            self.slots.set(slot, Field::Priority, priority);
            self.carry(slot);
        }
    }

    /// Finds what the pair of `slot` and the symbol behind it would make, and how soon.
    fn look_up(&mut self, slot: u32) -> Result<u32, Error> {
        let second = self.slots.next(slot);
        if second == NO_SLOT {
            return Ok(NEVER);
        }
        let behind = self.slots.next(second);
        let end = if behind == NO_SLOT { self.base + self.len } else { behind };
        let key = SlotKey { slots: self.slots, start: slot, len: end.wrapping_sub(slot), spaced: false };
        let Some(id) = self.tables.find(&key)? else { return Ok(NEVER) };
        self.slots.set(slot, Field::Product, id);
        Ok(self.tables.priority(id)?.unwrap_or(NEVER))
    }

    /// Carries a changed priority of `slot` up the tree.
    fn carry(&mut self, slot: u32) {
        let mut node = (self.len + slot - self.base) / 2;
        while node != 0 {
            let old = self.slots.get(self.base + node, Field::Tree);
            let winner = self.play(node);
            if winner != old {
                self.slots.set(self.base + node, Field::Tree, winner);
            } else if old != slot {
                break;
            }
            node /= 2;
        }
    }

    /// The slot that wins at a node: the lower priority, then the lower slot.
    fn play(&self, node: u32) -> u32 {
        let a = self.contender(node * 2);
        let b = self.contender(node * 2 + 1);
        let (p, q) = (self.slots.get(a, Field::Priority), self.slots.get(b, Field::Priority));
        if p < q || p == q && a < b { a } else { b }
    }

    // Called for every node on the way up, from one place.
    #[inline(always)]
    fn contender(&self, node: u32) -> u32 {
        if node >= self.len { self.base + node - self.len } else { self.slots.get(self.base + node, Field::Tree) }
    }
}
