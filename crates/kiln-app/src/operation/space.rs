//! From a kernel file to its counted space. In: the file, what is selected of it, how many configurations to draw. Out: the
//! space with what each rule removes. Refuses a space that cannot be built, and a sample that does not fit into memory.

use kiln_core::{Config, Report};
use kiln_space::{Problem, Removal, Space, removals, warnings};
use kiln_spec::Selection;

use crate::failure::Failure;
use crate::kernel::{KernelFile, Selecting};

/// A sample is held in memory.
const LARGEST_SAMPLE: usize = 10_000_000;

/// What is asked of a space.
#[derive(Debug, Clone, Default)]
pub struct SpaceRequest {
    /// Which space.
    pub selecting: Selecting,
    /// Different valid configurations to draw, all equally likely.
    pub sample: usize,
    /// The seed of the draw.
    pub seed: u64,
}

/// A space, counted.
pub struct Spaced<'a> {
    /// What it is the space of.
    pub selection: Selection<'a>,
    /// What it was built from.
    pub problem: Problem,
    /// The space.
    pub space: Space,
    /// Seconds from the file's bytes to the exact count.
    pub seconds: f64,
    /// Configurations a cache file has recorded.
    pub recorded: Option<u64>,
    /// Configurations that were drawn.
    pub configs: Vec<Config>,
    file_warnings: &'a [Report],
}

/// Counts a space.
pub fn space<'a>(file: &'a KernelFile, request: &SpaceRequest) -> Result<Spaced<'a>, Failure> {
    let selection = file.select(&request.selecting)?;
    let problem = Problem::from_selection(&selection).map_err(|e| Report::error(e.to_string()))?;
    let space = Space::build(&problem).map_err(|e| e.report(&selection))?;
    let seconds = file.read_at.elapsed().as_secs_f64();
    let count = request.sample;
    if count > LARGEST_SAMPLE {
        return Err(Report::error(format!("--sample {count}"))
            .label(format!("expected at most {LARGEST_SAMPLE}"))
            .hint("--list gives every configuration, one at a time")
            .into());
    }
    let configs = space.sample(count, request.seed).iter().map(|p| space.config(p)).collect();
    let (recorded, file_warnings) = (file.recorded, &file.warnings[..]);
    Ok(Spaced { selection, problem, space, seconds, recorded, configs, file_warnings })
}

impl Spaced<'_> {
    /// What each rule removes alone, in order: found only when asked for, as it takes longer than counting.
    pub fn removals(&self) -> Vec<Removal> {
        removals(&self.problem)
    }

    /// What is odd about the file and its space.
    pub fn warnings(&self, removals: &[Removal]) -> Vec<Report> {
        let own = warnings(&self.selection, &self.problem, &self.space, removals);
        self.file_warnings.iter().cloned().chain(own).collect()
    }

    /// Every valid configuration as it comes, in the order of their index.
    pub fn every(&self) -> impl Iterator<Item = Config> {
        self.space.iter().map(|point| self.space.config(&point))
    }
}
