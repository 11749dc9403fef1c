//! Which commit to look at next. In: what is known of a row of commits, oldest first, whose last is bad and before whose first a
//! good one lies. Out: the next to judge, or between which two the change lies. Pure, so that every rule is tested without a
//! repository.
//!
//! What is known may be wrong, and turn out so when it is looked at again: nothing is kept here, and the next answer follows
//! from what is known then.

/// What is known of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// As it should be.
    Good,
    /// As it should not be.
    Bad,
    /// It cannot be judged.
    Unjudged,
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Judge this one.
    Judge(usize),
    /// The change lies after the first (the good commit before the row where none), and in or before the second. Those
    /// between cannot be judged.
    Between(Option<usize>, usize),
    /// Nothing in the row is bad.
    NothingBad,
}

/// The next step for what is known of each commit.
pub(super) fn next(known: &[Option<Standing>]) -> Next {
    let Some(bad) = known.iter().position(|standing| *standing == Some(Standing::Bad)) else { return Next::NothingBad };
    let good = known[..bad].iter().rposition(|standing| *standing == Some(Standing::Good));
    let first = good.map_or(0, |good| good + 1);
    match middle(&known[first..bad]) {
        Some(place) => Next::Judge(first + place),
        None => Next::Between(good, bad),
    }
}

/// How many are left to judge at most, if all can be.
pub(super) fn left(known: &[Option<Standing>]) -> u32 {
    let Some(bad) = known.iter().position(|standing| *standing == Some(Standing::Bad)) else { return 0 };
    let good = known[..bad].iter().rposition(|standing| *standing == Some(Standing::Good));
    let commits = bad + 1 - good.map_or(0, |good| good + 1);
    commits.next_power_of_two().trailing_zeros()
}

/// The one in the middle; where that cannot be judged, the middles of both halves, of all quarters, and so on: what cannot be
/// judged comes in rows, and its neighbours are likely of them.
fn middle(open: &[Option<Standing>]) -> Option<usize> {
    let n = open.len();
    let mut parts = 2;
    while parts / 2 <= n {
        let places = (1..parts).step_by(2).map(|part| part * (n + 1) / parts);
        let found = places.filter(|place| (1..=n).contains(place)).map(|place| place - 1).find(|p| open[*p].is_none());
        if found.is_some() {
            return found;
        }
        parts *= 2;
    }
    open.iter().position(Option::is_none)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Judges commits by `truth` until the change is found; how many that took.
    fn found(n: usize, truth: impl Fn(usize) -> Standing) -> (Next, usize) {
        let mut known = vec![None; n];
        known[n - 1] = Some(Standing::Bad);
        for judged in 0..=n {
            match next(&known) {
                Next::Judge(place) => {
                    assert_eq!(known[place], None);
                    known[place] = Some(truth(place));
                }
                ended => return (ended, judged),
            }
        }
        panic!("more commits judged than there are");
    }

    #[test]
    fn every_change_is_found_in_as_few_steps_as_can_be() {
        for n in 1usize..130 {
            for change in 0..n {
                let truth = |place| if place < change { Standing::Good } else { Standing::Bad };
                let (ended, judged) = found(n, truth);
                assert_eq!(ended, Next::Between(change.checked_sub(1), change));
                assert!(judged as u32 <= n.next_power_of_two().trailing_zeros(), "{n} {change}: {judged}");
            }
        }
        // 63 commits after the good one: six, and with both ends eight.
        assert_eq!(left(&[&[None; 62][..], &[Some(Standing::Bad)]].concat()), 6);
    }

    #[test]
    fn rows_that_cannot_be_judged_are_stepped_over() {
        for n in 2usize..40 {
            for change in 0..n {
                for from in 0..n {
                    for to in from + 1..n {
                        let truth = |place| match place {
                            _ if (from..to).contains(&place) => Standing::Unjudged,
                            _ if place < change => Standing::Good,
                            _ => Standing::Bad,
                        };
                        let (ended, _) = found(n, truth);
                        let Next::Between(good, bad) = ended else { panic!("{ended:?}") };
                        assert!(good.is_none_or(|good| good < change) && bad >= change, "{n} {change} {from}..{to}");
                        let between = good.map_or(0, |good| good + 1)..bad;
                        assert!(between.clone().all(|place| (from..to).contains(&place)), "{n} {change}: {between:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_row_in_the_middle_costs_few_steps() {
        // 20 of 63 do not build, right where the search begins.
        let truth = |place| match place {
            20..40 => Standing::Unjudged,
            _ if place < 50 => Standing::Good,
            _ => Standing::Bad,
        };
        let (ended, judged) = found(63, truth);
        assert!(ended == Next::Between(Some(49), 50) && judged <= 12, "{ended:?} after {judged}");
    }

    #[test]
    fn what_turns_out_otherwise_moves_the_search() {
        use Standing::{Bad, Good};
        let mut known = vec![None; 8];
        known[7] = Some(Bad);
        known[3] = Some(Bad);
        (known[0], known[1], known[2]) = (Some(Good), Some(Good), Some(Good));
        assert_eq!(next(&known), Next::Between(Some(2), 3));
        // Looked at again, it is good: the search goes on behind it.
        known[3] = Some(Good);
        assert_eq!(next(&known), Next::Judge(5));
        known[7] = Some(Good);
        assert_eq!(next(&known), Next::NothingBad);
    }
}
