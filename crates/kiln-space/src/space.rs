//! The space itself: the product of its groups.

use kiln_core::{Config, Value};

use crate::building::bind::{self, Unbuilt};
use crate::building::diagram::Diagram;
use crate::building::group::{Group, groups};
use crate::building::order::order;
use crate::building::state::layers;
use crate::building::tabulate::tabulate;
use crate::error::SpaceError;
use crate::part::Part;
use crate::problem::{Dimension, Problem};
use crate::rules::clause::Clauses;

/// A configuration as indices into the tunables' lists of values, in declaration order.
pub type Point = Box<[u32]>;

/// All configurations that keep every rule.
#[derive(Debug, Clone)]
pub struct Space {
    dimensions: Vec<Dimension>,
    factors: Vec<Diagram>,
    /// The spaces of implementations that compete; empty for a space that is one.
    parts: Vec<Part>,
    count: u128,
}

impl Space {
    /// Builds the space of a problem.
    pub fn build(problem: &Problem) -> Result<Space, SpaceError> {
        if !problem.alternatives.is_empty() {
            return Space::unite(problem);
        }
        let mut clauses = Clauses::new(problem)?;
        let mut space =
            Space { dimensions: problem.dimensions.clone(), factors: Vec::new(), parts: Vec::new(), count: 0 };
        if clauses.empty {
            return Ok(space);
        }
        let mut count = Some(1u128);
        let mut failing = Vec::new();
        let groups = groups(&clauses);
        space.factors.reserve_exact(groups.len());
        for group in groups {
            match factor(problem, &mut clauses, &group) {
                // Where one group has nothing to offer, nothing another says matters.
                Ok(diagram) if diagram.count() == 0 => return Ok(Space { factors: vec![], ..space }),
                Ok(diagram) => {
                    count = count.and_then(|c| c.checked_mul(diagram.count()));
                    space.factors.push(diagram);
                }
                Err(Unbuilt::Failing(assignment)) => failing.extend(assignment),
                Err(Unbuilt::TooMany) => count = None,
                Err(Unbuilt::TooEntangled) => {
                    return Err(SpaceError::TooEntangled { tunables: group.names(problem) });
                }
            }
        }
        if !failing.is_empty() {
            // A whole configuration: valid values for the other groups, the failing ones for the rest.
            let mut point = vec![0; problem.dimensions.len()];
            space.factors.iter().for_each(|factor| factor.write(0, &mut point));
            failing.iter().for_each(|(tunable, value)| point[*tunable] = *value);
            return Err(failure(problem, space.config(&point)));
        }
        space.count = count.ok_or(SpaceError::TooMany)?;
        Ok(space)
    }

    /// The tunables.
    pub fn dimensions(&self) -> &[Dimension] {
        &self.dimensions
    }

    /// How many configurations there are.
    pub fn len(&self) -> u128 {
        self.count
    }

    /// True when nothing is valid.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The configuration with this index; none beyond the end.
    pub fn point(&self, index: u128) -> Option<Point> {
        if index >= self.count {
            return None;
        }
        if let Some(part) = self.parts.iter().rfind(|part| part.first <= index) {
            return part.space.point(index - part.first).map(|own| part.lifted(&own, self.dimensions.len()));
        }
        let mut point = vec![0; self.dimensions.len()].into_boxed_slice();
        let mut rest = index;
        for factor in self.factors.iter().rev() {
            factor.write(rest % factor.count(), &mut point);
            rest /= factor.count();
        }
        Some(point)
    }

    /// The index of a configuration, if it is valid.
    pub fn index(&self, point: &[u32]) -> Option<u128> {
        if self.count == 0 || point.len() != self.dimensions.len() {
            return None;
        }
        if !self.parts.is_empty() {
            let part = self.part(point)?;
            return Some(part.first + part.space.index(&part.lowered(point)?)?);
        }
        self.factors.iter().try_fold(0, |index, factor| Some(index * factor.count() + factor.find(point)?))
    }

    /// Whether a configuration keeps every rule.
    pub fn contains(&self, point: &[u32]) -> bool {
        self.index(point).is_some()
    }

