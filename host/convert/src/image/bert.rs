//! bert: weights, scratch and script (spec sections 6 and 8). The whole sequence passes each layer at once:
//! first queries, keys and values of every position, then attention and feed-forward of every position.

use ssnail_shared::isa::GEMV_ACCUMULATE;
use ssnail_shared::map::{OUTPUT, TOKENS};
use ssnail_shared::runtime::{self, StopReason};

use super::Context;
use super::decoder::fill_blocks;
use super::gpt2::{Placed, linear, norm};
use super::layout::{Blob, Layout};
use super::script::{Script, areg, at, reg};
use crate::model::{Bert, BertLayer, Pooling};
use crate::options::KvFormat;
use crate::policy::Role;

struct Layer {
    q: Placed,
    k: Placed,
    v: Placed,
    o: Placed,
    attn_norm: u32,
    up: Placed,
    down: Placed,
    output_norm: u32,
}

/// Scratch: the sequence, its queries, the caches shared by all layers, vectors.
struct Work {
    xs: u32,
    qs: u32,
    k: u32,
    v: u32,
    att: u32,
    tmp: u32,
    kscr: u32,
    vscr: u32,
    hb: u32,
}

/// Places everything and writes the script; the output goes to its fixed window.
pub(super) fn emit(m: &Bert, c: &Context<'_>, l: &mut Layout<'_>, s: &mut Script) {
    let d = &c.model.dims;
    let embedding = l.matrix(&m.embedding, Role::Embedding);
    let positions = l.matrix(&m.positions, Role::Inner);
    let types = m.token_types.as_ref().map(|t| l.matrix(t, Role::Inner));
    let embedding_norm = norm(l, &m.embedding_norm);
    let layers: Vec<Layer> = m.layers.iter().map(|layer| place(layer, l)).collect();
    let blocks = l.attention_blocks(d.layers);
    l.end_payload();

    let elements = u64::from(c.ctx) * u64::from(d.dim);
    let (xs, qs) = (l.scratch(elements, 4), l.scratch(elements, 4));
    let (k, v) = (l.scratch(elements, c.kv.bytes()), l.scratch(elements, c.kv.bytes()));
    let [att, tmp, kscr, vscr] = std::array::from_fn(|_| l.vector(d.dim));
    let hb = l.vector(d.hidden);
    let w = Work { xs, qs, k, v, att, tmp, kscr, vscr, hb };
    fill_blocks(c, l, &blocks, &vec![(k, v); blocks.len()]);

    let (fits, done) = (s.label(), s.label());
    s.li(reg::GENERATED, 0);
    s.str(reg::GENERATED, runtime::GENERATED);
    s.ldr(reg::N, runtime::PROMPT_LEN);
    s.li(reg::CTX, c.ctx + 1);
    s.li(reg::REASON, StopReason::Context as u32);
    s.blt(reg::N, reg::CTX, fits);
    s.jump(done);
    s.here(fits);
    s.li(reg::REASON, StopReason::Count as u32);
    s.beq(reg::N, reg::ZERO, done);
    s.addi(reg::POS1, reg::N, -1);

    let x = at(areg::X);
    each_position(s, |s| {
        s.lea(areg::SLOT, TOKENS, reg::T, 4);
        s.ldr(reg::TOKEN, at(areg::SLOT));
        s.lea(areg::X, w.xs, reg::T, 4 * d.dim);
        s.setn_eps(d.dim, 0, d.eps);
        s.lea(areg::ROW, embedding.address, reg::TOKEN, embedding.row_bytes);
        s.deqrow(embedding, at(areg::ROW), x);
        s.lea(areg::ROW, positions.address, reg::T, positions.row_bytes);
        s.deqrow(positions, at(areg::ROW), w.tmp);
        s.add_to(x, w.tmp);
        if let Some(types) = types {
            s.deqrow(types, types.address, w.tmp);
            s.add_to(x, w.tmp);
        }
        s.layernorm(x, embedding_norm, x);
    });
    for (layer, block) in layers.iter().zip(&blocks) {
        each_position(s, |s| project(c, s, layer, &w));
        each_position(s, |s| attend(c, s, layer, block, &w));
    }
    s.setn(d.dim, 0);
    match m.pooling {
        Pooling::Cls => s.copy(w.xs, OUTPUT, 4 * d.dim),
        Pooling::Mean => s.meanrows(reg::N, w.xs, OUTPUT),
    }
    s.li(reg::REASON, StopReason::Count as u32);
    s.here(done);
    s.str(reg::REASON, runtime::STOP_REASON);
    s.sync();
    s.halt();
}

