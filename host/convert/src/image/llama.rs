//! llama: weights, scratch and script (spec sections 6 and 8).

use ssnail_shared::isa::{GEMV_ACCUMULATE, GEMV_F16};

use super::Context;
use super::decoder::{self, caches, fill_blocks};
use super::layout::{Blob, Layout, Weights};
use super::script::{Script, areg, at, reg};
use crate::model::{Llama, LlamaLayer, OptionalLinear};
use crate::options::KvFormat;
use crate::policy::Role;

/// A matrix and the address of its bias.
#[derive(Clone, Copy)]
struct Placed {
    weights: Weights,
    bias: Option<u32>,
}

struct Layer {
    attn_norm: u32,
    ffn_norm: u32,
    q: Placed,
    k: Placed,
    v: Placed,
    o: Placed,
    gate: Placed,
    up: Placed,
    down: Placed,
}

/// Scratch vectors.
struct Work {
    x: u32,
    xb: u32,
    q: u32,
    att: u32,
    kscr: u32,
    /// Only for value biases: values must be singles until the bias is added.
    vscr: u32,
    hb: u32,
    hb2: u32,
    logits: u32,
}

/// Places everything, writes the script, returns the address of the logits.
pub(super) fn emit(m: &Llama, c: &Context<'_>, l: &mut Layout<'_>, s: &mut Script) -> u32 {
    let d = &c.model.dims;
    let embedding = l.matrix(&m.embedding, Role::Embedding);
    let layers: Vec<Layer> = m.layers.iter().map(|layer| place(layer, l)).collect();
    let output_norm = l.floats(&[&m.output_norm]);
    let classifier = m.output.as_ref().map_or(embedding, |t| l.matrix(t, Role::Output));
    let rope = l.rope(&m.rope, c.ctx);
    let blocks = l.attention_blocks(d.layers);
    l.end_payload();

    let (x, xb) = (l.vector(d.dim), l.vector(d.dim));
    let (q, att) = (l.vector(d.q_dim()), l.vector(d.q_dim()));
    let kscr = l.vector(d.kv_dim());
    let needs_vscr = layers.iter().any(|layer| layer.v.bias.is_some());
    let vscr = if needs_vscr { l.vector(d.kv_dim()) } else { 0 };
    let (hb, hb2) = (l.vector(d.hidden), l.vector(d.hidden));
    let logits = l.vector(d.vocab);
    let w = Work { x, xb, q, att, kscr, vscr, hb, hb2, logits };
    let caches = caches(c, l);
    fill_blocks(c, l, &blocks, &caches);

    let positions = decoder::begin(c, s);
    s.setn(d.dim, 0);
    s.lea(areg::ROW, embedding.address, reg::TOKEN, embedding.row_bytes);
    s.deqrow(embedding, at(areg::ROW), w.x);
    s.lea(areg::ROPE, rope, reg::POS, 4 * d.head_dim);
    for ((layer, cache), block) in layers.iter().zip(&caches).zip(&blocks) {
        attention(c, s, layer, *cache, block, &w);
        feed_forward(c, s, layer, &w);
    }
    s.setn_eps(d.dim, 0, d.eps);
    s.rmsnorm(w.x, output_norm, w.xb);
    s.setn(d.dim, d.vocab);
    s.gemv(classifier, 0, w.xb, w.logits);
    s.setn(d.vocab, 0);
    s.argmax(reg::NEXT, w.logits);
    decoder::end(positions, s);
    w.logits
}

fn place(layer: &LlamaLayer, l: &mut Layout<'_>) -> Layer {
    fn linear(l: &mut Layout<'_>, m: &OptionalLinear) -> Placed {
        let weights = l.matrix(&m.weight, Role::Inner);
        Placed { weights, bias: m.bias.as_ref().map(|b| l.floats(&[b])) }
    }
    Layer {
        attn_norm: l.floats(&[&layer.attn_norm]),
        ffn_norm: l.floats(&[&layer.ffn_norm]),
        q: linear(l, &layer.q),
        k: linear(l, &layer.k),
        v: linear(l, &layer.v),
        o: linear(l, &layer.o),
        gate: linear(l, &layer.gate),
        up: linear(l, &layer.up),
        down: linear(l, &layer.down),
    }
}

