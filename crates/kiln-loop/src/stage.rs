//! A workload set up: its arguments laid out in memory, and questions with their right answers. Made once, used for every
//! candidate.

use kiln_core::{Fault, Outcome, Report, Workload};
use kiln_judge::{Distribution, Exam, Inputs, Outside, Rules, Signature};
use kiln_run::{Arena, Copy, Slot};
use kiln_space::Constants;
use kiln_spec::{Formula, Role, Selection};

use crate::drawing::derive;

/// Where the arguments of a workload lie.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(crate) signature: Signature,
    pub(crate) slots: Vec<Slot>,
    /// What is copied back before every timed call.
    pub(crate) restore: Vec<Copy>,
    regions: Vec<std::ops::Range<usize>>,
    /// Bytes that exams see; what lies behind are copies of arguments that are read and written.
    total: usize,
    sizes: Vec<usize>,
}

impl Layout {
    pub(crate) fn new(signature: Signature) -> Result<Layout, Fault> {
        let mut sizes = signature.sizes();
        let both: Vec<usize> = (0..sizes.len()).filter(|i| signature.slots[*i].role == Role::Inout).collect();
        sizes.extend(both.iter().map(|i| sizes[*i]).collect::<Vec<_>>());
        let (arena, mut regions) = Arena::new(&sizes)?;
        let copies = regions.split_off(signature.slots.len());
        let total = copies.first().map_or(arena.bytes().len(), |first| first.start);
        let restore = both.iter().zip(&copies);
        let restore =
            restore.map(|(i, from)| Copy { from: from.start, to: regions[*i].start, bytes: from.len() }).collect();
        let slots = signature.slots.iter().zip(&regions);
        let slots = slots
            .map(|(slot, region)| Slot {
                name: slot.name.clone(),
                offset: region.start,
                bytes: region.len(),
                dtype: slot.dtype.name().into(),
                shape: slot.shape.clone(),
                role: role_name(slot.role).into(),
            })
            .collect();
        Ok(Layout { signature, slots, restore, regions, total, sizes })
    }

    /// Fresh memory for it.
    pub(crate) fn arena(&self) -> Result<Arena, Fault> {
        Ok(Arena::new(&self.sizes)?.0)
    }

    /// A question about it.
    pub(crate) fn exam(&self, rules: &Rules, inputs: Inputs, outside: Option<Outside<'_>>) -> Result<Exam, Fault> {
        Exam::new(&self.signature, rules, inputs, &self.regions, self.total, outside)
    }

    /// Puts a question into memory.
    pub(crate) fn lay(&self, exam: &Exam, arena: &mut Arena) {
        let bytes = arena.bytes_mut();
        exam.lay(&mut bytes[..self.total]);
        for copy in &self.restore {
            bytes.copy_within(copy.to..copy.to + copy.bytes, copy.from);
        }
    }

    /// The part of memory an exam judges.
    pub(crate) fn seen<'a>(&self, arena: &'a Arena) -> &'a [u8] {
        &arena.bytes()[..self.total]
    }

    /// Bytes of all arguments.
    pub(crate) fn bytes(&self) -> usize {
        self.sizes.iter().sum()
    }
}

/// A workload with its memory and its questions.
pub struct Stage<'a> {
    /// The workload; none for a kernel file without any.
    pub workload: Option<&'a Workload>,
    /// Floating-point operations of one call.
    pub flops: Option<f64>,
    /// Bytes one call must move.
    pub bytes: Option<f64>,
    pub(crate) layout: Layout,
    pub(crate) exams: Vec<Exam>,
    pub(crate) arena: Arena,
}

impl<'a> Stage<'a> {
    /// Sets a workload up with one question for each of these distributions.
    pub(crate) fn new(
        selection: &Selection<'a>,
        workload: Option<&'a Workload>,
        rules: &Rules,
        distributions: &[Distribution],
        seed: u64,
        outside: Option<Outside<'_>>,
    ) -> Result<Stage<'a>, Trouble> {
        let layout = Layout::new(Signature::of(selection, workload)?)?;
        let name = workload.map_or("", |w| &w.name);
        let mut exams = Vec::with_capacity(distributions.len());
        for (number, distribution) in distributions.iter().enumerate() {
            let seed = derive(seed, &["inputs", name], number as u64);
            exams.push(layout.exam(rules, Inputs::draw(&layout.signature, *distribution, seed), outside)?);
        }
        let cost = |formula: &Option<Formula>| cost(selection, workload, formula.as_ref()?);
        let (flops, bytes) = (cost(&selection.spec.cost.flops), cost(&selection.spec.cost.bytes));
        let arena = layout.arena()?;
        Ok(Stage { workload, flops, bytes, layout, exams, arena })
    }

    /// The workload's name; empty when there is none.
    pub fn name(&self) -> &str {
        self.workload.map_or("", |w| &w.name)
    }

    /// The workload's weight in the objective.
    pub(crate) fn weight(&self) -> f64 {
        self.workload.map_or(1.0, |w| w.weight)
    }

    /// Puts a question and memory together, and judges what `act` left.
    pub(crate) fn pose(
        &mut self,
        which: usize,
        act: impl FnOnce() -> Result<Outcome<()>, Fault>,
    ) -> Result<Outcome<Vec<u8>>, Fault> {
        let exam = &self.exams[which % self.exams.len().max(1)];
        self.layout.lay(exam, &mut self.arena);
        if let Outcome::Refused(refusal) = act()? {
            return Ok(Outcome::Refused(refusal));
        }
        let seen = self.layout.seen(&self.arena);
        Ok(match exam.judge(seen) {
            Outcome::Passed(_) => Outcome::Passed(exam.outputs(seen)),
            Outcome::Refused(refusal) => Outcome::Refused(refusal),
        })
    }
}

/// Why a stage could not be set up: the file's mistake, or the environment's fault.
#[derive(Debug)]
pub enum Trouble {
    /// The file's.
    File(Report),
    /// The environment's.
    Fault(Fault),
}

impl From<Report> for Trouble {
    fn from(report: Report) -> Trouble {
        Trouble::File(report)
    }
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Trouble {
        Trouble::Fault(fault)
    }
}

/// The value of a cost formula under a workload.
fn cost(selection: &Selection<'_>, workload: Option<&Workload>, formula: &Formula) -> Option<f64> {
    let constants = Constants { workload: String::new(), values: selection.constants(workload), arch: selection.arch };
    match formula.expression.eval(&|name: &str| constants.get(name)).ok()? {
        kiln_core::Value::Int(v) => Some(v as f64),
        kiln_core::Value::Float(v) => Some(v),
        _ => None,
    }
}

fn role_name(role: Role) -> &'static str {
    Role::ALL.iter().find(|(_, r)| *r == role).map_or("in", |(name, _)| name)
}
