//! Cases, one after another. In: what shapes may be, configurations, distributions, a seed. Out: the case of a number; the
//! same seed and number give the same case, whatever was asked for before. A shape begins as a workload's and has some of its
//! dimensions moved: to the edge of a tile, to an odd or extreme size, a little, or anywhere. Where a rule excludes the shape,
//! each of these sizes gives way to the nearest that is admitted.

#[cfg(test)]
mod tests;

use kiln_core::{Config, Value};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::described::signature::Signature;
use crate::drawn::distribution::Distribution;
use crate::fuzz::aim::{Aim, aim, below};
use crate::fuzz::axis::{Admits, Axis};
use crate::fuzz::case::{FuzzCase, Shape};
use crate::fuzz::line::{Line, Side};
use crate::fuzz::room::{Extent, Room};

/// Shapes that are drawn before a workload's own is taken.
const TRIES: usize = 40;
/// The streams that scalars are drawn from begin here.
const SCALARS: u64 = 1 << 48;

/// What cases are drawn from.
pub struct Source<'s> {
    /// What shapes may be.
    pub room: &'s Room,
    /// The configurations, the one to ask about most first; one that is empty for a baseline.
    pub configs: &'s [Config],
    /// What inputs are drawn from, the usual first.
    pub inputs: &'s [Distribution],
    /// What a call of a shape takes; none where nobody can say.
    pub signature: &'s (dyn Fn(&Shape, &Config) -> Option<Signature> + Sync),
    /// The tiles of a configuration.
    pub tiles: &'s (dyn Fn(&Config, &Shape) -> Vec<i64> + Sync),
    /// Whether a shape makes sense for a configuration.
    pub admits: Admits<'s>,
    /// Whether it is small enough to be drawn.
    pub is_small: &'s (dyn Fn(&Shape, &Config) -> bool + Sync),
}

