//! A failing case made as small as it gets: the shape first, then the values, then the configuration, and again from the
//! start while that helps. In: a failing case, and somebody who says whether another one fails. Out: the smallest failing one
//! that was found. No dimension ever grows, and no case is tried twice, so that it ends.

mod sides;

use std::collections::HashSet;

use kiln_core::{Config, Value};

use crate::described::signature::Signature;
use crate::drawn::distribution::Distribution;
use crate::fuzz::axis::Admits;
use crate::fuzz::case::{FuzzCase, Shape};
use crate::fuzz::room::{Extent, Room};

/// How a case is made smaller.
pub struct Shrinker<'s> {
    /// What shapes may be.
    pub room: &'s Room,
    /// The configuration that is simplest; none where the case's own is to stay.
    pub default: Option<&'s Config>,
    /// What a call of a shape takes; none where nobody can say.
    pub signature: &'s (dyn Fn(&Shape, &Config) -> Option<Signature> + Sync),
    /// The tiles of a configuration.
    pub tiles: &'s (dyn Fn(&Config, &Shape) -> Vec<i64> + Sync),
    /// Whether a shape makes sense for a configuration: others are not tried.
    pub admits: Admits<'s>,
    /// Cases tried at most.
    pub tries: usize,
}

/// A case that was made smaller.
#[derive(Debug, Clone, PartialEq)]
pub struct Shrunk {
    /// The smallest that fails.
    pub case: FuzzCase,
    /// Cases tried on the way.
    pub tried: usize,
    /// Whether nothing smaller was left to try.
    pub complete: bool,
}

/// Makes a failing case smaller. An error of whoever tries ends it; what was found by then is still given.
pub fn shrink<E>(
    start: FuzzCase,
    how: &Shrinker<'_>,
    fails: impl FnMut(&FuzzCase) -> Result<bool, E>,
) -> (Shrunk, Option<E>) {
    let seen = HashSet::from([key(&start)]);
    let mut search = Search { best: start, how, fails, seen, tried: 0, full: false };
    let ended = search.run();
    let complete = ended.is_ok() && !search.full;
    (Shrunk { case: search.best, tried: search.tried, complete }, ended.err())
}

fn key(case: &FuzzCase) -> String {
    format!("{case} {}", case.config)
}

struct Search<'h, 's, F> {
    best: FuzzCase,
    how: &'h Shrinker<'s>,
    fails: F,
    /// Cases that were tried: none is tried twice.
    seen: HashSet<String>,
    tried: usize,
    /// Whether tries ran out.
    full: bool,
}

impl<E, F: FnMut(&FuzzCase) -> Result<bool, E>> Search<'_, '_, F> {
    fn run(&mut self) -> Result<(), E> {
        loop {
            let before = self.best.clone();
            self.shape()?;
            self.values()?;
            self.configuration()?;
            if self.best == before {
                return Ok(());
            }
        }
    }

    /// Takes a case in place of the best, if it fails. One that was tried before, or that a rule excludes, does not.
    fn take(&mut self, case: FuzzCase) -> Result<bool, E> {
        if !self.seen.insert(key(&case)) || !(self.how.admits)(&case.shape, &case.config) {
            return Ok(false);
        }
        if self.tried >= self.how.tries {
            self.full = true;
            return Ok(false);
        }
        self.tried += 1;
        let fails = (self.fails)(&case)?;
        if fails {
            self.best = case;
        }
        Ok(fails)
    }

    fn shape(&mut self) -> Result<(), E> {
        loop {
            let before = self.best.shape.clone();
            self.simpler_words()?;
            self.smaller_sides()?;
            if self.best.shape == before {
                return Ok(());
            }
        }
    }

    /// Dimensions that are one of a list: an earlier one.
    fn simpler_words(&mut self) -> Result<(), E> {
        for place in 0..self.best.shape.len() {
            let (name, value) = &self.best.shape[place];
            let Some(Extent::Listed(values)) = self.how.room.extent(name) else { continue };
            let simpler: Vec<Value> = match values.iter().position(|v| v == value) {
                Some(at) => values[..at].to_vec(),
                None => values.iter().filter(|v| is_less(v, value)).cloned().collect(),
            };
            for value in simpler {
                let mut case = self.best.clone();
                case.shape[place].1 = value;
                if self.take(case)? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Scalars that have their usual value, or one that is simpler to look at.
    fn scalars(&mut self) -> Result<(), E> {
        for (name, value) in self.best.scalars.clone() {
            let Some(signature) = (self.how.signature)(&self.best.shape, &self.best.config) else { return Ok(()) };
            for simpler in signature.simpler(&name, value) {
                let mut case = self.best.clone();
                match simpler {
                    Some(simpler) => {
                        case.scalars.iter_mut().filter(|(n, _)| *n == name).for_each(|own| own.1 = simpler)
                    }
                    None => case.scalars.retain(|(own, _)| *own != name),
                }
                if self.take(case)? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Inputs that are simpler to look at, and the seed 0.
    fn values(&mut self) -> Result<(), E> {
        self.scalars()?;
        for inputs in [Distribution::Constant, Distribution::Declared] {
            if rank(inputs) < rank(self.best.inputs) && self.take(FuzzCase { inputs, ..self.best.clone() })? {
                break;
            }
        }
        if self.best.seed != 0 {
            self.take(FuzzCase { seed: 0, ..self.best.clone() })?;
        }
        Ok(())
    }

    /// The default, or as many of its values as still fail.
    fn configuration(&mut self) -> Result<(), E> {
        let Some(default) = self.how.default else { return Ok(()) };
        if self.best.config == *default || self.take(FuzzCase { config: default.clone(), ..self.best.clone() })? {
            return Ok(());
        }
        for (name, value) in default.iter() {
            if self.best.config.get(name) == Some(value) {
                continue;
            }
            let with = self.best.config.iter().map(|(n, v)| (n.clone(), if n == name { value } else { v }.clone()));
            let config = Config::new(with.collect());
            self.take(FuzzCase { config, ..self.best.clone() })?;
        }
        Ok(())
    }
}

/// How much there is to look at: one number, the usual ones, anything else.
fn rank(inputs: Distribution) -> u8 {
    match inputs {
        Distribution::Constant => 0,
        Distribution::Declared => 1,
        _ => 2,
    }
}

fn is_less(a: &Value, b: &Value) -> bool {
    matches!((a, b), (Value::Int(a), Value::Int(b)) if a < b)
}
