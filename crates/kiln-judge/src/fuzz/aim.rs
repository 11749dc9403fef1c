//! What a dimension is to be, in place of what it is. In: its size, a range, tiles, a generator. Out: a size, and on which side
//! of it to look where a rule excludes it: one less than a tile means the last size before it.

use kiln_core::Value;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

use crate::fuzz::edges::{around, edges};
use crate::fuzz::line::Side;

/// What a dimension is to be.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Aim {
    /// About this size.
    Size(i64, Side),
    /// This, or what it was.
    Value(Value),
}

/// A size in place of another.
pub(crate) fn aim(from: i64, (low, high): (i64, i64), tiles: &[i64], rng: &mut ChaCha8Rng) -> Aim {
    let pick = |all: &[i64], rng: &mut ChaCha8Rng| all.get(below(rng, all.len())).copied();
    // One less than a power of two or a tile is its last neighbour below.
    let beside = |edge: i64| if tiles.contains(&(edge + 1)) { Side::Below } else { Side::Above };
    let drawn = match rng.next_u32() % 20 {
        0..4 => None,
        4..10 => {
            let all: Vec<i64> = around(tiles).filter(|edge| (low..=high).contains(edge)).collect();
            pick(&all, rng).map(|edge| (edge, beside(edge)))
        }
        10..14 => pick(&edges(low, high, tiles), rng).map(|edge| {
            let is_below = edge.saturating_add(1).count_ones() == 1 || edge == high;
            (edge, if is_below { Side::Below } else { beside(edge) })
        }),
        14..17 => {
            let step = 1 + below(rng, (from.unsigned_abs() as usize / 8).clamp(1, 1 << 20)) as i64;
            Some(match rng.next_u32().is_multiple_of(2) {
                true => (from.saturating_add(step), Side::Above),
                false => (from.saturating_sub(step), Side::Below),
            })
        }
        // Every order of magnitude as likely as any other.
        _ => {
            let top = high.max(low).max(1).ilog2() + 1;
            let ceiling = 1i64.checked_shl(1 + below(rng, top as usize) as u32).unwrap_or(i64::MAX);
            let size = 1 + (rng.next_u64() % ceiling.unsigned_abs().max(1)) as i64;
            Some((size, if size % 2 == 0 { Side::Below } else { Side::Above }))
        }
    };
    let (size, side) = drawn.unwrap_or((from, Side::Below));
    Aim::Size(size.clamp(low, high), side)
}

/// A number below a bound, and 0 where that is 0.
pub(crate) fn below(rng: &mut ChaCha8Rng, bound: usize) -> usize {
    (rng.next_u64() % bound.max(1) as u64) as usize
}
