use super::weight::{POWERS, power};
use super::*;
use crate::cases::{cases, data_folder};
use crate::mem::SliceMemory;

const AT: u32 = 0x800_0000;

fn memory(logits: &[f32]) -> SliceMemory<Vec<u8>> {
    SliceMemory::new(AT, logits.iter().flat_map(|v| v.to_le_bytes()).collect())
}

/// Probabilities by the specification's words, in F64.
fn reference(logits: &[f32], s: &Settings, recent: &[u32]) -> Vec<f64> {
    let mut z: Vec<f64> = logits.iter().map(|&v| f64::from(v)).collect();
    let p = f64::from(s.penalty);
    for &t in recent {
        let v = &mut z[t as usize];
        *v = if *v > 0.0 { *v / p } else { *v * p };
    }
    z.iter_mut().for_each(|v| *v /= f64::from(s.temperature));
    let mut sorted = z.clone();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let k = s.top_k as usize;
    let least = if k > 0 && k < z.len() { sorted[k - 1] } else { f64::NEG_INFINITY };
    let e: Vec<f64> = z.iter().map(|&v| if v >= least { (v - sorted[0]).exp() } else { 0.0 }).collect();
    let total: f64 = e.iter().sum();
    e.iter().map(|v| v / total).collect()
}

/// The probabilities that the sampler uses.
fn probabilities(logits: &[f32], s: &Settings, recent: &[u32], room: usize) -> Vec<f64> {
    let m = memory(logits);
    let n = logits.len() as u32;
    let mut penalised = Penalised::new();
    let run = Run { address: AT, count: n };
    let all = Logits::new(&m, run).with(penalised.fill(&m, run, s.penalty, recent).unwrap());
    let mut room = vec![Candidate::default(); room];
    let chosen = keep(&all, n, s.top_k, &mut room).unwrap();
    let mut out = vec![0.0; logits.len()];
    let total = weigh(&all, &chosen, scale_of(s), &mut room).unwrap();
    let mut sum = 0;
    weights(&all, &chosen, scale_of(s), &room, |t, w| {
        sum += u64::from(w);
        out[t as usize] = f64::from(w);
        true
    })
    .unwrap();
    assert_eq!(sum, total);
    let total: f64 = out.iter().sum();
    out.iter().map(|v| v / total).collect()
}

fn close(a: &[f64], b: &[f64]) {
    for (i, (x, y)) in a.iter().zip(b).enumerate() {
        assert!((x - y).abs() < 1e-6, "token {i}: {x} {y}");
        if *x == 0.0 || *y == 0.0 {
            assert!(x + y < 1e-9, "token {i}: {x} {y}");
        }
    }
}

fn random_logits(rng: &mut Rng, n: u32, width: f32) -> Vec<f32> {
    (0..n).map(|_| (rng.next_u32() as f32 / 4_294_967_296.0 - 0.5) * width).collect()
}

#[test]
fn power_is_the_exponential() {
    let mut rng = Rng::new(3);
    for _ in 0..cases(100_000) {
        let t = rng.next_u32() >> 3;
        let want = (-f64::from(t) / f64::from(1u32 << 27)).exp2() * 4_294_967_296.0;
        assert!((f64::from(power(t)) - want).abs() < 20.0, "{t}: {} {want}", power(t));
    }
    for (i, &p) in POWERS.iter().enumerate().skip(1) {
        assert!((f64::from(p) - (-(i as f64) / 16.0).exp2() * 4_294_967_296.0).abs() <= 1.0);
    }
}

#[test]
fn weights_are_those_of_f64() {
    let mut rng = Rng::new(31);
    let mut seen = 0;
    for _ in 0..cases(200_000) {
        let exponent = 100 + rng.next_u32() % 60;
        let largest = f32::from_bits(exponent << 23 | rng.next_u32() & 0x807F_FFFF);
        let scale = f32::from_bits((100 + rng.next_u32() % 50) << 23 | rng.next_u32() & 0x007F_FFFF);
        let z = largest - 40.0 / scale * (rng.next_u32() as f32 / 4_294_967_296.0);
        let t = (f64::from(largest) - f64::from(z)) * f64::from(scale);
        let got = f64::from(Weights::new(largest.to_bits(), scale).of(key_of(z.to_bits())));
        let want = (-t).exp2() * 4_294_967_296.0;
        if t >= 32.0 {
            assert_eq!(got, 0.0, "{largest} {z} {scale}");
        } else {
            assert!((got - want).abs() <= 25.0 + want * 2e-7, "{largest} {z} {scale}: {got} {want}");
            seen += u32::from(z != largest);
        }
    }
    assert!(seen > cases(200_000) / 4);
    let at = |largest: f32, scale: f32, z: f32| Weights::new(largest.to_bits(), scale).of(key_of(z.to_bits()));
    assert_eq!(at(3.0, f32::INFINITY, 3.0), power(0));
    assert_eq!(at(3.0, f32::INFINITY, 2.999), 0);
    assert_eq!(at(3.0, 0.0, -1e30), power(0));
    assert_eq!(at(0.0, 1.0, 0.0), power(0));
    assert_eq!(at(3.0, 1.5, f32::NEG_INFINITY), 0);
    assert_eq!(at(f32::NEG_INFINITY, 1.5, f32::NEG_INFINITY), power(0));
}