fn place(layer: &BertLayer, l: &mut Layout<'_>) -> Layer {
    Layer {
        q: linear(l, &layer.q),
        k: linear(l, &layer.k),
        v: linear(l, &layer.v),
        o: linear(l, &layer.o),
        attn_norm: norm(l, &layer.attn_norm),
        up: linear(l, &layer.up),
        down: linear(l, &layer.down),
        output_norm: norm(l, &layer.output_norm),
    }
}

/// R[T] runs from 0 over all positions of the sequence.
fn each_position(s: &mut Script, body: impl FnOnce(&mut Script)) {
    let again = s.label();
    s.li(reg::T, 0);
    s.here(again);
    body(s);
    s.addi(reg::T, reg::T, 1);
    s.blt(reg::T, reg::N, again);
}

/// Query, key and value of one position.
fn project(c: &Context<'_>, s: &mut Script, layer: &Layer, w: &Work) {
    let d = &c.model.dims;
    let half = c.kv == KvFormat::F16;
    let row = c.kv.bytes() as u32 * d.dim;
    let (keys, values) = if half { (w.kscr, w.vscr) } else { (at(areg::K), at(areg::V)) };
    s.lea(areg::X, w.xs, reg::T, 4 * d.dim);
    s.lea(areg::Q, w.qs, reg::T, 4 * d.dim);
    s.lea(areg::K, w.k, reg::T, row);
    s.lea(areg::V, w.v, reg::T, row);
    s.setn(d.dim, d.dim);
    s.gemv(layer.q.weights, 0, at(areg::X), at(areg::Q));
    s.gemv(layer.k.weights, 0, at(areg::X), keys);
    s.gemv(layer.v.weights, 0, at(areg::X), values);
    s.add_to(at(areg::Q), layer.q.bias);
    s.add_to(keys, layer.k.bias);
    s.add_to(values, layer.v.bias);
    if half {
        s.cvt16(w.kscr, at(areg::K));
        s.cvt16(w.vscr, at(areg::V));
    }
}

/// x = ln1(x + o(attention)), then x = ln2(x + down(gelu(up(x)))) at one position.
fn attend(c: &Context<'_>, s: &mut Script, layer: &Layer, block: &Blob, w: &Work) {
    let d = &c.model.dims;
    let x = at(areg::X);
    s.lea(areg::X, w.xs, reg::T, 4 * d.dim);
    s.lea(areg::Q, w.qs, reg::T, 4 * d.dim);
    s.attn(reg::POS1, block.address as u32, at(areg::Q), w.att);
    s.setn_eps(d.dim, d.dim, d.eps);
    s.gemv(layer.o.weights, GEMV_ACCUMULATE, w.att, x);
    s.add_to(x, layer.o.bias);
    s.layernorm(x, layer.attn_norm, x);
    s.setn(d.dim, d.hidden);
    s.gemv(layer.up.weights, 0, x, w.hb);
    s.setn(d.hidden, 0);
    s.add_to(w.hb, layer.up.bias);
    s.gelu(w.hb);
    s.setn(d.hidden, d.dim);
    s.gemv(layer.down.weights, GEMV_ACCUMULATE, w.hb, x);
    s.setn_eps(d.dim, 0, d.eps);
    s.add_to(x, layer.down.bias);
    s.layernorm(x, layer.output_norm, x);
}
