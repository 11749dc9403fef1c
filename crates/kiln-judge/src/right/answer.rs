//! The correct answer of each output, with what it is held to. In: rules and inputs, and answers from outside where kiln does
//! not know them. Out: one [`RightAnswer`] for each output. Refuses answers of another number or size than the outputs, and NaN
//! in them: a check against NaN is no check.

use kiln_core::Fault;
use kiln_spec::{Dtype, Init};

use crate::described::rules::Rules;
use crate::described::signature::{Signature, Slot};
use crate::drawn::distribution::Distribution;
use crate::drawn::element::{is_float, round_to};
use crate::drawn::inputs::Inputs;
use crate::drawn::whole::{extremes, is_wide};
use crate::exam::{Outside, Precision};
use crate::level::Coverage;
use crate::right::allowed::{Allowed, Bound, Source};
use crate::right::derive::{derive, from_plain, roundings};
use crate::right::elementwise::elementwise;
use crate::right::expected::Expected;
use crate::right::projection::Projection;
use crate::right::reference::{Builtin, Job, Scalars, Unfit};
use crate::right::tensor::{Tensor, place};

/// Multiply-adds spent on right answers; more rows than these allow are sampled. About a tenth of a second of one core, the
/// plain program's run included.
pub(crate) const BUDGET: usize = 100_000_000;

/// What one output is held against.
#[derive(Debug, Clone, PartialEq)]
pub struct RightAnswer {
    /// The output's name.
    pub name: String,
    /// The correct answer.
    pub expected: Expected,
    /// How far it may be off.
    pub bound: Bound,
    /// Whether it comes from outside kiln.
    pub(crate) outside: bool,
    /// Sums over all elements, where not all are known one by one.
    pub(crate) projection: Option<Projection>,
}

pub(crate) fn answers(
    signature: &Signature,
    rules: &Rules,
    inputs: &Inputs,
    outside: Option<Outside<'_>>,
) -> Result<Vec<RightAnswer>, Fault> {
    let asked: Vec<Slot> = signature.outputs().map(|(_, slot)| slot.asked()).collect();
    let outputs: Vec<&Slot> = asked.iter().collect();
    let mut answers = match (rules.builtin, outside) {
        (None, _) if !rules.expressions.is_empty() => {
            fetched(rules, inputs, &outputs, elementwise(signature, inputs, &rules.expressions)?, None)?
        }
        (Some(builtin), faster) => known(builtin, signature, rules, inputs, (&outputs, faster))?,
        (None, Some(outside)) => {
            let right = outside(signature, inputs, Precision::Double)?;
            // Where the reference cannot, or fails, the type alone says what is allowed.
            let unstated = |slot: &&Slot| rules.stated(&slot.name).is_none() && is_float(slot.dtype);
            let wanted = outputs.iter().any(unstated);
            let plain = if wanted { outside(signature, inputs, Precision::Own).ok() } else { None };
            let mut answers = fetched(rules, inputs, &outputs, right, plain)?;
            answers.iter_mut().for_each(|answer| answer.outside = true);
            answers
        }
        (None, None) => return Err(Fault::new("computing the correct answer", "the reference lies outside kiln")),
    };
    for (slot, answer) in outputs.iter().zip(&mut answers) {
        // A sum of narrow numbers need not fit them.
        let dtype = if slot.summed && is_float(slot.dtype) { Dtype::F64 } else { slot.dtype };
        settle(dtype, answer)?;
    }
    Ok(answers)
}

