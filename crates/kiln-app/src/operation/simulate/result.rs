//! What replayed searches came to: figures for each file, strategy and budget, and the curves behind them.

/// One recorded space.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulatedSpace {
    /// As it was typed.
    pub file: String,
    /// The kernel and the device, as far as the record tells.
    pub title: String,
    /// Configurations recorded.
    pub configurations: usize,
    /// How many of them failed.
    pub failures: usize,
    /// The best time, in seconds.
    pub optimum: f64,
    /// What each strategy came to.
    pub searches: Vec<SimulatedSearch>,
}

/// One strategy on one space.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulatedSearch {
    /// Its name.
    pub strategy: String,
    /// At each budget, in ascending order.
    pub figures: Vec<SimulatedFigures>,
    /// Microseconds the strategy took for an evaluation, on average: to propose it and to learn from it.
    pub ask_us: f64,
}

/// Repeats summed up at one budget; shares are optimum over best.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimulatedFigures {
    /// Evaluations.
    pub budget: usize,
    /// The mean share.
    pub mean: f64,
    /// The standard error of the mean.
    pub se: f64,
    /// The share that nine of ten repeats reach.
    pub p10: f64,
    /// Failed evaluations of a repeat, on average.
    pub failed: f64,
}

/// How close to the optimum one strategy is on one space, after each evaluation.
#[derive(Debug, Clone, PartialEq)]
pub struct Convergence {
    /// The strategy.
    pub strategy: String,
    /// The mean over repeats.
    pub mean: Vec<f64>,
    /// The share that nine of ten repeats reach.
    pub p10: Vec<f64>,
}