#[test]
fn probabilities_are_those_of_the_specification() {
    let mut rng = Rng::new(1);
    for round in 0..cases(60) {
        let n = 2 + rng.next_u32() % 300;
        let logits = random_logits(&mut rng, n, 12.0);
        let mut recent: Vec<u32> = (0..20).map(|_| rng.next_u32() % n).collect();
        recent.sort_unstable();
        recent.dedup();
        for top_k in [0, 1, 2, 7, 40, n, n + 5] {
            for (temperature, penalty) in [(0.8, 1.15), (1.0, 1.0), (0.3, 1.3), (3.0, 0.9)] {
                let s = Settings { temperature, top_k, penalty };
                let want = reference(&logits, &s, &recent);
                let got = probabilities(&logits, &s, &recent, if round % 2 == 0 { 64 } else { 512 });
                close(&got, &want);
            }
        }
    }
}

#[test]
fn equal_logits_at_the_edge_of_top_k_all_stay() {
    let logits = [1.0, 3.0, 2.0, 2.0, 2.0, -1.0, 3.0];
    for top_k in 1..8 {
        let s = Settings { temperature: 1.0, top_k, penalty: 1.0 };
        for room in [7, 64] {
            close(&probabilities(&logits, &s, &[], room), &reference(&logits, &s, &[]));
        }
    }
}

/// Tokens that the recorded cases penalise, seen in their probabilities.
const RECORDED_CONTEXT: [u32; 7] = [1, 5, 21, 300, 301, 331, 399];

#[test]
fn recorded_probabilities() {
    let Some(dir) = data_folder() else { return };
    let ops = format!("{dir}/vectors/ops");
    let Ok(bytes) = std::fs::read(format!("{ops}/sample_logits.f32")) else {
        println!("skipped: no {ops}");
        return;
    };
    let logits: Vec<f32> = bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
    let mut seen = 0;
    for (name, temperature, top_k, penalty) in [
        ("t0.8_k40_p1.15", 0.8, 40, 1.15),
        ("t0.7_k5_p1.3", 0.7, 5, 1.3),
        ("t0.8_k1_p1.0", 0.8, 1, 1.0),
        ("t1.0_k0_p1.0", 1.0, 0, 1.0),
        ("t1.5_k400_p1.15", 1.5, 400, 1.15),
    ] {
        let want = std::fs::read(format!("{ops}/sample_{name}.f64")).unwrap();
        let want: Vec<f64> = want.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect();
        let got = probabilities(&logits, &Settings { temperature, top_k, penalty }, &RECORDED_CONTEXT, 512);
        close(&got, &want);
        seen += 1;
    }
    assert_eq!(seen, 5);
}

#[test]
fn draws_follow_the_probabilities() {
    let mut rng = Rng::new(9);
    let logits = random_logits(&mut rng, 50, 6.0);
    let s = Settings { temperature: 0.8, top_k: 10, penalty: 1.15 };
    let mut recent = Recent::new();
    recent.push(3);
    let want = reference(&logits, &s, recent.distinct());
    let m = memory(&logits);
    let mut room = [Candidate::default(); 64];
    let mut counts = [0u32; 50];
    let draws = cases(20_000);
    for _ in 0..draws {
        counts[sample(&m, AT, 50, &s, &recent, &mut rng, &mut room).unwrap() as usize] += 1;
    }
    for (i, &c) in counts.iter().enumerate() {
        let p = want[i];
        let sigma = (p * (1.0 - p) * f64::from(draws)).sqrt();
        assert!((f64::from(c) - p * f64::from(draws)).abs() <= 5.0 * sigma + 1e-9, "token {i}: {c} of {p}");
    }
}

#[test]
fn few_places_give_the_same_choice_as_many() {
    let mut rng = Rng::new(11);
    for _ in 0..cases(200) {
        let logits = random_logits(&mut rng, 300, 20.0);
        let m = memory(&logits);
        let seed = rng.next_u32();
        let choose = |room: usize| {
            let mut room = vec![Candidate::default(); room];
            sample(&m, AT, 300, &Settings::CHAT, &Recent::new(), &mut Rng::new(seed), &mut room).unwrap()
        };
        assert_eq!(choose(64), choose(300));
        assert_eq!(choose(64), choose(40));
        assert_eq!(choose(64), choose(39));
        assert_eq!(choose(64), choose(0));
    }
}

