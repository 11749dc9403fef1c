//! Cases, one after another. In: what shapes may be, configurations, distributions, a seed. Out: the case of a number; the
//! same seed and number give the same case, whatever was asked for before. A shape begins as a workload's and has some of its
//! dimensions moved: to the edge of a tile, to an odd or extreme size, a little, or anywhere.

use kiln_core::{Config, Value};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::drawn::distribution::Distribution;
use crate::fuzz::case::{FuzzCase, Shape};
use crate::fuzz::edges::{around, edges};
use crate::fuzz::room::{Extent, Room};

/// Shapes that are drawn before a workload's own is taken.
const TRIES: usize = 40;

/// What cases are drawn from.
pub struct Source<'s> {
    /// What shapes may be.
    pub room: &'s Room,
    /// The configurations, the one to ask about most first; one that is empty for a baseline.
    pub configs: &'s [Config],
    /// What inputs are drawn from, the usual first.
    pub inputs: &'s [Distribution],
    /// The tiles of a configuration.
    pub tiles: &'s (dyn Fn(&Config, &Shape) -> Vec<i64> + Sync),
    /// Whether a shape makes sense for a configuration and is small enough.
    pub fits: &'s (dyn Fn(&Shape, &Config) -> bool + Sync),
}

/// Draws cases.
pub struct Generator<'s> {
    source: Source<'s>,
    seed: u64,
}

impl<'s> Generator<'s> {
    /// A generator of a seed.
    pub fn new(source: Source<'s>, seed: u64) -> Generator<'s> {
        Generator { source, seed }
    }

    /// The case of a number; none where there is no workload to begin with.
    pub fn case(&self, number: u64) -> Option<FuzzCase> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(number);
        let Source { configs, inputs, room, .. } = &self.source;
        // Every other case is about the first configuration.
        let turn = (number / 2) as usize;
        let config = if number.is_multiple_of(2) { configs.first() } else { configs.get(turn % configs.len().max(1)) };
        let config = config.cloned().unwrap_or_default();
        let usual = number == 0 || rng.next_u32().is_multiple_of(3);
        let of_inputs = if usual { 0 } else { below(&mut rng, inputs.len()) };
        let inputs = inputs.get(of_inputs).copied().unwrap_or(Distribution::Declared);
        let seed = u64::from(rng.next_u32());
        let mut shape = None;
        for _ in 0..TRIES {
            let base = room.bases.get(below(&mut rng, room.bases.len()))?;
            let drawn = self.reduced(self.moved(base, &config, &mut rng), &config);
            if (self.source.fits)(&drawn, &config) {
                shape = Some(drawn);
                break;
            }
        }
        let shape = shape.or_else(|| room.bases.first().map(|base| self.reduced(base.clone(), &config)))?;
        Some(FuzzCase { shape, inputs, seed, config })
    }

    /// A shape with some of its dimensions moved. Those that are equal stay so half of the time: a square is asked about as
    /// often as what was one.
    fn moved(&self, base: &Shape, config: &Config, rng: &mut ChaCha8Rng) -> Shape {
        let mut shape = base.clone();
        let tiles = (self.source.tiles)(config, base);
        let together = rng.next_u32().is_multiple_of(2);
        let mut done: Vec<(Value, Value)> = Vec::new();
        for (name, value) in &mut shape {
            let Some(extent) = self.source.room.extent(name) else { continue };
            let before = value.clone();
            let same = done.iter().find(|(from, _)| together && *from == before && matches!(from, Value::Int(_)));
            *value = match (same, extent) {
                (Some((_, Value::Int(to))), Extent::Whole(low, high)) => Value::Int((*to).clamp(*low, *high)),
                (_, Extent::Whole(low, high)) => match &before {
                    Value::Int(from) => Value::Int(number(*from, (*low, *high), &tiles, rng)),
                    _ => before.clone(),
                },
                (_, Extent::Listed(values)) => match rng.next_u32() % 2 {
                    0 => before.clone(),
                    _ => values.get(below(rng, values.len())).unwrap_or(&before).clone(),
                },
            };
            done.push((before, value.clone()));
        }
        shape
    }

    /// The same with its largest dimension halved until it is small enough; as it is where that does not help.
    fn reduced(&self, shape: Shape, config: &Config) -> Shape {
        let mut smaller = shape.clone();
        for _ in 0..64 {
            if (self.source.fits)(&smaller, config) {
                return smaller;
            }
            let room = self.source.room;
            let least = |name: &str| match room.extent(name) {
                Some(Extent::Whole(low, _)) => Some(*low),
                _ => None,
            };
            let largest = smaller.iter_mut().filter_map(|(name, value)| match (value, least(name)) {
                (Value::Int(v), Some(low)) if *v > low => Some((v, low)),
                _ => None,
            });
            let Some((value, low)) = largest.max_by_key(|(value, _)| **value) else { break };
            *value = (*value / 2).max(low);
        }
        shape
    }
}

