//! gpt2: weights, scratch and script (spec sections 6 and 8).

use ssnail_shared::isa::GEMV_ACCUMULATE;

use super::Context;
use super::decoder::{self, caches, fill_blocks};
use super::layout::{Blob, Layout, Weights};
use super::script::{Script, areg, at, reg};
use crate::model::{Gpt2, Gpt2Layer, Linear, Norm};
use crate::options::KvFormat;
use crate::policy::Role;

/// A matrix and the address of its bias.
#[derive(Clone, Copy)]
pub(super) struct Placed {
    pub(super) weights: Weights,
    pub(super) bias: u32,
}

struct Layer {
    attn_norm: u32,
    ffn_norm: u32,
    qkv: Placed,
    o: Placed,
    up: Placed,
    down: Placed,
}

/// Scratch vectors.
struct Work {
    x: u32,
    xb: u32,
    q: u32,
    att: u32,
    tmp: u32,
    kscr: u32,
    vscr: u32,
    hb: u32,
    logits: u32,
}

/// Gain and bias in one blob.
pub(super) fn norm(l: &mut Layout<'_>, n: &Norm) -> u32 {
    l.floats(&[&n.gain, &n.bias])
}

/// A matrix, then its bias.
pub(super) fn linear(l: &mut Layout<'_>, m: &Linear) -> Placed {
    let weights = l.matrix(&m.weight, Role::Inner);
    Placed { weights, bias: l.floats(&[&m.bias]) }
}

/// Places everything, writes the script, returns the address of the logits.
pub(super) fn emit(m: &Gpt2, c: &Context<'_>, l: &mut Layout<'_>, s: &mut Script) -> u32 {
    let d = &c.model.dims;
    let embedding = l.matrix(&m.embedding, Role::Embedding);
    let positions = l.matrix(&m.positions, Role::Inner);
    let layers: Vec<Layer> = m.layers.iter().map(|layer| place(layer, l)).collect();
    let output_norm = norm(l, &m.output_norm);
    let classifier = m.output.as_ref().map_or(embedding, |t| l.matrix(t, Role::Output));
    let blocks = l.attention_blocks(d.layers);
    l.end_payload();

    let [x, xb, q, att, tmp, kscr, vscr] = std::array::from_fn(|_| l.vector(d.dim));
    let hb = l.vector(d.hidden);
    let logits = l.vector(d.vocab);
    let w = Work { x, xb, q, att, tmp, kscr, vscr, hb, logits };
    let caches = caches(c, l);
    fill_blocks(c, l, &blocks, &caches);

    let loop_ = decoder::begin(c, s);
    s.setn(d.dim, 0);
    s.lea(areg::ROW, embedding.address, reg::TOKEN, embedding.row_bytes);
    s.deqrow(embedding, at(areg::ROW), w.x);
    s.lea(areg::ROW, positions.address, reg::POS, positions.row_bytes);
    s.deqrow(positions, at(areg::ROW), w.tmp);
    s.add_to(w.x, w.tmp);
    for ((layer, cache), block) in layers.iter().zip(&caches).zip(&blocks) {
        attention(c, s, layer, *cache, block, &w);
        feed_forward(c, s, layer, &w);
    }
    s.setn_eps(d.dim, 0, d.eps);
    s.layernorm(w.x, output_norm, w.xb);
    s.setn(d.dim, d.vocab);
    s.gemv(classifier, 0, w.xb, w.logits);
    s.setn(d.vocab, 0);
    s.argmax(reg::NEXT, w.logits);
    decoder::end(loop_, s);
    w.logits
}

fn place(layer: &Gpt2Layer, l: &mut Layout<'_>) -> Layer {
    Layer {
        attn_norm: norm(l, &layer.attn_norm),
        ffn_norm: norm(l, &layer.ffn_norm),
        qkv: linear(l, &layer.qkv),
        o: linear(l, &layer.o),
        up: linear(l, &layer.up),
        down: linear(l, &layer.down),
    }
}

/// x += o(attention(ln1(x))); the bias of o is added by [`feed_forward`].
fn attention(c: &Context<'_>, s: &mut Script, layer: &Layer, (k, v): (u32, u32), block: &Blob, w: &Work) {
    let d = &c.model.dims;
    let half = c.kv == KvFormat::F16;
    let row = c.kv.bytes() as u32 * d.dim;
    let (keys, values) = if half { (w.kscr, w.vscr) } else { (at(areg::K), at(areg::V)) };
    s.setn_eps(d.dim, 0, d.eps);
    s.layernorm(w.x, layer.attn_norm, w.xb);
    s.setn(d.dim, d.dim);
    let third = |n: u32| {
        let skipped = n.wrapping_mul(d.dim).wrapping_mul(layer.qkv.weights.row_bytes);
        Weights { address: layer.qkv.weights.address.wrapping_add(skipped), ..layer.qkv.weights }
    };
    s.gemv(third(0), 0, w.xb, w.q);
    s.lea(areg::K, k, reg::POS, row);
    s.lea(areg::V, v, reg::POS, row);
    s.gemv(third(1), 0, w.xb, keys);
    s.gemv(third(2), 0, w.xb, values);
    s.setn(d.dim, 0);
    s.add_to(w.q, layer.qkv.bias);
    s.add_to(keys, layer.qkv.bias.wrapping_add(4 * d.dim));
    s.add_to(values, layer.qkv.bias.wrapping_add(8 * d.dim));
    if half {
        s.cvt16(w.kscr, at(areg::K));
        s.cvt16(w.vscr, at(areg::V));
    }
    s.attn(reg::POS, block.address as u32, w.q, w.att);
    s.setn(d.dim, d.dim);
    s.gemv(layer.o.weights, GEMV_ACCUMULATE, w.att, w.x);
}

/// x += down(gelu(up(ln2(x)))).
fn feed_forward(c: &Context<'_>, s: &mut Script, layer: &Layer, w: &Work) {
    let d = &c.model.dims;
    s.setn_eps(d.dim, 0, d.eps);
    s.add_to(w.x, layer.o.bias);
    s.layernorm(w.x, layer.ffn_norm, w.xb);
    s.setn(d.dim, d.hidden);
    s.gemv(layer.up.weights, 0, w.xb, w.hb);
    s.setn(d.hidden, 0);
    s.add_to(w.hb, layer.up.bias);
    s.gelu(w.hb);
    s.setn(d.hidden, d.dim);
    s.gemv(layer.down.weights, GEMV_ACCUMULATE, w.hb, w.x);
    s.setn(d.dim, 0);
    s.add_to(w.x, layer.down.bias);
}
