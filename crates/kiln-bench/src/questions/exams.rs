//! Questions made. In: where arguments lie, rules, what inputs are drawn from, and who helps. Out: questions with their right
//! answers; none where a distribution makes no sense.

use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use kiln_core::Fault;
use kiln_judge::{Distribution, Exam, Filler, Inputs, Outside, Precision, Rules, Signature};

use crate::bench::interrupted;
use crate::questions::layout::Layout;
use crate::questions::reference::DeviceReference;

/// What lies outside kiln: right answers, and inputs with a meaning.
#[derive(Clone, Copy, Default)]
pub(crate) struct Helpers<'h> {
    pub(crate) answers: Option<Outside<'h>>,
    pub(crate) filler: Option<Filler<'h>>,
    /// Somebody who computes faster what kiln knows itself.
    pub(crate) device: Option<&'h DeviceReference>,
    /// Set once the user wants to stop.
    pub(crate) stopped: Option<&'h AtomicBool>,
}

impl Helpers<'_> {
    /// Whether nobody else is needed.
    pub(crate) fn alone(&self) -> bool {
        self.answers.is_none() && self.filler.is_none()
    }

    /// A fault once the user wants to stop.
    fn go_on(&self) -> Result<(), Fault> {
        if self.stopped.is_some_and(|stopped| stopped.load(Ordering::Relaxed)) { Err(interrupted()) } else { Ok(()) }
    }
}

/// One question with inputs drawn for it; none where the distribution makes no sense.
pub(crate) fn exam(
    layout: &Layout,
    rules: &Rules,
    draw: (Distribution, u64),
    helpers: Helpers<'_>,
) -> Result<Option<Exam>, Fault> {
    helpers.go_on()?;
    layout.exam(rules, draw, helpers.answers, helpers.filler)
}

/// Several questions whose answers kiln knows itself, as many at once as there are processors: large ones take seconds.
pub(crate) fn exams(
    layout: &Layout,
    rules: &Rules,
    drawn: &[(Distribution, u64)],
    helpers: Helpers<'_>,
) -> Result<Vec<Option<Exam>>, Fault> {
    let device = helpers.device;
    let ask = |signature: &Signature, inputs: &Inputs, _: Precision| match device {
        Some(device) => device.answer(signature, inputs),
        None => Err(Fault::new("computing the correct answer", "there is no GPU to do it")),
    };
    let answers: Option<Outside<'_>> = if device.is_some() { Some(&ask) } else { None };
    let (next, made) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(drawn.len())));
    let work = || {
        while let Some((place, draw)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|n| Some((n, drawn.get(n)?)))
        {
            let one = exam(layout, rules, *draw, Helpers { answers, stopped: helpers.stopped, ..Helpers::default() });
            let Ok(mut made) = made.lock() else { return };
            made.push((place, one));
        }
    };
    thread::scope(|scope| {
        let at_once = thread::available_parallelism().map_or(1, NonZero::get).min(drawn.len());
        (0..at_once).for_each(|_| drop(scope.spawn(work)));
    });
    let mut made = made.into_inner().unwrap_or_default();
    made.sort_by_key(|(place, _)| *place);
    made.into_iter().map(|(_, one)| one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_made_for_a_user_who_wants_to_stop() {
        let stopped = AtomicBool::new(true);
        assert!(Helpers { stopped: Some(&stopped), ..Helpers::default() }.go_on().is_err());
        stopped.store(false, Ordering::Relaxed);
        assert!(Helpers { stopped: Some(&stopped), ..Helpers::default() }.go_on().is_ok());
        assert!(Helpers::default().go_on().is_ok());
    }
}