/// A size in place of another.
fn number(from: i64, (low, high): (i64, i64), tiles: &[i64], rng: &mut ChaCha8Rng) -> i64 {
    let pick = |all: &[i64], rng: &mut ChaCha8Rng| all.get(below(rng, all.len())).copied();
    let drawn = match rng.next_u32() % 20 {
        0..4 => Some(from),
        4..10 => pick(&around(tiles).filter(|edge| (low..=high).contains(edge)).collect::<Vec<_>>(), rng),
        10..14 => pick(&edges(low, high, tiles), rng),
        14..17 => {
            let step = 1 + below(rng, (from.unsigned_abs() as usize / 8).clamp(1, 1 << 20)) as i64;
            Some(if rng.next_u32().is_multiple_of(2) { from.saturating_add(step) } else { from.saturating_sub(step) })
        }
        // Every order of magnitude as likely as any other.
        _ => {
            let top = high.max(low).max(1).ilog2() + 1;
            let ceiling = 1i64.checked_shl(1 + below(rng, top as usize) as u32).unwrap_or(i64::MAX);
            Some(1 + (rng.next_u64() % ceiling.unsigned_abs().max(1)) as i64)
        }
    };
    drawn.unwrap_or(from).clamp(low, high)
}

/// A number below a bound, and 0 where that is 0.
fn below(rng: &mut ChaCha8Rng, bound: usize) -> usize {
    (rng.next_u64() % bound.max(1) as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room() -> Room {
        let shape = |s: i64, d: i64| -> Shape {
            vec![("S".into(), Value::Int(s)), ("T".into(), Value::Int(s)), ("D".into(), Value::Int(d))]
        };
        let dims = [("S", Extent::Whole(1, 300)), ("T", Extent::Whole(1, 300))];
        let mut dims: Vec<_> = dims.into_iter().map(|(name, extent)| (name.into(), extent)).collect();
        dims.push(("D".into(), Extent::Listed(vec![Value::Int(32), Value::Int(64)])));
        Room { dims, bases: vec![shape(128, 64), shape(100, 32)] }
    }

    fn int(shape: &Shape, place: usize) -> i64 {
        if let Value::Int(v) = shape[place].1 { v } else { panic!("an integer") }
    }

    /// The first cases of a seed.
    fn cases(seed: u64, most: i64) -> Vec<FuzzCase> {
        let (room, configs) = (room(), ["BLOCK=48", "BLOCK=16"].map(|text| Config::parse(text).unwrap()));
        let tiles = |config: &Config, _: &Shape| match config.get("BLOCK") {
            Some(Value::Int(v)) => vec![*v],
            _ => vec![],
        };
        let fits = |shape: &Shape, _: &Config| int(shape, 0) * int(shape, 1) <= most;
        let inputs = &Distribution::FUZZED;
        let source = Source { room: &room, configs: &configs, inputs, tiles: &tiles, fits: &fits };
        let generator = Generator::new(source, seed);
        (0..400).map(|number| generator.case(number).unwrap()).collect()
    }

    #[test]
    fn a_seed_gives_the_same_cases_and_another_one_others() {
        assert_eq!(cases(1, 1 << 30), cases(1, 1 << 30));
        assert_ne!(cases(1, 1 << 30), cases(2, 1 << 30));
    }

    #[test]
    fn edges_of_tiles_squares_and_every_kind_of_input_are_among_them() {
        let cases = cases(3, 1 << 30);
        let sizes: Vec<i64> = cases.iter().flat_map(|case| [int(&case.shape, 0), int(&case.shape, 1)]).collect();
        for edge in [1, 15, 16, 17, 33, 47, 48, 49, 97, 300] {
            assert!(sizes.contains(&edge), "{edge}");
        }
        assert!(sizes.iter().all(|size| (1..=300).contains(size)));
        let squares = cases.iter().filter(|case| case.shape[0].1 == case.shape[1].1).count();
        assert!((120..300).contains(&squares), "{squares}");
        assert!(Distribution::FUZZED.iter().all(|inputs| cases.iter().any(|case| case.inputs == *inputs)));
        let first = cases.iter().filter(|case| case.config.to_string() == "BLOCK=48").count();
        assert!((250..350).contains(&first), "{first}");
        assert!(cases.iter().any(|case| case.shape[2].1 == Value::Int(32)));
    }

    #[test]
    fn cases_are_small_enough() {
        assert!(cases(4, 2000).iter().all(|case| int(&case.shape, 0) * int(&case.shape, 1) <= 2000));
    }
}
