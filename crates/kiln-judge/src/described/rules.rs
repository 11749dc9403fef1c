//! What is right for a kernel, and how exactly. In: a selection. Out: where the correct answers come from and what the file
//! states about errors. Refuses a file without a reference, an operation kiln does not know, and arguments whose number
//! does not fit it.

use kiln_core::Report;
use kiln_expr::Expression;
use kiln_spec::{Argument, Origin, Role, Selection};

use crate::described::signature::Signature;
use crate::drawn::inputs::Inputs;
use crate::fuzz::scalars::CaseScalars;
use crate::level::Coverage;
use crate::right::allowed::Allowed;
use crate::right::answer::jobs;
use crate::right::expected::Expected;
use crate::right::reference::{Builtin, Heads, Job};
use crate::right::tensor::Tensor;

/// The builtin whose operation the file writes down.
const ELEMENTWISE: &str = "elementwise";

/// What is correct, and how exactly.
#[derive(Debug, Clone)]
pub struct Rules {
    origin: Origin,
    pub(crate) builtin: Option<Builtin>,
    stated: Vec<(String, Allowed)>,
    pub(crate) deterministic: bool,
    /// How much of each output is looked at.
    pub(crate) coverage: Coverage,
    /// Of `elementwise`: each output's expression.
    pub(crate) expressions: Vec<(String, Expression)>,
    /// Numbers that scalars have in place of their own, or of those that would be drawn.
    pub(crate) scalars: CaseScalars,
}

impl Rules {
    /// The rules of a kernel file.
    pub fn of(selection: &Selection<'_>) -> Result<Rules, Report> {
        let spec = selection.spec;
        let Some(reference) = &spec.reference else {
            let report = Report::error(format!("{} has no reference, so no result can be judged correct", spec.name));
            let report = report.label(format!("{} has no [reference]", spec.source.name));
            return Err(report.hint("add [reference] with builtin, python or kernel"));
        };
        let builtin = match &reference.origin {
            Origin::Builtin(name) if name == ELEMENTWISE => None,
            Origin::Builtin(name) => Some(builtin(selection, name)?),
            _ => None,
        };
        Ok(Rules {
            origin: reference.origin.clone(),
            builtin,
            stated: reference.tolerance.iter().map(|(name, t)| (name.clone(), Allowed::from(*t))).collect(),
            deterministic: reference.deterministic,
            coverage: Coverage::Sampled,
            expressions: reference.expressions.iter().map(|(n, f)| (n.clone(), f.expression.clone())).collect(),
            scalars: CaseScalars::new(),
        })
    }

    /// The same rules for questions that look at so much of each output.
    pub fn covering(&self, coverage: Coverage) -> Rules {
        Rules { coverage, ..self.clone() }
    }

    /// The same rules for questions in which scalars have these values.
    pub fn with_scalars(self, scalars: &CaseScalars) -> Rules {
        Rules { scalars: scalars.clone(), ..self }
    }

    /// The sizes of attention on these inputs; none where something else is computed.
    pub fn attention(&self, signature: &Signature, inputs: &Inputs) -> Option<Heads> {
        let builtin = self.builtin.filter(|builtin| *builtin == Builtin::Attention)?;
        match jobs(builtin, signature, inputs, 1).ok()?.first() {
            Some(Job::Attention(job)) => Some(job.heads()),
            _ => None,
        }
    }

    /// Whether these are the outputs of the operation kiln knows, as far as some rows of each tell.
    pub fn agree(&self, signature: &Signature, inputs: &Inputs, outputs: &[Tensor]) -> bool {
        let jobs = self.builtin.and_then(|builtin| jobs(builtin, signature, inputs, outputs.len()).ok());
        let same = |(job, tensor): (&Job<'_>, &Tensor)| {
            Expected::fetched(job, tensor.clone()).is_some_and(|expected| expected.agrees(job, inputs.seed))
        };
        jobs.is_some_and(|jobs| jobs.len() == outputs.len() && jobs.iter().zip(outputs).all(same))
    }

    /// The operation, where kiln knows it.
    pub fn builtin(&self) -> Option<Builtin> {
        self.builtin
    }

    /// Where the correct answers must be fetched; none when kiln knows them itself.
    pub fn needs_outside(&self) -> Option<&Origin> {
        (self.builtin.is_none() && self.expressions.is_empty()).then_some(&self.origin)
    }

    /// What the file states for an output.
    pub(crate) fn stated(&self, output: &str) -> Option<Allowed> {
        self.stated.iter().find(|(name, _)| name == output).map(|(_, allowed)| *allowed)
    }
}

fn builtin(selection: &Selection<'_>, name: &str) -> Result<Builtin, Report> {
    let source = &selection.spec.source;
    let at = |report: Report| {
        let quoted = source.text.find(&format!("\"{name}\""));
        quoted.map_or(report.clone(), |at| report.at(source.place(at..at + name.len() + 2)))
    };
    let Some(builtin) = Builtin::named(name) else {
        let report = at(Report::error(format!("the reference {name} does not say what is computed")));
        let report = report.label("expected attention, matmul, softmax or reduction");
        return Err(report.hint("write it down: [reference] python = \"reference.py:function\""));
    };
    let count = |wanted: &[Role]| {
        let arguments = selection.spec.arguments.iter();
        arguments.filter(|a: &&Argument| wanted.contains(&a.role)).count()
    };
    let (inputs, outputs) = (count(&[Role::In, Role::Inout, Role::Constant]), count(&[Role::Out, Role::Inout]));
    let (operation, expected) = builtin.describe();
    if inputs != builtin.arity() || !(1..=builtin.outputs()).contains(&outputs) {
        let found = format!("the kernel has {inputs} inputs and {outputs} outputs");
        let report = at(Report::error(format!("the reference {operation} does not fit: {found}")));
        let gives = if builtin.outputs() == 1 { "one output" } else { "one output or two" };
        return Err(report.label(format!("it takes {expected}, and gives {gives}")));
    }
    Ok(builtin)
}
