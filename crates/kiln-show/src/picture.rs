//! Pictures of a sweep over shapes (`heat`), and of a profile: where the kernel stands under the roofs, how busy each unit is, what warps wait for. In: a diagnosis. Out:
//! SVG files that need nothing else, or text for a terminal. Every figure is written beside what is drawn, so that
//! nothing depends on colour, and the files follow a reader's light or dark background.

mod axis;
mod bars;
pub(crate) mod canvas;
mod funnel;
mod heat;
mod levels;
mod pairs;
mod roofline;
mod samples;
pub(crate) mod search;
mod slices;
mod threads;
mod timeline;

pub(crate) use bars::{Bars, bar};
pub use canvas::Canvas;
pub(crate) use funnel::Funnel;
pub use heat::SweepPictures;
use kiln_app::ProfileDiagnosis;
pub(crate) use levels::levels_picture;
use roofline::Roofs;
pub(crate) use roofline::versions_picture;
pub(crate) use samples::samples_picture;
pub(crate) use search::{FoundLater, SearchPicture};
pub(crate) use timeline::timeline_picture;

/// How many bars a short text has.
const FEW: usize = 5;

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
        let bars = bars
            .into_iter()
            .filter(|(_, bars)| !bars.rows.is_empty())
            .map(|(name, bars)| (name, bars.canvas().standalone()));
        roofs.into_iter().chain(bars).collect()
    }

    /// The bars alone: units and stalls.
    pub(crate) fn bars(&self) -> Vec<Canvas> {
        [self.units(), self.stalls()]
            .into_iter()
            .filter(|bars| !bars.rows.is_empty())
            .map(|bars| bars.canvas())
            .collect()
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
