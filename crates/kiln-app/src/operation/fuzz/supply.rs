//! Where cases come from: one that was typed, a suite, or drawn ones until enough were asked about. In: lanes. Out: one case
//! after another with its lane; the order does not depend on how many are asked about at once.

use std::collections::VecDeque;

use kiln_core::{Config, Report};
use kiln_judge::{Distribution, DrawnCase, Fit, FuzzCase, suite};

use crate::failure::Failure;
use crate::operation::fuzz::lane::Lane;

/// Drawn cases that may be excluded for each that is asked about, before the supply ends.
const PATIENCE: usize = 8;

/// Cases to come.
pub(super) enum Supply {
    /// These.
    Listed(VecDeque<(usize, FuzzCase)>),
    /// Drawn ones, so many for each lane.
    Drawn {
        /// The seed.
        seed: u64,
        /// What inputs are drawn from, by lane.
        inputs: Vec<Vec<Distribution>>,
        /// Still wanted, by lane.
        wanted: Vec<usize>,
        /// Drawn so far, by lane.
        drawn: Vec<usize>,
        /// The most that are drawn of a lane.
        most: usize,
        /// The lane whose turn it is.
        turn: usize,
    },
}

impl Supply {
    /// One case, on every lane. Refuses one that makes sense on none.
    pub(super) fn typed(lanes: &[Lane<'_, '_>], text: &str, times: usize) -> Result<Supply, Failure> {
        let case = |(place, lane): (usize, &Lane<'_, '_>)| {
            let config = lane.configs.first().cloned().unwrap_or_default();
            Ok((place, FuzzCase::parse(text, (&lane.usual(), &lane.room.scalars), config)?))
        };
        let cases: VecDeque<(usize, FuzzCase)> = lanes.iter().enumerate().map(case).collect::<Result<_, Failure>>()?;
        let objections: Option<Vec<Report>> = cases.iter().map(|(place, case)| lanes[*place].objection(case)).collect();
        match objections.and_then(|reports| reports.into_iter().next()) {
            Some(report) => Err(report.into()),
            None => Ok(Supply::Listed(std::iter::repeat_n(cases, times).flatten().collect())),
        }
    }

    /// The shapes of a suite, smallest first: each with its declared inputs, and with others in turn.
    pub(super) fn suite(lanes: &[Lane<'_, '_>], name: &str, seed: u64) -> Result<Supply, Failure> {
        let mut all: Vec<(f64, usize, FuzzCase)> = Vec::new();
        for (place, lane) in lanes.iter().enumerate() {
            let inputs = lane.inputs();
            let config = lane.configs.first().cloned().unwrap_or_default();
            let shapes = suite(&lane.bench.kernel.selection, name, &lane.usual())?;
            for (number, shape) in shapes.into_iter().enumerate() {
                let size = match lane.fit(&shape, &config) {
                    Fit::Fits(work) => work.size(),
                    Fit::Excluded(_) => 0.0,
                };
                let others = inputs.get(1 + number % inputs.len().saturating_sub(1).max(1));
                for inputs in inputs.first().into_iter().chain(others) {
                    let (shape, config) = (shape.clone(), config.clone());
                    // A seed of its own for each, by its place in the suite alone.
                    let seed = seed.wrapping_add(number as u64);
                    all.push((size, place, FuzzCase { shape, scalars: Vec::new(), inputs: *inputs, seed, config }));
                }
            }
        }
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok(Supply::Listed(all.into_iter().map(|(_, place, case)| (place, case)).collect()))
    }

    /// Drawn ones, so many on each lane.
    pub(super) fn drawn(lanes: &[Lane<'_, '_>], each: usize, seed: u64) -> Supply {
        Supply::Drawn {
            seed,
            inputs: lanes.iter().map(Lane::inputs).collect(),
            wanted: vec![each; lanes.len()],
            drawn: vec![0; lanes.len()],
            most: each.saturating_mul(PATIENCE).max(PATIENCE),
            turn: 0,
        }
    }

    /// The next case, and its lane.
    pub(super) fn next(&mut self, lanes: &[Lane<'_, '_>]) -> Option<(usize, DrawnCase)> {
        match self {
            Supply::Listed(cases) => {
                let (place, case) = cases.pop_front()?;
                Some((place, DrawnCase { case, excluded: 0 }))
            }
            Supply::Drawn { seed, inputs, wanted, drawn, most, turn } => {
                let open = |place: usize| wanted[place] > 0 && drawn[place] < *most;
                let place = (0..lanes.len()).map(|step| (*turn + step) % lanes.len()).find(|place| open(*place))?;
                *turn = place + 1;
                let case = lanes[place].draw(*seed, drawn[place] as u64, &inputs[place])?;
                drawn[place] += 1;
                wanted[place] -= 1;
                Some((place, case))
            }
        }
    }

    /// A case that was excluded does not count.
    pub(super) fn give_back(&mut self, place: usize) {
        if let Supply::Drawn { wanted, .. } = self {
            wanted[place] += 1;
        }
    }

    /// Cases still to come.
    pub(super) fn left(&self) -> usize {
        match self {
            Supply::Listed(cases) => cases.len(),
            Supply::Drawn { wanted, .. } => wanted.iter().sum(),
        }
    }
}

/// The configuration of a kept case, as it is written there.
pub(super) fn kept_config(lane: &Lane<'_, '_>, text: &str) -> Option<Config> {
    if text.is_empty() { Some(Config::default()) } else { lane.bench.kernel.read_config(text) }
}
