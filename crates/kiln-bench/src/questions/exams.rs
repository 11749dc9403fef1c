//! Questions made. In: where arguments lie, rules, what inputs are drawn from, and who helps. Out: questions with their right
//! answers; none where a distribution makes no sense.

use kiln_core::Fault;
use kiln_judge::{Distribution, Exam, Filler, Inputs, Outside, Precision, Rules, Signature};

use crate::questions::layout::Layout;
use crate::questions::reference::DeviceReference;

/// What lies outside kiln: right answers, and inputs with a meaning.
#[derive(Clone, Copy, Default)]
pub(crate) struct Helpers<'h> {
    pub(crate) answers: Option<Outside<'h>>,
    pub(crate) filler: Option<Filler<'h>>,
    /// Somebody who computes faster what kiln knows itself.
    pub(crate) device: Option<&'h DeviceReference>,
}

impl Helpers<'_> {
    /// Whether nobody else is needed.
    pub(crate) fn alone(&self) -> bool {
        self.answers.is_none() && self.filler.is_none()
    }
}

/// One question with inputs drawn for it; none where the distribution makes no sense.
pub(crate) fn exam(
    layout: &Layout,
    rules: &Rules,
    draw: (Distribution, u64),
    helpers: Helpers<'_>,
) -> Result<Option<Exam>, Fault> {
    layout.exam(rules, draw, helpers.answers, helpers.filler)
}

/// Several questions whose answers kiln knows itself, each made on a processor of its own: large ones take seconds.
pub(crate) fn exams(
    layout: &Layout,
    rules: &Rules,
    drawn: &[(Distribution, u64)],
    device: Option<&DeviceReference>,
) -> Result<Vec<Option<Exam>>, Fault> {
    let ask = |signature: &Signature, inputs: &Inputs, _: Precision| match device {
        Some(device) => device.answer(signature, inputs),
        None => Err(Fault::new("computing the correct answer", "there is no GPU to do it")),
    };
    let answers: Option<Outside<'_>> = if device.is_some() { Some(&ask) } else { None };
    std::thread::scope(|scope| {
        let one = |draw| exam(layout, rules, draw, Helpers { answers, ..Helpers::default() });
        let made: Vec<_> = drawn.iter().map(|draw| scope.spawn(move || one(*draw))).collect();
        let gone = |_| Err(Fault::new("making questions", "a thread ended before its time"));
        made.into_iter().map(|one| one.join().unwrap_or_else(gone)).collect()
    })
}