    /// All configurations in order of index.
    pub fn iter(&self) -> Box<dyn Iterator<Item = Point> + '_> {
        if self.parts.is_empty() {
            return Box::new(self.product());
        }
        let lifted = |part| Part::points(part, self.dimensions.len());
        Box::new(self.parts.iter().flat_map(lifted))
    }

    /// All configurations of a product of groups.
    fn product(&self) -> impl Iterator<Item = Point> + '_ {
        let mut point: Point = vec![0; self.dimensions.len()].into();
        let mut paths: Vec<Vec<u32>> = self.factors.iter().map(|factor| factor.first(&mut point)).collect();
        let mut more = !self.is_empty();
        std::iter::from_fn(move || {
            let current = more.then(|| point.clone())?;
            // The last factor runs fastest, as in the index; one that is through begins again and moves the one before.
            more = self.factors.iter().zip(&mut paths).rev().any(|(factor, path)| factor.advance(path, &mut point));
            Some(current)
        })
    }

    /// The names and values of a configuration.
    pub fn config(&self, point: &[u32]) -> Config {
        if let Some(part) = self.part(point) {
            return part.config(point, &self.dimensions);
        }
        let value = |(d, v): (&Dimension, &u32)| (d.name.clone(), d.values[*v as usize].clone());
        Config::new(self.dimensions.iter().zip(point).map(value).collect())
    }

    /// The point of named values; none when a name is missing or a value is not in its list. Where implementations compete,
    /// the names are those of the implementation that is named.
    pub fn locate(&self, config: &Config) -> Option<Point> {
        if !self.parts.is_empty() {
            let part = self.parts.iter().find(|part| config.implementation() == Some(&*part.name))?;
            return Some(part.lifted(&part.space.locate(config)?, self.dimensions.len()));
        }
        let position = |d: &Dimension| {
            let wanted: &Value = config.get(&d.name)?;
            d.values.iter().position(|v| v == wanted).map(|i| i as u32)
        };
        self.dimensions.iter().map(position).collect()
    }

    /// The space of exactly the assignments in one diagram, which binds every tunable.
    pub(crate) fn of_diagram(dimensions: Vec<Dimension>, diagram: Diagram) -> Space {
        let count = diagram.count();
        Space { dimensions, factors: if count == 0 { vec![] } else { vec![diagram] }, parts: vec![], count }
    }

    /// The space of several implementations: the configurations of each, one after another.
    fn unite(problem: &Problem) -> Result<Space, SpaceError> {
        let (mut parts, mut count) = (Vec::with_capacity(problem.alternatives.len()), 0u128);
        for (place, one) in problem.alternatives.iter().enumerate() {
            let space = Space::build(&one.problem).map_err(|error| error.of(&one.name))?;
            let (first, more) = (count, space.count);
            parts.push(Part::new(one.name.clone(), place, space, first, &problem.dimensions));
            count = count.checked_add(more).ok_or(SpaceError::TooMany)?;
        }
        // Searched from the end, the first of those that begin at an index has something.
        parts.retain(|part: &Part| !part.space.is_empty());
        Ok(Space { dimensions: problem.dimensions.clone(), factors: Vec::new(), parts, count })
    }

    /// The implementation's part that a point lies in; none for a space that is one.
    pub(crate) fn part(&self, point: &[u32]) -> Option<&Part> {
        self.parts.iter().find(|part| point.first() == Some(&(part.place as u32)))
    }

    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// How many configurations each implementation has, where several compete; those without any are not among them.
    pub fn implementations(&self) -> Vec<(&str, u128)> {
        self.parts.iter().map(|part| (&*part.name, part.space.len())).collect()
    }

    /// The tunables that have a choice where a point lies: those of its implementation.
    pub fn free(&self, point: &[u32]) -> Vec<usize> {
        let choice = |dimensions: &[Dimension], at: usize| dimensions[at].values.len() > 1;
        match self.part(point) {
            Some(part) => {
                part.columns().filter(|(own, _)| choice(part.space.dimensions(), *own)).map(|(_, at)| at).collect()
            }
            None => (0..self.dimensions.len()).filter(|at| choice(&self.dimensions, *at)).collect(),
        }
    }

    /// Puts the tunables that a point's implementation does not have where they belong: at their first value.
    pub fn settle(&self, point: &mut [u32]) {
        if let Some(part) = self.part(point) {
            let own: Vec<usize> = part.columns().map(|(_, at)| at).collect();
            point.iter_mut().enumerate().filter(|(at, _)| *at > 0 && !own.contains(at)).for_each(|(_, v)| *v = 0);
        }
    }

    /// Configurations drawn uniformly and apart from each implementation, about as many from each; one list where the space
    /// is one.
    pub fn samples(&self, count: usize, seed: u64) -> Vec<Vec<Point>> {
        if self.parts.is_empty() {
            return vec![self.sample(count, seed)];
        }
        let share = count.div_ceil(self.parts.len());
        let lifted = |part: &Part| {
            part.space.sample(share, seed).iter().map(|own| part.lifted(own, self.dimensions.len())).collect()
        };
        self.parts.iter().map(lifted).collect()
    }

    pub(crate) fn factors(&self) -> &[Diagram] {
        &self.factors
    }
}

/// The valid assignments of one group.
fn factor(problem: &Problem, clauses: &mut Clauses, group: &Group) -> Result<Diagram, Unbuilt> {
    if group.clauses.is_empty() {
        let tunable = group.mask.trailing_zeros() as usize;
        return Ok(Diagram::free(tunable, &clauses.domains[tunable]));
    }
    if let Some(small) = tabulate(problem, clauses, group) {
        return small;
    }
    let order = order(problem, clauses, &group.clauses, group.mask);
    let layers = layers(problem, clauses, &group.clauses, &order);
    bind::bind(problem, clauses, layers)
}

/// The rule that fails under a configuration, found by evaluating them one by one.
fn failure(problem: &Problem, config: Config) -> SpaceError {
    let found = problem.constants.iter().find_map(|constants| {
        let env = problem.bindings(&config, constants);
        problem.rules.iter().find_map(|rule| {
            let (mut name, mut error, mut is_derived) = (&rule.name, rule.expression.eval(&env).err()?, false);
            // A rule that rests on a failing derived value only says that it has none: that one is to blame.
            while let Some((derived, formula)) = problem.derived.iter().find(|(n, _)| **n == *error.part)
                && let Some(inner) = formula.eval(&env).err()
            {
                (name, error, is_derived) = (derived, inner, true);
            }
            Some((name.to_string(), is_derived, constants.workload.clone(), Box::new(error)))
        })
    });
    match found {
        Some((rule, derived, workload, error)) => SpaceError::Evaluation { rule, derived, workload, error, config },
        None => SpaceError::Unexplained(config),
    }
}
