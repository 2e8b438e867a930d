//! What llama and gpt2 scripts share: the loop over positions around the body, and the KV caches.

use ssnail_shared::map::TOKENS;
use ssnail_shared::runtime::{self, StopReason};

use super::Context;
use super::layout::{Blob, Layout};
use super::script::{Label, Script, areg, at, reg};

/// Labels of the loop.
pub(super) struct Loop {
    next: Label,
    done: Label,
}

/// Reads the runtime block, stops if there is nothing to do or no room, and loads the token at the position.
pub(super) fn begin(c: &Context<'_>, s: &mut Script) -> Loop {
    let (next, done, room) = (s.label(), s.label(), s.label());
    s.ldr(reg::POS, runtime::POS);
    s.ldr(reg::PROMPT_LEN, runtime::PROMPT_LEN);
    s.ldr(reg::N_GENERATE, runtime::N_GENERATE);
    s.li(reg::GENERATED, 0);
    s.str(reg::GENERATED, runtime::GENERATED);
    s.li(reg::EOS, c.eos);
    s.li(reg::CTX, c.ctx);
    s.li(reg::REASON, StopReason::Count as u32);
    s.beq(reg::N_GENERATE, reg::ZERO, done);
    s.here(next);
    s.blt(reg::POS, reg::CTX, room);
    s.li(reg::REASON, StopReason::Context as u32);
    s.jump(done);
    s.here(room);
    s.lea(areg::SLOT, TOKENS, reg::POS, 4);
    s.ldr(reg::TOKEN, at(areg::SLOT));
    Loop { next, done }
}

/// Takes the next token from R[NEXT] unless the prompt goes on, reports it, and goes on or stops.
pub(super) fn end(l: Loop, s: &mut Script) {
    let (advance, stop) = (s.label(), s.label());
    s.addi(reg::POS1, reg::POS, 1);
    s.blt(reg::POS1, reg::PROMPT_LEN, advance);
    s.lea(areg::SLOT, TOKENS, reg::POS1, 4);
    s.str(reg::NEXT, at(areg::SLOT));
    s.addi(reg::GENERATED, reg::GENERATED, 1);
    s.str(reg::GENERATED, runtime::GENERATED);
    s.sync();
    s.li(reg::REASON, StopReason::Eos as u32);
    s.beq(reg::NEXT, reg::EOS, stop);
    s.li(reg::REASON, StopReason::Count as u32);
    s.beq(reg::GENERATED, reg::N_GENERATE, stop);
    s.ldr(reg::TMP, runtime::STOP_REQUEST);
    s.li(reg::REASON, StopReason::Requested as u32);
    s.bne(reg::TMP, reg::ZERO, stop);
    s.here(advance);
    s.addi(reg::POS, reg::POS, 1);
    s.str(reg::POS, runtime::POS);
    s.jump(l.next);
    s.here(stop);
    s.addi(reg::POS, reg::POS, 1);
    s.here(l.done);
    s.str(reg::POS, runtime::POS);
    s.str(reg::REASON, runtime::STOP_REASON);
    s.sync();
    s.halt();
}

/// K and V cache of every layer, all K before all V.
pub(super) fn caches(c: &Context<'_>, l: &mut Layout<'_>) -> Vec<(u32, u32)> {
    let elements = u64::from(c.ctx) * u64::from(c.model.dims.kv_dim());
    let mut all = |_| l.scratch(elements, c.kv.bytes());
    let k: Vec<u32> = (0..c.model.dims.layers).map(&mut all).collect();
    let v: Vec<u32> = (0..c.model.dims.layers).map(&mut all).collect();
    k.into_iter().zip(v).collect()
}

/// Writes the attention blocks: caches, heads, key heads, head size, format of the caches.
pub(super) fn fill_blocks(c: &Context<'_>, l: &mut Layout<'_>, blocks: &[Blob], caches: &[(u32, u32)]) {
    let d = &c.model.dims;
    for (block, (k, v)) in blocks.iter().zip(caches) {
        let words = [*k, *v, d.heads, d.kv_heads, d.head_dim, c.kv.word(), 0, 0];
        l.fill(block, words.iter().flat_map(|w| w.to_le_bytes()).collect());
    }
}
