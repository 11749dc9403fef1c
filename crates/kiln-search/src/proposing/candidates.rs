//! What a model is asked about. In: the history, perhaps a slice. Out: valid configurations that were not seen: neighbours of
//! good trials, wider changes of them, uniform draws; in a slice only those that lie in it, and good trials moved there.

use kiln_space::{Point, Step};

use crate::known::history::{History, Tried};
use crate::proposing::draw::Draws;
use crate::proposing::moves;
use crate::proposing::slice::Slice;
use crate::settings::SearchSettings;

/// Good trials that wider changes start from, the first of them more often.
const STARTS: usize = 20;
/// Draws for a wider change before it is given up.
const TRIES: usize = 2;

pub(crate) fn candidates(
    history: &History,
    slice: Option<Slice>,
    settings: &SearchSettings,
    draws: &mut Draws,
) -> Vec<Point> {
    let inside = |point: &[u32]| slice.is_none_or(|slice| slice.contains(point));
    let timed = history.timed();
    let good: Vec<&Tried> = timed.iter().filter(|trial| inside(&trial.point)).take(STARTS).collect();
    let mut points = Vec::new();
    for trial in good.iter().take(settings.centres as usize) {
        points.extend(moves::fresh_neighbours(history, &trial.point, Step::Any));
    }
    if let Some(Slice { tunable, value }) = slice {
        for trial in timed.iter().take(STARTS) {
            let mut point = trial.point.clone();
            point[tunable] = value;
            if history.is_new(&point) {
                points.push(point);
            }
        }
    }
    for _ in 0..if good.is_empty() { 0 } else { settings.jumps as usize } {
        let place = draws.position(good.len()).min(draws.position(good.len()));
        let changes = 2 + draws.position(2);
        points.extend(moves::mutated(history, &good[place].point, changes, TRIES, draws));
    }
    points.extend((0..settings.draws as usize).filter_map(|_| history.draw(draws)));
    points.retain(|point| inside(point));
    points
}