/// From an operation kiln knows. Whole answers of a large one may come from somebody faster.
fn known(
    builtin: Builtin,
    signature: &Signature,
    rules: &Rules,
    inputs: &Inputs,
    (outputs, faster): (&[&Slot], Option<Outside<'_>>),
) -> Result<Vec<RightAnswer>, Fault> {
    let fault = |why: String| Fault::new("computing the correct answer", why);
    let jobs = jobs(builtin, signature, inputs, outputs.len()).map_err(|unfit| fault(unfit.to_string()))?;
    if jobs.len() != outputs.len() {
        return Err(fault(format!("{} outputs, and it gives {}", outputs.len(), jobs.len())));
    }
    let is_large = |job: &Job<'_>| job.cost().saturating_mul(job.rows()) > BUDGET;
    let every = rules.coverage == Coverage::Every && jobs.iter().any(is_large);
    let asked = faster.filter(|_| every && jobs.iter().all(Job::is_attention));
    // Who cannot is not needed: it takes longer here.
    let mut fetched = asked.and_then(|ask| ask(signature, inputs, Precision::Double).ok()).unwrap_or_default();
    fetched.resize(jobs.len(), Tensor::zeros(&[0]));
    let answer = |((job, output), fetched): ((&Job<'_>, &&Slot), Tensor)| {
        // A single number is a sum as good as one in an array of one.
        let single = output.summed && job.shape().iter().all(|size| *size == 1);
        if output.shape != job.shape() && !single {
            let shapes = format!("{:?}, and {} has {:?}", job.shape(), output.name, output.shape);
            let fault = fault(format!("the reference has shape {shapes}"));
            return Err(fault.hint("correct the output's type in the kernel file"));
        }
        let every = every && is_large(job);
        let projection = if every { Projection::of(job, !is_float(output.dtype), inputs.seed) } else { None };
        let expected = match every && projection.is_none() {
            true => Expected::fetched(job, fetched).unwrap_or_else(|| Expected::every(job, output.dtype, inputs.seed)),
            false => Expected::sample(job, BUDGET, inputs.seed),
        };
        let derived =
            || derive(job, &expected, output.dtype, ordinary(signature, inputs), inputs.distribution.needs_reach());
        let bound = bound(rules.stated(&output.name), inputs.distribution, derived);
        Ok(RightAnswer { name: output.name.clone(), expected, bound, outside: false, projection })
    };
    jobs.iter().zip(outputs).zip(fetched).map(answer).collect()
}

/// One operation for each output.
pub(crate) fn jobs<'a>(
    builtin: Builtin,
    signature: &Signature,
    inputs: &'a Inputs,
    outputs: usize,
) -> Result<Vec<Job<'a>>, Unfit> {
    let tensors: Vec<&Tensor> = inputs.tensors().map(|(_, tensor)| tensor).collect();
    let scalar = |names: &[&str]| inputs.scalars().find(|(name, _)| names.contains(name)).map(|(_, value)| value);
    let scalars = Scalars { scale: scalar(&SCALES), causal: scalar(&MASKS).is_some_and(|causal| causal != 0.0) };
    builtin.jobs(&tensors, scalars, working(signature), outputs)
}

/// What the file states, which is about the inputs it declares: on others it only ever loosens what kiln finds itself.
fn bound(stated: Option<Allowed>, distribution: Distribution, found: impl Fn() -> Bound) -> Bound {
    let Some(allowed) = stated else { return found() };
    let bound = Bound { allowed, rel_l2: None, source: Source::Stated };
    if is_declared(distribution) {
        return bound;
    }
    let found = found().allowed;
    Bound { allowed: Allowed { abs: allowed.abs.max(found.abs), rel: allowed.rel.max(found.rel) }, ..bound }
}

/// The names under which an attention kernel takes its scale, and whether it masks.
const SCALES: [&str; 3] = ["scale", "softmax_scale", "sm_scale"];
const MASKS: [&str; 2] = ["causal", "is_causal"];

/// The narrowest floating-point type among the inputs: intermediate results of a plain program have it.
fn working(signature: &Signature) -> Dtype {
    let inputs = signature.slots.iter().filter(|s| s.is_input() && is_float(s.dtype)).map(|s| s.dtype);
    inputs.min_by_key(|dtype| dtype.bytes()).unwrap_or(Dtype::F64)
}

/// Whether the inputs are the standard normal ones that known error levels are about.
fn ordinary(signature: &Signature, inputs: &Inputs) -> bool {
    let normal = |slot: &Slot| is_float(slot.dtype) && slot.init == Init::Normal;
    inputs.distribution == Distribution::Declared && signature.slots.iter().filter(|s| s.is_input()).all(normal)
}

