//! Figures of a study as files. In: the kind of figure, a look at the study, a filter of its trials. Out: the figures; none where there is nothing to draw.

use kiln_app::{LEAST_TIMED, StudyLook, TrialFilter};

use super::study::measured::{distributions, timeline};
use super::study::searches::Searched;
use crate::picture::Canvas;
use crate::words::number::counted;

/// A kind of figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plot {
    /// How the best improved.
    Convergence,
    /// Parallel coordinates.
    Configurations,
    /// Times by each tunable.
    Slices,
    /// What mattered.
    Importance,
    /// The two most important together.
    Contour,
    /// Where configurations were refused.
    Gates,
    /// Samples of the winner beside others.
    Distributions,
    /// When it built, checked and measured.
    Timeline,
}

impl Plot {
    /// Every kind.
    pub const ALL: [Plot; 8] = [
        Plot::Convergence,
        Plot::Configurations,
        Plot::Slices,
        Plot::Importance,
        Plot::Contour,
        Plot::Gates,
        Plot::Distributions,
        Plot::Timeline,
    ];

    /// As it is typed; the section of a view has the same name.
    pub fn name(self) -> &'static str {
        match self {
            Plot::Convergence => "convergence",
            Plot::Configurations => "configurations",
            Plot::Slices => "slices",
            Plot::Importance => "importance",
            Plot::Contour => "contour",
            Plot::Gates => "gates",
            Plot::Distributions => "distributions",
            Plot::Timeline => "timeline",
        }
    }

    /// What it shows.
    pub fn meaning(self) -> &'static str {
        match self {
            Plot::Convergence => "every configuration in the order tried, and the best so far with its intervals",
            Plot::Configurations => {
                "parallel coordinates: one line for each configuration, through its tunables to its time"
            }
            Plot::Slices => "times by each tunable, on logarithmic axes where the range is wide",
            Plot::Importance => "the share of the variation that each tunable explains",
            Plot::Contour => "the best time by the two most important tunables",
            Plot::Gates => "the gate funnel: what is left after each gate",
            Plot::Distributions => "samples of the winner beside those of the baseline and the other finalists",
            Plot::Timeline => "when the study built, checked and measured",
        }
    }

    /// Whether it shows only the trials that a filter keeps.
    pub fn is_filtered(self) -> bool {
        !matches!(self, Plot::Importance | Plot::Distributions | Plot::Timeline)
    }

    /// The kind of that name.
    pub fn named(name: &str) -> Option<Plot> {
        Plot::ALL.into_iter().find(|plot| plot.name() == name)
    }
}

/// The figures of a kind: one, or one for each workload that has its own search or comparison.
pub fn plots(plot: Plot, look: &StudyLook, filter: &TrialFilter) -> Vec<Canvas> {
    let searched = Searched::of(look, filter);
    match plot {
        Plot::Convergence => searched.convergence(),
        Plot::Configurations => searched.threads(),
        Plot::Slices => searched.slices(),
        Plot::Importance => searched.importance(),
        Plot::Contour => searched.pair(),
        Plot::Gates => searched.funnel().1.into_iter().collect(),
        Plot::Distributions => distributions(look),
        Plot::Timeline => timeline(look).into_iter().collect(),
    }
}

/// Why a study has no figure of a kind, whatever the filter.
pub fn lacking(plot: Plot, look: &StudyLook) -> String {
    match plot {
        Plot::Convergence | Plot::Configurations | Plot::Slices => "no configuration has a time".into(),
        Plot::Contour => "fewer than two tunables have several values with a time".into(),
        Plot::Gates | Plot::Timeline => "nothing was tried".into(),
        Plot::Distributions => "nothing was compared: a winner is, when it is confirmed".into(),
        Plot::Importance => match look.important.iter().find(|of| of.importance.is_none()) {
            Some(of) => {
                let on = if of.workload.is_empty() { String::new() } else { format!(" on {}", of.workload) };
                let timed = counted(of.timed as u128, "configuration");
                format!("{timed} with a time{on}; {LEAST_TIMED} are needed to say what mattered")
            }
            None if look.important.is_empty() => "nothing was searched, or its kernel file cannot be read".into(),
            None => "no tunable has several values with a time".into(),
        },
    }
}
