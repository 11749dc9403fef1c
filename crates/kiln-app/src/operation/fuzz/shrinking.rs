//! A case that failed, made as small as it gets. In: a lane and the case. Out: the smallest that fails, what refuses it, and
//! whether it does so every time. Ends with the time there is, or when somebody stops it, with the smallest found so far.

use std::time::{Duration, Instant};

use kiln_core::{Config, Fault, Refusal};
use kiln_judge::{FuzzCase, Shape, Shrinker, shrink};
use kiln_study::Tried;

use crate::event::What;
use crate::operation::fuzz::lane::Lane;
use crate::operation::fuzz::request::FuzzFailure;
use crate::teller::Teller;

/// Cases tried at most.
const TRIES: usize = 600;
/// Time there is at least, however late the case was found.
const LEAST: Duration = Duration::from_secs(20);
/// Further runs of the smallest case, all of which must fail.
const AGAIN: usize = 2;

/// Why shrinking ended early.
enum Over {
    Time,
    Fault(Fault),
}

/// Makes a failing case smaller.
pub(super) fn smallest(
    lane: &Lane<'_, '_>,
    found: FuzzCase,
    refusal: Refusal,
    is_free: bool,
    left: Duration,
    teller: &Teller<'_>,
) -> (FuzzFailure, Option<Fault>) {
    let kernel = lane.bench.kernel;
    let until = Instant::now() + left.max(LEAST);
    let default = kernel.default_config().filter(|_| is_free);
    let tiles = |config: &Config, shape: &Shape| lane.tiles(config, shape);
    let admits = |shape: &Shape, config: &Config| lane.admits(shape, config);
    let signature = |shape: &Shape, config: &Config| lane.signature(shape, config);
    let (room, default) = (&lane.room, default.as_ref());
    let how = Shrinker { room, default, signature: &signature, tiles: &tiles, admits: &admits, tries: TRIES };
    teller.tell(What::Phase { phase: "shrink".into(), planned: TRIES });
    let mut why = refusal;
    let mut done = 0;
    let (shrunk, over) = shrink(found.clone(), &how, |case| {
        if Instant::now() > until {
            return Err(Over::Time);
        }
        done += 1;
        teller.tell(What::Step { phase: "shrink".into(), done, planned: TRIES });
        match lane.ask(case).map_err(Over::Fault)? {
            Tried::Refused(refusal) => {
                why = refusal;
                Ok(true)
            }
            Tried::Passed | Tried::Excluded(_) | Tried::Unanswered(_) => Ok(false),
        }
    });
    let mut fault = match over {
        Some(Over::Fault(fault)) => Some(fault),
        Some(Over::Time) | None => None,
    };
    let mut steady = Some(true);
    for _ in 0..AGAIN {
        match lane.ask(&shrunk.case) {
            Ok(Tried::Refused(_)) => {}
            Ok(_) => steady = Some(false),
            Err(new) => {
                steady = steady.filter(|steady| !steady);
                fault = fault.or(Some(new));
            }
        }
    }
    teller.tell(What::PhaseEnd);
    let failure = FuzzFailure {
        variant: kernel.variant(),
        found,
        smallest: shrunk.case,
        refusal: why,
        tried: shrunk.tried,
        complete: shrunk.complete,
        steady,
    };
    (failure, fault)
}
