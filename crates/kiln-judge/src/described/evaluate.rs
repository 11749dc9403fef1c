//! The numbers of a kernel file under a workload. In: formulas and the names' values. Out: sizes and scalars. Refuses what
//! cannot be evaluated, what is no size, and what a type cannot hold, each at its place in the file.

use kiln_core::{Config, Report, Value, Workload};
use kiln_spec::{Argument, Dtype, Formula, Resolver, Selection, ValueRange};

use crate::drawn::element::{is_float, round_to};
use crate::drawn::interval::Interval;
use crate::drawn::whole::extremes;

/// More than any machine holds: beyond it a size is a mistake.
const MOST_BYTES: usize = 1 << 46;
/// Integers beyond this are not all doubles.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The numbers of a selection under a workload and, where there is one, a configuration.
pub(crate) struct Quantities<'a> {
    resolver: Resolver<'a>,
    config: Option<&'a Config>,
}

impl<'a> Quantities<'a> {
    pub(crate) fn new(
        selection: &'a Selection<'a>,
        workload: Option<&Workload>,
        config: Option<&'a Config>,
    ) -> Quantities<'a> {
        Quantities { resolver: Resolver::new(selection, workload, config), config }
    }

    /// Whether the kernels at hand take an argument: those of the configuration, or any where there is none.
    pub(crate) fn takes(&self, argument: &Argument) -> bool {
        let selection = self.selection();
        self.config.map_or_else(|| selection.takes(&argument.name), |config| selection.passes(config, &argument.name))
    }

    pub(crate) fn selection(&self) -> &'a Selection<'a> {
        self.resolver.selection()
    }

    /// Sizes, one for each formula.
    pub(crate) fn sizes(&self, formulas: &[Formula], what: &str) -> Result<Vec<usize>, Report> {
        formulas.iter().map(|formula| self.size(formula, what)).collect()
    }

    fn size(&self, formula: &Formula, what: &str) -> Result<usize, Report> {
        let value = self.resolver.evaluate(formula, what)?;
        let size = match &value {
            Value::Int(size) => usize::try_from(*size).ok(),
            _ => None,
        };
        size.ok_or_else(|| {
            let report = self.at(Report::error(format!("{what} is {value}")), formula);
            report.label("expected an integer of at least 0")
        })
    }

    /// Whether a condition holds: true, or a number that is not 0.
    pub(crate) fn truth(&self, formula: &Formula, what: &str) -> Result<bool, Report> {
        Ok(match self.resolver.evaluate(formula, what)? {
            Value::Bool(truth) => truth,
            Value::Int(number) => number != 0,
            Value::Float(number) => number != 0.0,
            Value::Str(_) => false,
        })
    }

    /// A share, from 0 to 1.
    pub(crate) fn share(&self, formula: &Formula, what: &str) -> Result<f64, Report> {
        let value = self.resolver.evaluate(formula, what)?;
        let share = match &value {
            Value::Int(v) => Some(*v as f64),
            Value::Float(v) => Some(*v),
            Value::Bool(_) | Value::Str(_) => None,
        };
        share.filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| {
            let report = self.at(Report::error(format!("{what} is {value}")), formula);
            report.label("expected a number from 0 to 1")
        })
    }

    /// A scalar as its type holds it.
    pub(crate) fn scalar(&self, formula: &Formula, dtype: Dtype, name: &str) -> Result<f64, Report> {
        let value = self.resolver.evaluate(formula, &format!("the value of {name}"))?;
        let number = match &value {
            Value::Int(v) => *v as f64,
            Value::Float(v) => *v,
            Value::Bool(v) => f64::from(u8::from(*v)),
            Value::Str(_) => f64::NAN,
        };
        let held = round_to(dtype, number);
        // Integers must arrive as they are; floats may be rounded, but not away.
        let whole = if let Value::Int(v) = value { number as i128 == i128::from(v) } else { number.abs() < EXACT };
        let report = || self.at(Report::error(format!("the value of {name} is {value}")), formula);
        let label = match (is_float(dtype), held == number) {
            (true, _) if held.is_finite() => return Ok(held),
            (false, true) if whole => return Ok(held),
            // Scalars go through doubles, which hold all integers up to there, and few beyond.
            (false, true) => "expected an integer that a double can hold: any up to 2 ** 53".to_string(),
            _ => format!("expected a number that {} can hold", dtype.name()),
        };
        Err(report().label(label))
    }

    /// What numbers are drawn from, as their type holds its ends.
    pub(crate) fn interval(&self, range: &ValueRange, dtype: Dtype, name: &str) -> Result<Interval, Report> {
        let end = |formula: &Formula| {
            let value = self.resolver.evaluate(formula, &format!("the range of {name}"))?;
            let fits = match (&value, extremes(dtype)) {
                (Value::Int(v), Some((low, high))) => (low..=high).contains(&i128::from(*v)),
                (Value::Int(v), None) => round_to(dtype, *v as f64).is_finite(),
                (Value::Float(v), None) => round_to(dtype, *v).is_finite(),
                (Value::Bool(_), _) => true,
                _ => false,
            };
            let report = || self.at(Report::error(format!("the range of {name} has the end {value}")), formula);
            match value {
                _ if !fits => Err(report().label(format!("expected a number that {} can hold", dtype.name()))),
                Value::Float(v) => Ok((v as i128, v)),
                Value::Int(v) => Ok((v.into(), v as f64)),
                Value::Bool(v) => Ok((v.into(), f64::from(u8::from(v)))),
                Value::Str(_) => Err(report().label("expected a number")),
            }
        };
        let (low, high) = (end(&range.low)?, end(&range.high)?);
        if low.1 > high.1 || low.0 > high.0 {
            let report = Report::error(format!("the range of {name} goes from {} to {}", low.1, high.1));
            return Err(self.at(report, &range.high).label("expected no less than the lowest"));
        }
        Ok(if is_float(dtype) { Interval::Real(low.1, high.1) } else { Interval::Whole(low.0, high.0) })
    }

    /// Refuses a tensor that no memory holds.
    pub(crate) fn fits_memory(
        &self,
        argument: &Argument,
        shape: &[usize],
        strides: &[usize],
        dtype: Dtype,
    ) -> Result<(), Report> {
        let bytes = dtype.bytes() as usize;
        let elements = shape.iter().try_fold(bytes, |product, size| product.checked_mul((*size).max(1)));
        let extent = shape.iter().zip(strides).try_fold(bytes, |sum, (size, stride)| {
            sum.checked_add(size.saturating_sub(1).checked_mul(*stride)?.checked_mul(bytes)?)
        });
        match (elements, extent) {
            (Some(a), Some(b)) if a <= MOST_BYTES && b <= MOST_BYTES => Ok(()),
            _ => {
                let report = Report::error(format!("{} is larger than any memory", argument.name));
                Err(self.at_first(report, &argument.kind.shape).label(format!("its shape is {shape:?}")))
            }
        }
    }

    fn at(&self, report: Report, formula: &Formula) -> Report {
        report.at(formula.place(&self.selection().spec.source, 0..formula.expression.text().len()))
    }

    /// A report at the first of some formulas, if there is one.
    pub(crate) fn at_first(&self, report: Report, formulas: &[Formula]) -> Report {
        match formulas.first() {
            Some(formula) => self.at(report, formula),
            None => report,
        }
    }
}