#[test]
fn values_that_are_not_finite_are_named() {
    for bad in [f32::NAN, -f32::NAN, f32::INFINITY] {
        let m = memory(&[0.0, 1.0, bad, 2.0]);
        for s in [Settings::CHAT, Settings::GREEDY] {
            let mut room = [Candidate::default(); 8];
            let r = sample(&m, AT, 4, &s, &Recent::new(), &mut Rng::new(1), &mut room);
            assert_eq!(r, Err(SampleError::NotFinite { token: 2 }));
        }
    }
    let m = memory(&[f32::NEG_INFINITY, 1.0]);
    let mut room = [Candidate::default(); 8];
    assert_eq!(sample(&m, AT, 2, &Settings::CHAT, &Recent::new(), &mut Rng::new(1), &mut room), Ok(1));
    assert_eq!(
        sample(&m, AT, 0, &Settings::CHAT, &Recent::new(), &mut Rng::new(1), &mut room),
        Err(SampleError::Empty)
    );
}

#[test]
fn strange_settings_choose_some_token() {
    let m = memory(&[0.5, 2.0, -1.0]);
    let mut room = [Candidate::default(); 1];
    for temperature in [-1.0, 0.0, f32::NAN, 1e-30, 1e30, f32::INFINITY] {
        for penalty in [0.0, f32::INFINITY, -1.0, f32::NAN, 1.0] {
            for top_k in [0, 1, 3, 1000] {
                let s = Settings { temperature, top_k, penalty };
                let mut recent = Recent::new();
                recent.push(1);
                let t = sample(&m, AT, 3, &s, &recent, &mut Rng::new(1), &mut room).unwrap();
                assert!(t < 3);
            }
        }
    }
}

#[test]
fn percent_of_a_token() {
    let m = memory(&[0.0, 0.0, 0.0, 0.0]);
    let mut room = [Candidate::default(); 8];
    let s = Settings { temperature: 1.0, top_k: 0, penalty: 2.0 };
    assert_eq!(percent(&m, AT, 4, &s, 2, &mut room), Ok(25));
    assert_eq!(percent(&m, AT, 4, &Settings::GREEDY, 0, &mut room), Ok(100));
    assert_eq!(percent(&m, AT, 4, &Settings::GREEDY, 1, &mut room), Ok(0));
}

#[test]
fn the_kept_ones_are_the_largest_with_all_their_equals() {
    let mut rng = Rng::new(21);
    for round in 0..cases(400) {
        let n = 1 + rng.next_u32() % 200;
        // Values of any size and sign, few different ones in every other round.
        let bits: Vec<u32> = (0..n)
            .map(|_| match round % 4 {
                0 => rng.next_u32() & 0xBFFF_FFFF,
                1 => (rng.next_u32() % 9 * 0x0800_0001) & 0xBFFF_FFFF | rng.next_u32() & 0x8000_0000,
                2 => 0xC0A0_0000 | rng.next_u32() & 0xFF,
                _ => 0x40A0_0000 | rng.next_u32() & 3 << (rng.next_u32() % 20),
            })
            .collect();
        let values: Vec<f32> = bits.iter().map(|&b| f32::from_bits(b)).collect();
        let m = memory(&values);
        let mut recent: Vec<u32> = (0..rng.next_u32() % 70).map(|_| rng.next_u32() % (n + 3)).collect();
        recent.sort_unstable();
        recent.dedup();
        recent.truncate(64);
        let penalty = [1.25, 0.75][round as usize % 2];
        let mut keys: Vec<u32> = bits.iter().map(|&b| key_of(b)).collect();
        for &t in recent.iter().filter(|&&t| t < n) {
            let z = values[t as usize];
            let z = if bits[t as usize] >> 31 == 0 { z * (1.0 / penalty) } else { z * penalty };
            keys[t as usize] = key_of(z.to_bits());
        }
        let mut penalised = Penalised::new();
        let run = Run { address: AT, count: n };
        let all = Logits::new(&m, run).with(penalised.fill(&m, run, penalty, &recent).unwrap());
        for k in [1, 2, 5, 40, n - 1, n] {
            let k = k.clamp(1, n);
            let mut sorted = keys.clone();
            sorted.sort_unstable_by(|a, b| b.cmp(a));
            let least = sorted[k as usize - 1];
            let want: Vec<u32> = (0..n).filter(|&t| keys[t as usize] >= least).collect();
            for places in [k as usize, k as usize + 3, 300] {
                let mut room = vec![Candidate::default(); places];
                let chosen = keep(&all, n, k, &mut room).unwrap();
                assert_eq!(key_of(chosen.largest), sorted[0]);
                let mut got = Vec::new();
                match chosen.kept {
                    Kept::Few { len } => got.extend(room[..len].iter().map(|c| c.token)),
                    Kept::From { key } => all
                        .each(key, Cursor::default(), |t, _| {
                            got.push(t);
                            true
                        })
                        .unwrap(),
                }
                assert_eq!(got, want, "round {round}, {k} of {n}, {places} places");
            }
        }
    }
}

#[test]
fn the_largest_is_the_first_of_its_equals() {
    let m = memory(&[-1.0, 3.0, 2.0, 3.0, f32::NEG_INFINITY]);
    assert_eq!(argmax(&m, AT, 5), Ok(1));
    assert_eq!(argmax(&m, AT + 16, 1), Ok(0));
    assert_eq!(argmax(&m, AT, 0), Err(SampleError::Empty));
    assert!(matches!(argmax(&m, AT, 6), Err(SampleError::Memory(_))));
}
