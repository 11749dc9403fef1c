//! How the exported function is called. In: a kernel file. Out: its parameters (inputs, dimensions that no shape gives, numbers), the
//! outputs it returns, and dimensions that only strides show. `[export]` of the file may name, order and default them. Refuses
//! an input dimension that nothing gives.

use std::sync::Arc;

use kiln_core::{Report, Value, Workload};
use kiln_expr::Kind;
use kiln_spec::{Argument, Dtype, ElementType, Formula, KernelSpec, Role, Target};

use crate::failure::Failure;
use crate::operation::export::names::{objection, package_name, variable};

/// What a parameter is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Given {
    /// An array; true when it is written in place.
    Tensor(bool),
    /// A dimension's value.
    Dim(Arc<str>),
    /// A number that a launch takes as it is, under its argument's name.
    Number,
}

/// One parameter.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) given: Given,
    /// What it is when a caller omits it: none for `None`, the kernel file's own value.
    pub(super) default: Option<Option<Value>>,
    /// Words about it.
    pub(super) about: String,
}

impl Parameter {
    /// Its name and that of the dimension it gives.
    fn stated(&self) -> Option<(&str, &str)> {
        match &self.given {
            Given::Dim(dim) => Some((&self.name, dim)),
            _ => None,
        }
    }
}

/// The exported function.
#[derive(Debug, Clone)]
pub(super) struct Interface {
    /// Its name, and the package's.
    pub(super) name: String,
    pub(super) parameters: Vec<Parameter>,
    /// Outputs it returns, in order.
    pub(super) returns: Vec<String>,
    /// Dimensions that only strides show, with their values among the workloads.
    pub(super) layouts: Vec<(Arc<str>, Vec<Value>)>,
    /// Dimensions with one value everywhere, which nothing else gives.
    pub(super) fixed: Vec<(Arc<str>, Value)>,
}

impl Interface {
    pub(super) fn of(spec: &KernelSpec, target: &Target) -> Result<Interface, Failure> {
        let workloads: Vec<&Workload> = spec.workloads.iter().filter(|w| w.is_for(target.kind.name())).collect();
        let inputs = || spec.arguments.iter().filter(|a| matches!(a.role, Role::In | Role::Inout));
        let shaped: Vec<&str> = inputs().flat_map(|a| &a.kind.shape).filter_map(plain).collect();
        let scalars = || spec.arguments.iter().filter(|a| a.role == Role::Scalar);
        let default = |name: &str| spec.export.defaults.iter().find(|(n, _)| **n == *name).map(|(_, v)| v.clone());
        let mut parameters: Vec<Parameter> = inputs().map(tensor).collect();
        let (mut layouts, mut fixed) = (Vec::new(), Vec::new());
        for (dim, values) in dims(&workloads) {
            if shaped.contains(&&*dim) {
                continue;
            }
            let scalar = scalars().find(|a| a.range.is_none() && a.value.as_ref().and_then(plain) == Some(&dim));
            let strided = inputs().flat_map(|a| &a.strides).any(|f| uses(f, &dim));
            let name = scalar.map_or_else(|| dim.to_string(), |a| a.name.to_string());
            let stated = default(&name).or_else(|| default(&dim));
            let about = format!("the kernel's {dim}");
            match (scalar, strided, values.as_slice()) {
                (None, true, _) => layouts.push((dim, values)),
                (None, false, [only]) if stated.is_none() => fixed.push((dim, only.clone())),
                _ => parameters.push(Parameter { name, given: Given::Dim(dim), default: stated.map(Some), about }),
            }
        }
        for argument in scalars() {
            let name = argument.name.to_string();
            let chosen = argument.range.is_some() || argument.value.is_none();
            if !chosen && !is_float(argument, target) || parameters.iter().any(|p| p.name == name) {
                continue;
            }
            let stated = default(&name).map(Some);
            let own = argument.value.as_ref().filter(|_| argument.range.is_none());
            let about = own.map_or_else(|| "a number".into(), |f| format!("None: {}", one_line(f)));
            let default = stated.or(own.is_some().then_some(None));
            parameters.push(Parameter { name, given: Given::Number, default, about });
        }
        let parameters = ordered(spec, parameters)?;
        let outputs = spec.arguments.iter().filter(|a| a.role == Role::Out).map(|a| a.name.to_string());
        let returns = if spec.export.returns.is_empty() { outputs.collect() } else { spec.export.returns.clone() };
        if let Some((name, why)) = spec.export.name.as_deref().and_then(|name| Some((name, objection(name)?))) {
            let report =
                Report::error(format!("[export] name is `{name}`")).label(format!("expected another one: {why}"));
            return Err(report.hint(format!("such as `{name}_kernel`")).into());
        }
        let name = spec.export.name.clone().unwrap_or_else(|| package_name(&spec.name));
        Ok(Interface { name, parameters, returns, layouts, fixed })
    }

