//! The constants of TPE, each with what it does. The defaults were chosen among a hundred random settings by what they find
//! on seven recorded spaces of four kernels on several GPUs, then rounded and held against made-up kernels on other spaces.
//! None is sharp: averaged over the others, the values tried of any one move the share of the optimum found by about a
//! hundredth.

/// How TPE searches.
#[derive(Debug, Clone, PartialEq)]
pub struct TpeSettings {
    /// Configurations seen before the model takes over; those told from elsewhere count. With 20 the first 20 evaluations
    /// find less (.73 of the optimum instead of .79), and what follows finds no more.
    pub startup: usize,
    /// How fast trials stop counting as good: the membership of the best falls by e over this share of all trials.
    pub good: f64,
    /// The same as a number of trials, for when a share of few would be none.
    pub good_least: f64,
    /// How much of a failed trial's surroundings are ruled out with it, compared with a slow one's.
    pub failure: f64,
    /// How fast likeness falls with distance: a tunable at its other end divides it by e to this power.
    pub falloff: f64,
    /// The distance of two values that differ at all, however close; ends are at distance 1.
    pub jump: f64,
    /// The weight of logarithms, against places in the list, in the distance of two numbers.
    pub logarithm: f64,
    /// What is added to the distance of a power of two and a number that is none.
    pub odd: f64,
    /// Trials' worth of doubt everywhere: what little was seen proves nothing.
    pub doubt: f64,
    /// What the unknown is worth: added for each place, less the more was seen around it.
    pub curiosity: f64,
    /// Good trials whose every neighbour is a candidate.
    pub centres: usize,
    /// Candidates that change two or three tunables of a good trial.
    pub jumps: usize,
    /// Candidates drawn uniformly.
    pub draws: usize,
    /// Every how many proposals one goes to the surroundings of a peak: a trial better than all like it. 0 for never.
    pub peak_every: usize,
    /// How many peaks take turns.
    pub peaks: usize,
    /// Two peaks differ in more than this share of the tunables.
    pub peak_apart: f64,
}

impl Default for TpeSettings {
    fn default() -> TpeSettings {
        TpeSettings {
            startup: 12,
            good: 0.05,
            good_least: 3.0,
            failure: 2.0,
            falloff: 2.5,
            jump: 0.4,
            logarithm: 0.5,
            odd: 0.0,
            doubt: 0.05,
            curiosity: 0.05,
            centres: 5,
            jumps: 32,
            draws: 32,
            peak_every: 2,
            peaks: 3,
            peak_apart: 0.5,
        }
    }
}
