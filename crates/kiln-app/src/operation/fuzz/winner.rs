//! The winner of a study, validated in the time its budget has left. In: a bench and a configuration. Out: a record where enough
//! cases passed; a warning where one failed. The study's verdict does not depend on it: a kernel may not be made for every
//! shape that is drawn.

use std::time::{Duration, Instant};

use kiln_core::{Config, Report, counted};
use kiln_study::Bench;

use crate::failure::Failure;
use crate::operation::fuzz::asking::{Clock, ask_all};
use crate::operation::fuzz::lane::{Lane, has_workloads};
use crate::operation::fuzz::request::VALIDATED;
use crate::operation::fuzz::supply::Supply;
use crate::operation::fuzz::validation::validation;
use crate::project::Project;
use crate::teller::Teller;

/// With less time it is not begun.
const LEAST: Duration = Duration::from_secs(10);

/// Validates a winner, if there is time.
pub(crate) fn validate_winner(
    project: &Project,
    bench: &Bench<'_>,
    (path, config): (&str, &Config),
    left: Duration,
    teller: &Teller<'_>,
) -> Result<(), Failure> {
    if left < LEAST || has_workloads(bench.kernel).is_err() {
        return Ok(());
    }
    let clock = Clock { began: Instant::now(), most: left };
    let (lane, refused) = Lane::new(bench, std::slice::from_ref(config), None)?;
    if !refused.is_empty() {
        return Ok(());
    }
    let (lanes, seed) = ([lane], bench.settings.seed);
    let mut supply = Supply::drawn(&lanes, VALIDATED, seed);
    let (asked, fault) = ask_all(&lanes, &mut supply, 1, clock, teller);
    fault.map_or(Ok(()), Err)?;
    if let Some((_, case, refusal)) = asked.failed {
        let report = Report::warning(format!("the winner fails on {case}: {}, {}", refusal.gate, refusal.measured));
        let report = report.label("expected it to pass on every shape the kernel is made for");
        let hint =
            "`kiln fuzz` shrinks it; if the kernel is not made for this shape, state in [fuzz] which it is made for";
        teller.warn(&[report.hint(hint)]);
        return Ok(());
    }
    let passed = asked.passed.iter().sum::<usize>();
    if passed < VALIDATED {
        teller.note(format!("the winner is not validated: {passed} of {VALIDATED} good runs in the time left"));
        return Ok(());
    }
    let shapes = asked.shapes.len();
    let made = validation(bench, path, config, (VALIDATED, shapes, seed))?;
    let on = counted(shapes as u128, "shape");
    match project.store().and_then(|store| store.record_validation(&made)) {
        Ok(()) => teller.note(format!("the winner is validated: {VALIDATED} good runs on {on}")),
        Err(fault) => teller.note(format!("the validation is not recorded: {fault}")),
    }
    Ok(())
}