/// x += o(attention(norm(x))). Biases are added before keys are rotated and before anything becomes F16.
fn attention(c: &Context<'_>, s: &mut Script, layer: &Layer, (k, v): (u32, u32), block: &Blob, w: &Work) {
    let d = &c.model.dims;
    let (q_dim, kv_dim) = (d.q_dim(), d.kv_dim());
    let half = c.kv == KvFormat::F16;
    let row = c.kv.bytes() as u32 * kv_dim;
    s.setn_eps(d.dim, 0, d.eps);
    s.rmsnorm(w.x, layer.attn_norm, w.xb);
    s.setn(d.dim, q_dim);
    s.gemv(layer.q.weights, 0, w.xb, w.q);
    s.setn(d.dim, kv_dim);
    s.lea(areg::K, k, reg::POS, row);
    s.lea(areg::V, v, reg::POS, row);
    let keys = if half { w.kscr } else { at(areg::K) };
    s.gemv(layer.k.weights, 0, w.xb, keys);
    match (half, layer.v.bias) {
        (true, None) => s.gemv(layer.v.weights, GEMV_F16, w.xb, at(areg::V)),
        (true, Some(_)) => s.gemv(layer.v.weights, 0, w.xb, w.vscr),
        (false, _) => s.gemv(layer.v.weights, 0, w.xb, at(areg::V)),
    }
    if let Some(bias) = layer.q.bias {
        s.setn(q_dim, 0);
        s.add_to(w.q, bias);
    }
    if layer.k.bias.is_some() || layer.v.bias.is_some() {
        s.setn(kv_dim, 0);
    }
    if let Some(bias) = layer.k.bias {
        s.add_to(keys, bias);
    }
    if let Some(bias) = layer.v.bias {
        if half {
            s.add_to(w.vscr, bias);
            s.cvt16(w.vscr, at(areg::V));
        } else {
            s.add_to(at(areg::V), bias);
        }
    }
    s.setn(q_dim, d.head_dim);
    s.rope(w.q, at(areg::ROPE));
    s.setn(kv_dim, d.head_dim);
    s.rope(keys, at(areg::ROPE));
    if half {
        s.cvt16(w.kscr, at(areg::K));
    }
    s.attn(reg::POS, block.address as u32, w.q, w.att);
    s.setn(q_dim, d.dim);
    s.gemv(layer.o.weights, GEMV_ACCUMULATE, w.att, w.x);
}

/// x += down(silu(gate(norm(x))) · up(norm(x))).
fn feed_forward(c: &Context<'_>, s: &mut Script, layer: &Layer, w: &Work) {
    let d = &c.model.dims;
    s.setn_eps(d.dim, 0, d.eps);
    if let Some(bias) = layer.o.bias {
        s.add_to(w.x, bias);
    }
    s.rmsnorm(w.x, layer.ffn_norm, w.xb);
    s.setn(d.dim, d.hidden);
    s.gemv(layer.gate.weights, 0, w.xb, w.hb);
    s.gemv(layer.up.weights, 0, w.xb, w.hb2);
    s.setn(d.hidden, 0);
    if let Some(bias) = layer.gate.bias {
        s.add_to(w.hb, bias);
    }
    if let Some(bias) = layer.up.bias {
        s.add_to(w.hb2, bias);
    }
    s.silumul(w.hb, w.hb2, w.hb);
    s.setn(d.hidden, d.dim);
    s.gemv(layer.down.weights, GEMV_ACCUMULATE, w.hb, w.x);
    if let Some(bias) = layer.down.bias {
        s.setn(d.dim, 0);
        s.add_to(w.x, bias);
    }
}
