//! The gate funnel: how many configurations are left after each gate, in the order in which gates are climbed. In: trials. Out: a picture, and what it is
//! drawn from.

use kiln_core::Gate;
use kiln_store::{Trial, TrialState};

use super::canvas::{Anchor, Canvas};
use crate::words::number::grouped;

const ROW: f64 = 28.0;
const TOP: f64 = 48.0;
const LEFT: f64 = 170.0;
const PLOT: f64 = 380.0;

/// What became of trials.
pub(crate) struct Funnel<'t> {
    /// All of them.
    pub(crate) tried: usize,
    /// Gates that refused some, in the order of the ladder: how many, and the first of them.
    pub(crate) gates: Vec<(Gate, usize, &'t Trial)>,
    /// Those given up early.
    pub(crate) stopped: usize,
    /// Those that went through every gate.
    pub(crate) passed: usize,
}

impl<'t> Funnel<'t> {
    /// The funnel of some trials.
    pub(crate) fn of(trials: impl Iterator<Item = &'t Trial>) -> Funnel<'t> {
        let mut funnel = Funnel { tried: 0, gates: Vec::new(), stopped: 0, passed: 0 };
        for trial in trials {
            funnel.tried += 1;
            match (&trial.refusal, trial.state) {
                (Some(refusal), _) => match funnel.gates.iter_mut().find(|(gate, ..)| *gate == refusal.gate) {
                    Some((_, count, _)) => *count += 1,
                    None => funnel.gates.push((refusal.gate, 1, trial)),
                },
                (None, TrialState::Stopped) => funnel.stopped += 1,
                (None, _) => funnel.passed += 1,
            }
        }
        funnel.gates.sort_by_key(|(gate, ..)| *gate);
        funnel
    }

    /// The picture; none where nothing was tried.
    pub(crate) fn picture(&self, title: &str) -> Option<Canvas> {
        if self.tried == 0 {
            return None;
        }
        let mut rows = vec![("tried".to_string(), self.tried, String::new())];
        let mut left = self.tried;
        let gates = self.gates.iter().map(|(gate, count, _)| (gate.name().to_string(), *count));
        for (name, count) in gates.chain((self.stopped > 0).then(|| ("stopped early".to_string(), self.stopped))) {
            left -= count;
            rows.push((name, left, format!(" (-{})", grouped(count as u128))));
        }
        let words = format!(
            "Of {} trials {} were refused, {} stopped early and {} passed every gate.",
            self.tried,
            self.gates.iter().map(|(_, count, _)| count).sum::<usize>(),
            self.stopped,
            self.passed
        );
        let width = LEFT + PLOT + 150.0;
        let mut canvas = Canvas::new(width, TOP + ROW * rows.len() as f64 + 32.0, title).described(words);
        for (at, (name, left, lost)) in rows.iter().enumerate() {
            let (y, long) = (TOP + ROW * at as f64, PLOT * *left as f64 / self.tried as f64);
            canvas.text("name", (LEFT - 8.0, y + 18.0), Anchor::End, name);
            canvas.bar((LEFT, y + 4.0), long, ROW - 10.0);
            canvas.text(
                "value",
                (LEFT + long + 6.0, y + 18.0),
                Anchor::Start,
                &format!("{}{lost}", grouped(*left as u128)),
            );
        }
        let foot = TOP + ROW * rows.len() as f64;
        canvas.line("axis", (LEFT, TOP), (LEFT, foot));
        canvas.text("small", (16.0, foot + 22.0), Anchor::Start, "left after each gate, cheapest gate first");
        Some(canvas)
    }
}

#[cfg(test)]
mod tests {
    use super::super::search::tests::is_clean;
    use super::*;

    #[test]
    fn what_dies_at_a_gate_is_not_left_after_it() {
        let trials = crate::sample::trials();
        let funnel = Funnel::of(trials.iter().filter(|trial| trial.phase_id().is_searching()));
        assert_eq!((funnel.tried, funnel.stopped, funnel.passed, funnel.gates.len()), (5, 1, 3, 1));
        let svg = funnel.picture("f").unwrap().standalone();
        is_clean(&svg);
        assert!(svg.contains(">4 (-1)</text>") && svg.contains(">3 (-1)</text>"), "{svg}");
        assert!(Funnel::of([].into_iter()).picture("f").is_none());
    }
}