    /// The function as Python has it.
    pub(super) fn signature(&self) -> String {
        format!("{}({})", self.name, self.python_parameters())
    }

    /// Parameters with their defaults.
    pub(super) fn python_parameters(&self) -> String {
        let one = |p: &Parameter| match &p.default {
            None => variable(&p.name),
            Some(None) => format!("{}=None", variable(&p.name)),
            Some(Some(value)) => format!("{}={}", variable(&p.name), python(value)),
        };
        self.parameters.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    /// Names of the parameters of a kind.
    pub(super) fn tensors(&self) -> Vec<&str> {
        self.parameters.iter().filter(|p| matches!(p.given, Given::Tensor(_))).map(|p| p.name.as_str()).collect()
    }

    /// Parameters that are dimensions: the parameter's and the dimension's name.
    pub(super) fn stated(&self) -> Vec<(&str, &str)> {
        self.parameters.iter().filter_map(Parameter::stated).collect()
    }

    pub(super) fn numbers(&self) -> Vec<&str> {
        self.parameters.iter().filter(|p| p.given == Given::Number).map(|p| p.name.as_str()).collect()
    }
}

/// Every dimension with its values, as the workloads have them.
pub(super) fn dims(workloads: &[&Workload]) -> Vec<(Arc<str>, Vec<Value>)> {
    let mut found: Vec<(Arc<str>, Vec<Value>)> = Vec::new();
    for (name, value) in workloads.iter().flat_map(|w| &w.dims) {
        match found.iter_mut().find(|(known, _)| known == name) {
            Some((_, values)) if values.contains(value) => {}
            Some((_, values)) => values.push(value.clone()),
            None => found.push((name.clone(), vec![value.clone()])),
        }
    }
    found
}

fn tensor(argument: &Argument) -> Parameter {
    let sides: Vec<String> = argument.kind.shape.iter().map(one_line).collect();
    let element = match &argument.kind.element {
        ElementType::Dtype(dtype) => dtype.name(),
        ElementType::Variable(name) => name,
    };
    let place = if argument.role == Role::Inout { ", written in place" } else { "" };
    Parameter {
        name: argument.name.to_string(),
        given: Given::Tensor(argument.role == Role::Inout),
        default: None,
        about: format!("{element}[{}]{place}", sides.join(", ")),
    }
}

/// In the file's order where it states one. What it leaves out must not be needed.
fn ordered(spec: &KernelSpec, parameters: Vec<Parameter>) -> Result<Vec<Parameter>, Failure> {
    let stated = &spec.export.parameters;
    if stated.is_empty() {
        let (needed, other) = parameters.into_iter().partition::<Vec<_>, _>(|p| p.default.is_none());
        return Ok(needed.into_iter().chain(other).collect());
    }
    let is = |p: &Parameter, name: &str| p.name == name || p.given == Given::Dim(name.into());
    if let Some(missing) = parameters.iter().find(|p| p.default.is_none() && !stated.iter().any(|name| is(p, name))) {
        return Err(Report::error(format!("[export] parameters leaves out {}", missing.name))
            .label("expected every input, and every dimension or number without a default")
            .into());
    }
    let found = |name: &String| {
        let parameter = parameters.iter().find(|p| is(p, name)).cloned();
        parameter.ok_or_else(|| {
            let report = Report::error(format!("[export] parameters names {name}, which shapes give already"));
            Failure::from(report.hint("remove it from the list"))
        })
    };
    let listed = stated.iter().map(found).collect::<Result<Vec<_>, _>>()?;
    let gap = listed.iter().skip_while(|p| p.default.is_none()).find(|p| p.default.is_none());
    match gap {
        Some(late) => Err(Report::error(format!("[export] parameters has {} behind one with a default", late.name))
            .hint("move it forward, or give it a default under [export] defaults")
            .into()),
        None => Ok(listed),
    }
}

fn is_float(argument: &Argument, target: &Target) -> bool {
    let float = |dtype: Dtype| matches!(dtype, Dtype::F64 | Dtype::F32 | Dtype::F16 | Dtype::BF16);
    match &argument.kind.element {
        ElementType::Dtype(dtype) => float(*dtype),
        ElementType::Variable(name) => {
            target.variants.iter().any(|(n, dtypes)| n == name && dtypes.iter().all(|d| float(*d)))
        }
    }
}

/// The name that an expression consists of.
pub(super) fn plain(formula: &Formula) -> Option<&str> {
    match &formula.expression.root().kind {
        Kind::Name(name) => Some(name),
        _ => None,
    }
}

pub(super) fn uses(formula: &Formula, name: &str) -> bool {
    formula.expression.names().iter().any(|(used, _)| **used == *name)
}

/// An expression on one line.
pub(super) fn one_line(formula: &Formula) -> String {
    formula.expression.text().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A value as Python writes it.
pub(super) fn python(value: &Value) -> String {
    match value {
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::Str(text) => format!("{:?}", &**text),
        other => other.to_string(),
    }
}

/// A name that C and Python can have.
pub(super) fn identifier(name: &str) -> String {
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: &str = "[kernel]\nname = \"row-scale\"\n[target.cpu]\nsource = \"k.c\"\n[tunables]\nA = [1, 2]\n\
        [[arguments]]\nname = \"x\"\ntype = \"f32[N, M]\"\nrole = \"in\"\n\
        strides = [\"M if ORDER == 'c' else 1\", \"1 if ORDER == 'c' else N\"]\n\
        [[arguments]]\nname = \"y\"\ntype = \"f32[N]\"\nrole = \"out\"\n\
        [[arguments]]\nname = \"n\"\ntype = \"i64\"\nrole = \"scalar\"\nvalue = \"N\"\n\
        [[arguments]]\nname = \"flip\"\ntype = \"i32\"\nrole = \"scalar\"\nvalue = \"FLIP\"\n\
        [[arguments]]\nname = \"scale\"\ntype = \"f32\"\nrole = \"scalar\"\nvalue = \"1 / sqrt(M)\"\n\
        [[workloads]]\nname = \"w\"\ndims = { N = 8, M = 4, FLIP = 0, ORDER = \"c\" }\n\
        [[workloads]]\nname = \"f\"\ndims = { N = 8, M = 4, FLIP = 1, ORDER = \"f\" }\n";

    fn interface(more: &str) -> Result<Interface, String> {
        let (spec, _) = kiln_spec::parse("k.toml", format!("{KERNEL}{more}").as_bytes()).unwrap();
        Interface::of(&spec, &spec.targets[0]).map_err(|failure| failure.to_string())
    }

    #[test]
    fn what_shapes_do_not_give_is_asked_for_and_layouts_are_seen_from_strides() {
        let plain = interface("").unwrap();
        assert_eq!(plain.signature(), "row_scale(x, flip, scale=None)");
        assert_eq!(plain.layouts, [("ORDER".into(), vec!["c".into(), "f".into()])]);
        assert_eq!(plain.stated(), [("flip", "FLIP")]);
        assert_eq!(plain.returns, ["y"]);
    }

    #[test]
    fn the_file_may_name_order_and_default_parameters() {
        let table =
            "[export]\nname = \"rows\"\nparameters = [\"x\", \"scale\", \"flip\"]\ndefaults = { flip = false }\n";
        assert_eq!(interface(table).unwrap().signature(), "rows(x, scale=None, flip=False)");
        let short = interface("[export]\nparameters = [\"x\"]\n").unwrap_err();
        assert!(short.contains("leaves out flip"), "{short}");
        let late = interface("[export]\nparameters = [\"x\", \"scale\", \"flip\"]\n").unwrap_err();
        assert!(late.contains("flip behind one with a default"), "{late}");
        let given = interface("[export]\nparameters = [\"x\", \"flip\", \"n\"]\n").unwrap_err();
        assert!(given.contains("names n, which shapes give already"), "{given}");
    }
}
