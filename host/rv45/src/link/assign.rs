//! Which functions share an overlay, when not all fit into main memory.

use super::Piece;
use super::regions::{HIGH_SIZE, OVERLAYS, label_of, overlay_number};
use crate::asm::Label;
use crate::flow::heat::Heat;
use crate::ir::Placement;
use std::collections::HashMap;

/// Bytes of a thunk in main memory.
const THUNK: u32 = 6;
/// Room that rounding and branches that grow may take in an overlay.
const SLACK: u32 = 48;

/// Calls of functions that are to be fast count this much more.
const HOT: f64 = 64.0;

/// True for functions that lie where there is room.
pub fn free(placement: Placement) -> bool {
    matches!(placement, Placement::Hot | Placement::Normal | Placement::Cold)
}

/// Gives every movable function a place: the most called ones for their size stay in main memory
/// as far as `budget` bytes go, the others go to high memory and overlays so that functions that
/// call each other meet. False when that does not fit.
pub fn assign(pieces: &mut [Piece], sizes: &HashMap<Label, u32>, heat: &Heat, budget: u32) -> bool {
    let size_of = |p: &Piece| label_of(p).and_then(|l| sizes.get(&l)).copied().unwrap_or(0);
    let mut movable: Vec<usize> =
        (0..pieces.len()).filter(|&i| pieces[i].movable && free(pieces[i].placement)).collect();
    let density = |p: &Piece| {
        let weight = match p.placement {
            Placement::Cold => 1e-6,
            Placement::Hot => HOT,
            _ => 1.0,
        };
        label_of(p).map_or(0.0, |l| weight * heat.of(l) / f64::from(size_of(p) + THUNK))
    };
    movable.sort_by(|&a, &b| density(&pieces[b]).total_cmp(&density(&pieces[a])).then(a.cmp(&b)));
    let mut room = i64::from(budget);
    let mut out: Vec<usize> = Vec::new();
    for &i in &movable {
        let size = i64::from(size_of(&pieces[i]));
        if size <= room {
            room -= size;
        } else {
            out.push(i);
            room -= i64::from(THUNK);
        }
    }
    let first = pieces.iter().filter_map(|p| overlay_number(p.placement)).max().unwrap_or(0);
    let groups = cluster(&out, pieces, sizes, heat);
    let Some(bins) = pack(groups, |i| size_of(&pieces[i]), usize::from(OVERLAYS - first) + 1) else { return false };
    for (n, (_, members)) in bins.into_iter().enumerate() {
        for i in members {
            // The last room, for overlay 0, is the memory that is there when no overlay is mapped.
            pieces[i].placement =
                if n == usize::from(OVERLAYS - first) { Placement::High } else { Placement::Overlay(first + n as u8) };
        }
    }
    true
}

/// Puts groups, largest first, where they fit, into so many rooms. A group for which no room is left is taken apart: its
/// functions fill the gaps. `None` where even that does not do.
fn pack(groups: Vec<Vec<usize>>, size_of: impl Fn(usize) -> u32, rooms: usize) -> Option<Vec<(u32, Vec<usize>)>> {
    const ROOM: u32 = HIGH_SIZE - SLACK;
    let mut bins: Vec<(u32, Vec<usize>)> = Vec::new();
    let mut put = |part: &[usize]| {
        let size: u32 = part.iter().map(|&i| size_of(i)).sum();
        let n = match bins.iter().position(|bin| bin.0 + size <= ROOM) {
            Some(n) => n,
            None if size <= ROOM && bins.len() < rooms => {
                bins.push((0, Vec::new()));
                bins.len() - 1
            }
            None => return None,
        };
        bins[n].0 += size;
        bins[n].1.extend(part);
        Some(())
    };
    for group in groups {
        if put(&group).is_none() {
            let mut single = group;
            single.sort_by_key(|&i| std::cmp::Reverse(size_of(i)));
            for i in single {
                put(&[i])?;
            }
        }
    }
    Some(bins)
}

/// Groups no larger than an overlay, joined along the most frequent calls; largest first.
fn cluster(members: &[usize], pieces: &[Piece], sizes: &HashMap<Label, u32>, heat: &Heat) -> Vec<Vec<usize>> {
    let index: HashMap<Label, usize> =
        members.iter().enumerate().filter_map(|(k, &i)| Some((label_of(&pieces[i])?, k))).collect();
    let mut group: Vec<usize> = (0..members.len()).collect();
    let mut size: Vec<u32> =
        members.iter().map(|&i| label_of(&pieces[i]).and_then(|l| sizes.get(&l)).copied().unwrap_or(0)).collect();
    let mut edges: Vec<(f64, usize, usize)> = heat
        .calls
        .iter()
        .filter_map(|((a, b), &w)| Some((w, *index.get(a)?, *index.get(b)?)))
        .filter(|e| e.1 != e.2)
        .collect();
    edges.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    for (_, a, b) in edges {
        let (ga, gb) = (group[a], group[b]);
        if ga != gb && size[ga] + size[gb] <= HIGH_SIZE - SLACK {
            size[ga] += size[gb];
            group.iter_mut().filter(|g| **g == gb).for_each(|g| *g = ga);
        }
    }
    let mut out: HashMap<usize, Vec<usize>> = HashMap::new();
    for (k, &g) in group.iter().enumerate() {
        out.entry(g).or_default().push(members[k]);
    }
    let mut list: Vec<(u32, Vec<usize>)> = out.into_iter().map(|(g, m)| (size[g], m)).collect();
    list.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    list.into_iter().map(|l| l.1).collect()
}

#[cfg(test)]
mod tests {
    use super::{HIGH_SIZE, SLACK, pack};

    #[test]
    fn a_group_without_a_room_fills_the_gaps() {
        let gap = 100;
        let large = HIGH_SIZE - SLACK - gap;
        let sizes = [large, large, gap - 10, gap - 20, gap + 1];
        let packed = |groups: &[&[usize]]| pack(groups.iter().map(|g| g.to_vec()).collect(), |i| sizes[i], 2);
        assert_eq!(
            packed(&[&[0], &[1], &[3, 2]]),
            Some(vec![(large + gap - 10, vec![0, 2]), (large + gap - 20, vec![1, 3])])
        );
        assert_eq!(packed(&[&[0], &[1], &[2, 4]]), None);
        assert_eq!(packed(&[&[2, 3], &[0]]), Some(vec![(2 * gap - 30, vec![2, 3]), (large, vec![0])]));
    }
}
