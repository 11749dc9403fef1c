//! When a study built, checked and measured: one lane for each kind of work on each device. In: trials. Out: a picture; stretches that would lie within a pixel of
//! each other are one, so that it stays small.

use kiln_store::Trial;

use super::axis::PlainAxis;
use super::canvas::{Anchor, Canvas};
use super::threads::clipped;
use crate::words::number::stretch;

const WIDTH: f64 = 760.0;
const LEFT: f64 = 150.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 52.0;
const LANE: f64 = 26.0;

/// What is done in a lane.
const KINDS: [(&str, &str); 3] = [("build", "bar2"), ("check", "bar3"), ("measure", "bar")];

/// The picture; none where nothing took time.
pub(crate) fn timeline_picture(title: &str, trials: &[Trial]) -> Option<Canvas> {
    let mut devices: Vec<Option<usize>> = Vec::new();
    let device = |trial: &Trial| trial.details.read().ok().and_then(|details| details.station);
    let mut all: Vec<(usize, usize, f64, f64)> = Vec::new();
    for trial in trials {
        let own = device(trial);
        let lane = devices.iter().position(|known| *known == own).unwrap_or_else(|| {
            devices.push(own);
            devices.len() - 1
        });
        let mut at = trial.started_ms as f64 / 1e3;
        for (kind, seconds) in [trial.build_s, trial.check_s, trial.measure_s].into_iter().enumerate() {
            if seconds > 0.0 && seconds.is_finite() {
                all.push((lane, kind, at, at + seconds));
                at += seconds;
            }
        }
    }
    let begin = all.iter().map(|one| one.2).min_by(f64::total_cmp)?;
    let end = all.iter().map(|one| one.3).max_by(f64::total_cmp)?;
    let x = PlainAxis::new((0.0, end - begin), (LEFT, WIDTH - RIGHT));
    let lanes = devices.len() * KINDS.len();
    let bottom = TOP + LANE * lanes as f64;
    let spent = |kind: usize| all.iter().filter(|one| one.1 == kind).map(|one| one.3 - one.2).sum::<f64>();
    let words: Vec<String> =
        KINDS.iter().enumerate().map(|(kind, (name, _))| format!("{name} {}", stretch(spent(kind)))).collect();
    let mut canvas = Canvas::new(WIDTH, bottom + 44.0, title).described(format!(
        "In all {}: {}.",
        stretch(end - begin),
        words.join(", ")
    ));
    for quarter in 0..=4 {
        let at = (end - begin) * f64::from(quarter) / 4.0;
        canvas.line("grid", (x.place(at), TOP), (x.place(at), bottom));
        let anchor = if quarter == 4 { Anchor::End } else { Anchor::Middle };
        canvas.text("small", (x.place(at), bottom + 18.0), anchor, &stretch(at));
    }
    for (lane, number) in devices.iter().enumerate() {
        for (kind, (name, class)) in KINDS.iter().enumerate() {
            let y = TOP + LANE * (lane * KINDS.len() + kind) as f64;
            let label = match number {
                Some(number) if devices.len() > 1 => format!("device {number}: {name}"),
                _ if devices.len() > 1 => format!("all: {name}"),
                _ => (*name).to_string(),
            };
            canvas.text("small", (LEFT - 8.0, y + 17.0), Anchor::End, &clipped(&label, LEFT - 8.0));
            let mut own: Vec<(f64, f64)> = all
                .iter()
                .filter(|one| (one.0, one.1) == (lane, kind))
                .map(|one| (x.place(one.2 - begin), x.place(one.3 - begin)))
                .collect();
            own.sort_by(|a, b| a.0.total_cmp(&b.0));
            let mut joined: Vec<(f64, f64)> = Vec::new();
            for (from, to) in own {
                match joined.last_mut().filter(|last| from - last.1 < 1.0) {
                    Some(last) => last.1 = last.1.max(to),
                    None => joined.push((from, to)),
                }
            }
            for (from, to) in joined {
                canvas.area(class, (from, y + 5.0), (to - from).max(1.0), LANE - 10.0);
            }
        }
    }
    canvas.text("small", (16.0, bottom + 36.0), Anchor::Start, &words.join(", "));
    Some(canvas)
}

#[cfg(test)]
mod tests {
    use super::super::search::tests::is_clean;
    use super::*;
    use crate::sample::{BEGAN, trial};

    #[test]
    fn each_kind_of_work_has_a_lane_and_many_trials_stay_small() {
        let at =
            |number: u64| Trial { started_ms: BEGAN + 2000 * number as i64, ..trial("search", number, "A=1", 1.0) };
        let few: Vec<Trial> = (0..3).map(at).collect();
        let svg = timeline_picture("t", &few).unwrap().standalone();
        is_clean(&svg);
        assert_eq!(svg.matches("class=\"bar2\"").count(), 3);
        assert!(svg.contains("build 0.3 s, check 0.6 s, measure 0.9 s"), "{svg}");
        let many: Vec<Trial> = (0..50_000).map(at).collect();
        assert!(timeline_picture("t", &many).unwrap().standalone().len() < 200_000);
        assert!(timeline_picture("t", &[]).is_none());
    }
}
