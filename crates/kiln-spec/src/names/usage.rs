//! One expression against the names it may use. In: an expression, where it stands and what is wanted of it. Out: its
//! type and every mistake: names that are not defined or not allowed there, operands and results of the wrong kind.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use kiln_core::{Report, Span, nearest};
use kiln_device::Arch;
use kiln_expr::{Expr, Kind, Type};

use crate::model::{Dtype, Formula, TargetKind};
use crate::names::constants::device_limit;
use crate::names::namespace::{NameKind, Namespace};
use crate::reading::formula;
use crate::reading::log::{Finding, Log};

/// What the names of an expression may stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Anything: it belongs to how the work is done.
    Configuration,
    /// Dimensions and variants: it belongs to what is to be done.
    Problem,
    /// Dimensions, variants and scalar arguments: it belongs to one call.
    Call,
}

/// What kind of result is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wants {
    /// True or false.
    Condition,
    /// An integer.
    Count,
    /// A number.
    Number,
    /// What can be passed as this dtype; none when it depends on the variant.
    Scalar(Option<Dtype>),
    /// Anything.
    Value,
}

/// An expression and what it is for.
pub(crate) struct Site<'a> {
    pub(crate) formula: &'a Formula,
    /// What messages call it: `constraints.rows`.
    pub(crate) path: String,
    pub(crate) reach: Reach,
    pub(crate) wants: Wants,
    /// The table it stands in when a target may have that table too.
    pub(crate) table: Option<&'static str>,
}

/// Each dimension's first use: what uses it and where.
pub(crate) type Uses = HashMap<Arc<str>, (String, usize)>;

/// What names are not, but could be mistaken for.
pub(crate) struct Surroundings<'a> {
    pub(crate) log: &'a Log,
    pub(crate) arguments: HashSet<&'a str>,
    /// Those that are passed by value.
    pub(crate) scalars: HashSet<&'a str>,
    pub(crate) has_workloads: bool,
}

impl Surroundings<'_> {
    /// Judges one expression.
    pub(crate) fn judge(&self, site: &Site, names: &Namespace, uses: &mut Uses) -> (Type, Vec<Finding>) {
        let mut findings = Vec::new();
        let formula = site.formula;
        let mut push = |part: Span, report| findings.push(Finding { span: Some(formula.part(part)), report });
        let mut seen = HashSet::new();
        each_name(formula.expression.root(), &mut |name, part| {
            if !seen.insert(name.clone()) {
                return;
            }
            if let Some((NameKind::Dimension, _)) = names.get(name) {
                let at = formula.span.start;
                let first = uses.entry(name.clone()).or_insert((site.path.clone(), at));
                if at < first.1 {
                    *first = (site.path.clone(), at);
                }
            }
            if let Some(report) = self.name(name, site, names) {
                push(part, report);
            }
        });
        match formula.expression.check(names) {
            Err(errors) => {
                errors.iter().for_each(|e| push(e.span.clone(), formula::report(e)));
                (Type::Any, findings)
            }
            Ok(of) => {
                if let Some(report) = result(site, of) {
                    push(0..formula.expression.text().len(), report);
                }
                (of, findings)
            }
        }
    }

    /// What is wrong with a name there, if anything is.
    fn name(&self, name: &str, site: &Site, names: &Namespace) -> Option<Report> {
        if let Some(limit) = device_limit(name) {
            return device(limit, site, names.target);
        }
        match names.get(name) {
            Some((kind @ (NameKind::Tunable | NameKind::Derived), _)) if site.reach != Reach::Configuration => {
                Some(forbidden(name, kind.words(), site))
            }
            Some(_) => None,
            None if names.incomplete => None,
            None if site.reach == Reach::Call && self.scalars.contains(name) => None,
            None => Some(self.undefined(name, site, names)),
        }
    }

    fn undefined(&self, name: &str, site: &Site, names: &Namespace) -> Report {
        let all = &[NameKind::Tunable, NameKind::Derived, NameKind::Dimension, NameKind::Variant];
        let (kinds, expected): (&[NameKind], _) = match (site.reach, names.target) {
            (Reach::Problem, _) => (&all[2..], "expected a dimension or a variant"),
            (Reach::Call, _) => (&all[2..], "expected a dimension, a variant or a scalar argument"),
            (_, TargetKind::Cuda) => {
                (all, "expected a tunable, a derived value, a dimension, a variant or device.NAME")
            }
            _ => (all, "expected a tunable, a derived value, a dimension or a variant"),
        };
        let candidates = std::iter::once_with(|| names.names_of(kinds)).flatten();
        let hint = self.log.did_you_mean(name, candidates).or_else(|| {
            if self.arguments.contains(name) {
                Some(format!("{name} is an argument, and expressions cannot read arguments"))
            } else if !self.has_workloads {
                Some("dimensions are defined by [[workloads]]: dims = { ... }".into())
            } else {
                None
            }
        });
        Report::error(format!("{name} is not defined")).label(expected).maybe_hint(hint)
    }
}