/// A case that was drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct DrawnCase {
    /// The case.
    pub case: FuzzCase,
    /// Shapes drawn on the way that the rules exclude.
    pub excluded: usize,
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
    pub fn case(&self, number: u64) -> Option<DrawnCase> {
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
        let mut excluded = 0;
        // A stream of its own: what shapes are drawn does not depend on it.
        let mut beside = ChaCha8Rng::seed_from_u64(self.seed);
        beside.set_stream(number | SCALARS);
        let mut drawn = |shape: Shape, config: Config, excluded: usize| {
            let signature = (self.source.signature)(&shape, &config);
            // Numbers as large as the answer allows are such beside the usual scalars: with others, what is computed on the way may
            // overflow where the answer does not, and no kernel is to blame for that.
            let usual = number == 0 || inputs.needs_reach();
            let scalars = signature.map(|s| s.case_scalars(usual, &mut beside)).unwrap_or_default();
            Some(DrawnCase { case: FuzzCase { shape, scalars, inputs, seed, config }, excluded })
        };
        for _ in 0..TRIES {
            let base = room.bases.get(below(&mut rng, room.bases.len()))?;
            let aims = self.aims(base, &config, &mut rng);
            let mut shape = aimed(base, &aims);
            if !(self.source.admits)(&shape, &config) {
                excluded += 1;
                if !(self.source.admits)(base, &config) {
                    continue;
                }
                shape = self.moved(base, &aims, &config, &mut rng);
                if shape == *base {
                    shape = self.by_chance(base, &config, &mut rng).unwrap_or(shape);
                }
            }
            if let Some(shape) = self.reduced(shape, &config) {
                return drawn(shape, config, excluded);
            }
        }
        let own = room.bases.iter().find(|base| (self.source.admits)(base, &config)).or(room.bases.first())?;
        let shape = self.reduced(own.clone(), &config).unwrap_or_else(|| own.clone());
        drawn(shape, config, excluded)
    }

    /// Whether any shape but the workloads' own can be drawn.
    pub fn can_move(&self) -> bool {
        let Source { configs, room, admits, .. } = &self.source;
        let moves = |base: &Shape, config: &Config, place: usize| match room.extent(&base[place].0) {
            Some(Extent::Whole(..)) => self.free(base, place, config).is_some(),
            Some(Extent::Listed(values)) => values.iter().any(|value| {
                let mut shape = base.clone();
                shape[place].1 = value.clone();
                !room.bases.contains(&shape) && admits(&shape, config)
            }),
            None => false,
        };
        configs.iter().any(|config| {
            let bases = room.bases.iter().filter(|base| admits(base, config));
            bases.into_iter().any(|base| (0..base.len()).any(|place| moves(base, config, place)))
        })
    }

    /// What the dimensions of a shape are to be. Those that are equal stay so half of the time: a square is asked about as
    /// often as what was one.
    fn aims(&self, base: &Shape, config: &Config, rng: &mut ChaCha8Rng) -> Vec<Option<Aim>> {
        let tiles = (self.source.tiles)(config, base);
        let together = rng.next_u32().is_multiple_of(2);
        let mut done: Vec<(&Value, Aim)> = Vec::new();
        let mut aims = Vec::new();
        for (name, before) in base {
            let Some(extent) = self.source.room.extent(name) else {
                aims.push(None);
                continue;
            };
            let same = done.iter().find(|(from, _)| together && *from == before && matches!(from, Value::Int(_)));
            let new = match (same, extent, before) {
                (Some((_, Aim::Size(to, side))), Extent::Whole(low, high), _) => {
                    Aim::Size((*to).clamp(*low, *high), *side)
                }
                (_, Extent::Whole(low, high), Value::Int(from)) => aim(*from, (*low, *high), &tiles, rng),
                (_, Extent::Whole(..), _) => Aim::Value(before.clone()),
                (_, Extent::Listed(values), _) => Aim::Value(match rng.next_u32() % 2 {
                    0 => before.clone(),
                    _ => values.get(below(rng, values.len())).unwrap_or(before).clone(),
                }),
            };
            done.push((before, new.clone()));
            aims.push(Some(new));
        }
        aims
    }

    /// An admitted shape with one dimension after another moved as near to what it is to be as the rules let it. In any
    /// order: of two that are tied, either may lead.
    fn moved(&self, base: &Shape, aims: &[Option<Aim>], config: &Config, rng: &mut ChaCha8Rng) -> Shape {
        let mut shape = base.clone();
        let mut places: Vec<usize> = (0..shape.len()).collect();
        for last in (1..places.len()).rev() {
            places.swap(last, below(rng, last + 1));
        }
        for place in places {
            match &aims[place] {
                Some(Aim::Value(value)) => {
                    let mut other = shape.clone();
                    other[place].1 = value.clone();
                    if (self.source.admits)(&other, config) {
                        shape = other;
                    }
                }
                Some(Aim::Size(size, side)) if shape[place].1 != Value::Int(*size) => {
                    let Some((axis, line)) = self.free(&shape, place, config) else { continue };
                    shape = axis.set(&shape, line.near(axis.for_size(place, *size), *side));
                }
                Some(Aim::Size(..)) | None => {}
            }
        }
        shape
    }

    /// An admitted shape with several dimensions moved at once, where none of them moves alone; none where none was found.
    fn by_chance(&self, base: &Shape, config: &Config, rng: &mut ChaCha8Rng) -> Option<Shape> {
        let mut drawn = (0..TRIES).map(|_| aimed(base, &self.aims(base, config, rng)));
        drawn.find(|shape| shape != base && (self.source.admits)(shape, config))
    }

    /// Along what a dimension can change, others with it where it must.
    fn free(&self, shape: &Shape, place: usize, config: &Config) -> Option<(Axis, Line<'s>)> {
        let tiles = (self.source.tiles)(config, shape);
        let likely: Vec<i64> = shape.iter().filter_map(|(_, v)| whole(v)).chain(tiles).collect();
        Axis::free((self.source.room, shape), place, config, &likely, self.source.admits)
    }

    /// An admitted shape with its largest dimension halved, as far as the rules let it, until it is small enough; none where
    /// that does not help.
    fn reduced(&self, mut shape: Shape, config: &Config) -> Option<Shape> {
        let mut least: Vec<usize> = Vec::new();
        while !(self.source.is_small)(&shape, config) {
            let open = (0..shape.len()).filter(|place| !least.contains(place));
            let place = open.filter_map(|place| Some((whole(&shape[place].1)?, place))).max()?.1;
            let smaller = self.free(&shape, place, config).and_then(|(axis, line)| {
                let to = line.near(axis.at() / 2, Side::Below);
                (to < axis.at()).then(|| axis.set(&shape, to))
            });
            match smaller {
                Some(smaller) => shape = smaller,
                None => least.push(place),
            }
        }
        Some(shape)
    }
}

/// A shape with every dimension as it is to be.
fn aimed(base: &Shape, aims: &[Option<Aim>]) -> Shape {
    let mut shape = base.clone();
    for ((_, value), aim) in shape.iter_mut().zip(aims) {
        match aim {
            Some(Aim::Size(size, _)) => *value = Value::Int(*size),
            Some(Aim::Value(to)) => *value = to.clone(),
            None => {}
        }
    }
    shape
}

fn whole(value: &Value) -> Option<i64> {
    if let Value::Int(size) = value { Some(*size) } else { None }
}
