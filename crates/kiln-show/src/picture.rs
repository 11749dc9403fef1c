//! Pictures of a sweep over shapes (`heat`), and of a profile: where the kernel stands under the roofs, how busy each unit is, what warps wait for. In: a diagnosis. Out:
//! SVG files that need nothing else, or text for a terminal. Every figure is written beside what is drawn, so that
//! nothing depends on colour, and the files follow a reader's light or dark background.

mod bars;
pub(crate) mod canvas;
mod heat;
mod roofline;
mod search;

use std::collections::BTreeMap;

use kiln_app::ProfileDiagnosis;
use kiln_store::Trial;

use bars::Bars;
pub(crate) use bars::bar;
pub use heat::SweepPictures;
use roofline::Roofs;
pub(crate) use search::SearchPicture;

/// How many bars a short text has.
const FEW: usize = 5;

/// The share of a study's trials that each gate refused; none where nothing was.
pub(crate) fn refused_picture(title: &str, trials: &[Trial]) -> Option<String> {
    let mut gates: BTreeMap<&str, usize> = BTreeMap::new();
    for refusal in trials.iter().filter_map(|trial| trial.refusal.as_ref()) {
        *gates.entry(refusal.gate.name()).or_default() += 1;
    }
    let share = |(gate, count): (&str, usize)| (gate.to_owned(), count as f64 / trials.len() as f64);
    let rows: Vec<(String, f64)> = gates.into_iter().map(share).collect();
    let bars = Bars { title: title.to_owned(), heading: "refused, by gate:", axis: "share of all trials", rows };
    (!bars.rows.is_empty()).then(|| bars.svg())
}

/// The pictures of one kernel.
pub struct ProfilePictures<'a> {
    /// Its diagnosis.
    pub diagnosis: &'a ProfileDiagnosis,
}

impl ProfilePictures<'_> {
    /// Files by name. A picture whose metrics were not collected is left out.
    pub fn files(&self) -> Vec<(&'static str, String)> {
        let roofs = Roofs::of(self.diagnosis).map(|roofs| ("roofline.svg", roofs.svg()));
        let bars = [("units.svg", self.units()), ("stalls.svg", self.stalls())];
        let bars = bars.into_iter().filter(|(_, bars)| !bars.rows.is_empty()).map(|(name, bars)| (name, bars.svg()));
        roofs.into_iter().chain(bars).collect()
    }

    /// The same for a terminal: in short the busiest units and the most frequent reasons to wait, else all of it.
    pub fn text(&self, whole: bool) -> String {
        let roofs = Roofs::of(self.diagnosis).filter(|_| whole).map(|roofs| roofs.text()).unwrap_or_default();
        let most = if whole { usize::MAX } else { FEW };
        format!("{roofs}{}{}", self.units().text(most), self.stalls().text(most))
    }

    fn units(&self) -> Bars {
        let rows = self.diagnosis.units.iter().map(|own| (own.unit.to_owned(), own.share));
        Bars {
            title: format!("{}: how busy each unit is", self.diagnosis.name()),
            heading: "how busy each unit is, of its peak:",
            axis: "share of the unit's peak",
            rows: rows.collect(),
        }
    }

    fn stalls(&self) -> Bars {
        let rows = self.diagnosis.stalls.iter().map(|own| (own.reason.clone(), own.share));
        Bars {
            title: format!("{}: what warps wait for", self.diagnosis.name()),
            heading: "what warps wait for:",
            axis: "share of a warp's time",
            rows: rows.collect(),
        }
    }
}

#[cfg(test)]
mod tests;