/// What is wrong with `device.LIMIT` there, if anything is.
fn device(limit: &str, site: &Site, target: TargetKind) -> Option<Report> {
    let name = format!("device.{limit}");
    if site.reach != Reach::Configuration {
        return Some(forbidden(&name, "a limit of the device", site));
    }
    if target != TargetKind::Cuda {
        let report = Report::error(format!("{name} has no meaning for target.{}", target.name()));
        return Some(report.label("only a cuda target has a device"));
    }
    let known = Arch::names();
    (!known.contains(&limit)).then(|| {
        // The list is too long for beside a caret; what begins alike is what was meant.
        let alike: Vec<&str> = known.iter().copied().filter(|n| !limit.is_empty() && n.starts_with(limit)).collect();
        let near = match alike.as_slice() {
            [_, _, ..] => Some(format!("did you mean one of device.{}?", alike.join(", device."))),
            _ => nearest(limit, known.iter().copied()).map(|near| format!("did you mean device.{near}?")),
        };
        Report::error(format!("{name} is not defined"))
            .label("expected a limit of the device")
            .hint(near.unwrap_or_else(|| format!("the limits are {}", known.join(", "))))
    })
}

fn forbidden(name: &str, what: &str, site: &Site) -> Report {
    Report::error(format!("{} depends on {name}, {what}", site.path))
        .label("expected only dimensions and variants")
        .hint("the work must not depend on how it is done")
}

/// What is wrong with a result of this type, if anything is.
fn result(site: &Site, of: Type) -> Option<Report> {
    let path = &site.path;
    let wrong = |expected: &str| Some(Report::error(format!("{path} is {of}")).label(format!("expected {expected}")));
    let whole = |expected: &str| {
        let divides = site.formula.expression.text().contains('/');
        let hint = divides.then(|| "`/` makes a float; `//` and ceildiv divide whole numbers".to_owned());
        wrong(expected).map(|report| report.maybe_hint(hint))
    };
    match (site.wants, of) {
        (Wants::Value, _) | (_, Type::Any) => None,
        (Wants::Condition, Type::Bool) => None,
        (Wants::Condition, Type::Str) => wrong("a condition"),
        // Allowed, since Python allows it, but `M % 16` without `== 0` keeps just the wrong configurations.
        (Wants::Condition, _) => Some(
            Report::warning(format!("{path} is {of}, not a condition"))
                .label("holds whenever it is not 0")
                .hint("compare it with something, as in `... == 0`"),
        ),
        (Wants::Count, Type::Int) | (Wants::Number, Type::Int | Type::Float) => None,
        (Wants::Count, _) => whole("an integer"),
        (Wants::Number, _) => wrong("a number"),
        (Wants::Scalar(_), Type::Str) => wrong("a number or a boolean"),
        (Wants::Scalar(Some(dtype)), Type::Float) if !dtype.name().contains('f') => {
            whole(&format!("an integer, since its type is {}", dtype.name()))
        }
        (Wants::Scalar(_), _) => None,
    }
}

/// Calls `visit` for every name, left to right.
pub(crate) fn each_name(expr: &Expr, visit: &mut impl FnMut(&Arc<str>, Span)) {
    if let Kind::Name(name) = &expr.kind {
        visit(name, expr.span.clone());
    }
    for child in expr.children() {
        each_name(child, visit);
    }
}