/// From outside; with what a plain program in the kernel's own types gives, where there is one.
fn fetched(
    rules: &Rules,
    inputs: &Inputs,
    outputs: &[&Slot],
    tensors: Vec<Tensor>,
    plain: Option<Vec<Tensor>>,
) -> Result<Vec<RightAnswer>, Fault> {
    let fault = |why: String| Fault::new("fetching the correct answer", why);
    if tensors.len() != outputs.len() {
        return Err(fault(format!("{} tensors came for {} outputs", tensors.len(), outputs.len())));
    }
    let plain = plain.filter(|plain| plain.len() == outputs.len());
    let answer = |(number, (slot, tensor)): (usize, (&&Slot, Tensor))| {
        if tensor.shape != slot.shape || tensor.data.len() != slot.elements() {
            let shapes = format!("{:?} came for {}, which has {:?}", tensor.shape, slot.name, slot.shape);
            return Err(fault(format!("a tensor of shape {shapes}")));
        }
        let expected = Expected::whole(tensor);
        let plain = plain.as_ref().map(|plain| &plain[number]);
        let assumed = || {
            let terms = inputs.tensors().map(|(_, tensor)| tensor.data.len()).max().unwrap_or(1);
            let found = plain.and_then(|plain| from_plain(slot.dtype, &expected, plain, terms));
            found.unwrap_or_else(|| assume(slot.dtype, &expected, inputs.distribution, terms))
        };
        let bound = bound(rules.stated(&slot.name), inputs.distribution, assumed);
        Ok(RightAnswer { name: slot.name.clone(), expected, bound, outside: false, projection: None })
    };
    outputs.iter().zip(tensors).enumerate().map(answer).collect()
}

/// Whether inputs are what the file's tolerance is about.
fn is_declared(distribution: Distribution) -> bool {
    use Distribution::{Declared, Highest, Lowest, Small};
    matches!(distribution, Declared | Small | Lowest | Highest)
}

/// By type. Of inputs the file does not declare, answers may be of any size, and errors are relative to the largest.
fn assume(dtype: Dtype, expected: &Expected, distribution: Distribution, terms: usize) -> Bound {
    let mut allowed = Allowed::by_default(dtype);
    if is_declared(distribution) {
        // An element near zero is made of large ones: it is off by as much as they are rounded.
        allowed.abs = allowed.abs.max(roundings(dtype, terms) * expected.largest());
    } else {
        // Where all is small on purpose, an absolute part would let anything pass.
        let least = if distribution == Distribution::Tiny { 0.0 } else { allowed.abs };
        allowed.abs = least.max(allowed.rel * expected.largest());
    }
    Bound { allowed, rel_l2: None, source: Source::Assumed }
}

/// Refuses NaN, and takes what is beyond the output's type as that type has it: as infinity, or, in eight bits, as the
/// largest number.
fn settle(dtype: Dtype, answer: &mut RightAnswer) -> Result<(), Fault> {
    let expected = &mut answer.expected;
    // Only 64 bits are more than doubles hold.
    if !is_wide(dtype) {
        expected.exact = None;
    } else if expected.exact.is_none() {
        expected.exact = Some(expected.data.iter().map(|v| *v as i128).collect());
    }
    let outside = |(least, most): (i128, i128)| match &expected.exact {
        Some(exact) => exact.iter().position(|v| !(least..=most).contains(v)),
        None => expected.data.iter().position(|v| *v < least as f64 || *v > most as f64),
    };
    if let Some(at) = extremes(dtype).and_then(outside) {
        let value = expected.exact.as_ref().map_or(format!("{}", expected.data[at]), |exact| exact[at].to_string());
        let what = format!("checking {}", answer.name);
        let fault = Fault::new(what, format!("the correct answer is {value}, and {} cannot hold it", dtype.name()));
        return Err(fault.hint("state a smaller range for the inputs: range = [lo, hi]"));
    }
    if let Some(at) = expected.data.iter().position(|v| v.is_nan()) {
        let row = expected.known().nth(at / expected.width().max(1)).map_or(0, |(row, _)| row);
        let at = place(&expected.shape, row * expected.width() + at % expected.width().max(1));
        let what = format!("checking {}", answer.name);
        let fault = Fault::new(what, format!("the correct answer is NaN at {}{at:?}", answer.name));
        return Err(fault.hint("the reference fails on these inputs: correct it, or choose inputs it is made for"));
    }
    for v in expected.data.iter_mut().filter(|v| v.is_finite()) {
        match dtype {
            Dtype::F8E4M3 => *v = v.clamp(-448.0, 448.0),
            Dtype::F8E5M2 => *v = v.clamp(-57344.0, 57344.0),
            _ if is_float(dtype) && round_to(dtype, *v).is_infinite() => *v = v.signum() * f64::INFINITY,
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    const FILE: &str = "[kernel]\nname = \"k\"\nentry = \"f\"\n[target.cpu]\nsource = \"f.c\"\n[tunables]\nX = [1]\n\
        [[arguments]]\nname = \"q\"\ntype = \"f32[2, 600, 32]\"\nrole = \"in\"\n\
        [[arguments]]\nname = \"k\"\ntype = \"f32[2, 2500, 32]\"\nrole = \"in\"\n\
        [[arguments]]\nname = \"v\"\ntype = \"f32[2, 2500, 32]\"\nrole = \"in\"\n\
        [[arguments]]\nname = \"o\"\ntype = \"f32[2, 600, 32]\"\nrole = \"out\"\n\
        [[arguments]]\nname = \"l\"\ntype = \"f32[2, 600]\"\nrole = \"out\"\n[reference]\nbuiltin = \"attention\"\n";

    #[test]
    fn whole_answers_of_a_large_attention_may_come_from_elsewhere() {
        let (spec, _) = kiln_spec::parse("k", FILE.as_bytes()).unwrap();
        let selection = spec.select(kiln_spec::Choice::default()).unwrap();
        let (signature, rules) = (Signature::of(&selection, None).unwrap(), Rules::of(&selection).unwrap());
        let inputs = Inputs::draw(&signature, Distribution::Declared, 3);
        let heads = rules.attention(&signature, &inputs).unwrap();
        assert_eq!((heads.all, heads.heads, heads.queries, heads.keys, heads.width), (2, 2, 600, 2500, 32));
        let every = rules.covering(Coverage::Every);
        let here = answers(&signature, &every, &inputs, None).unwrap();
        let tensors = |off: f64| -> Vec<Tensor> {
            let tensor =
                |a: &RightAnswer| Tensor::new(&a.expected.shape, a.expected.data.iter().map(|v| v + off).collect());
            here.iter().map(tensor).collect()
        };
        assert!(rules.agree(&signature, &inputs, &tensors(0.0)) && !rules.agree(&signature, &inputs, &tensors(0.01)));
        assert!(!rules.agree(&signature, &inputs, &tensors(0.0).into_iter().rev().collect::<Vec<_>>()));
        let asked = AtomicUsize::new(0);
        let ask = |_: &Signature, _: &Inputs, _: Precision| {
            asked.fetch_add(1, Ordering::Relaxed);
            Ok(tensors(1e-9))
        };
        // Both outputs, with one question; a sample of rows needs nobody else.
        let there = answers(&signature, &every, &inputs, Some(&ask)).unwrap();
        assert!(there.iter().zip(&here).all(|(there, here)| {
            (there.expected.data[70] - here.expected.data[70] - 1e-9).abs() < 1e-12
                && there.bound.source == Source::Derived
        }));
        answers(&signature, &rules, &inputs, Some(&ask)).unwrap();
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        // Who fails, or gives something else, is not needed.
        let fails = |_: &Signature, _: &Inputs, _: Precision| Err(Fault::new("asking", "nobody is there"));
        assert_eq!(answers(&signature, &every, &inputs, Some(&fails)).unwrap(), here);
        let few = |_: &Signature, _: &Inputs, _: Precision| Ok(vec![Tensor::zeros(&[3])]);
        assert_eq!(answers(&signature, &every, &inputs, Some(&few)).unwrap(), here);
    }
}
