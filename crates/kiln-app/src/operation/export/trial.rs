//! The test of the package. In: a plan. Out: the test itself, which is the same for every kernel, and `cases.json` with the workloads,
//! the reference and the tolerances; a reference in Python is copied beside them.

use camino::Utf8PathBuf;
use kiln_core::Workload;
use kiln_spec::{Init, Origin, TargetKind};
use serde_json::{Map, Value as Json, json};

use crate::failure::Failure;
use crate::operation::export::Plan;

const TEST: &str = include_str!("runtime/test_package.py");

/// The files of the test.
pub(super) fn trial(plan: &Plan<'_>) -> Result<Vec<(Utf8PathBuf, Vec<u8>)>, Failure> {
    let name = &plan.interface.name;
    let mut files = vec![
        (format!("tests/test_{name}.py").into(), TEST.as_bytes().to_vec()),
        ("tests/cases.json".into(), format!("{:#}\n", cases(plan)).into_bytes()),
    ];
    if let Some(Origin::Python(callable)) = plan.file.spec.reference.as_ref().map(|r| &r.origin) {
        let file = plan.sources.join(&callable.file);
        let own = file.file_name().unwrap_or("reference.py");
        files.push((format!("tests/{own}").into(), fs_err::read(&file)?));
    }
    Ok(files)
}

fn cases(plan: &Plan<'_>) -> Json {
    let (spec, target, interface) = (&plan.file.spec, plan.target, &plan.interface);
    let workloads = spec.workloads.iter().filter(|w| w.is_for(target.kind.name()));
    let variants = target.dtype_combinations().into_iter().map(|words| {
        let pairs = words.split(',').filter_map(|pair| pair.split_once('='));
        Json::Object(pairs.map(|(name, dtype)| (name.to_string(), dtype.into())).collect())
    });
    let fillings = spec.arguments.iter().map(|argument| {
        let word = Init::ALL.iter().find(|(_, init)| *init == argument.init).map_or("normal", |(word, _)| word);
        (argument.name.to_string(), word.into())
    });
    let tolerance = spec.reference.iter().flat_map(|r| &r.tolerance);
    let required = interface.parameters.iter().filter(|p| p.default.is_none());
    let numbers: Vec<&str> =
        required.map(|p| p.name.as_str()).filter(|name| interface.numbers().contains(name)).collect();
    json!({
        "module": interface.name,
        "arrays": if target.kind == TargetKind::Cuda || target.on_gpu { "torch" } else { "numpy" },
        "init": fillings.collect::<Map<_, _>>(),
        "variants": variants.collect::<Vec<_>>(),
        "stated": interface.stated().iter().map(|(n, d)| (n.to_string(), (*d).into())).collect::<Map<_, _>>(),
        "numbers": numbers,
        "reference": reference(plan),
        "tolerance": tolerance.map(|(name, t)| (name.clone(), json!([t.abs, t.rel]))).collect::<Map<_, _>>(),
        "cases": workloads.map(|w| case(plan, w)).collect::<Vec<_>>(),
    })
}

fn case(plan: &Plan<'_>, workload: &Workload) -> Json {
    let dims: Map<String, Json> = workload
        .dims
        .iter()
        .map(|(name, value)| (name.to_string(), serde_json::to_value(value).unwrap_or_default()))
        .collect();
    // Work is what a reference on the processor takes long for.
    let flops = plan.file.spec.cost.flops.as_ref().and_then(|formula| {
        let value = formula.expression.eval(&Dims(workload)).ok()?;
        match value {
            kiln_core::Value::Int(v) => Some(v as f64),
            kiln_core::Value::Float(v) => Some(v),
            _ => None,
        }
    });
    json!({ "name": &*workload.name, "dims": dims, "work": flops })
}

struct Dims<'a>(&'a Workload);

impl kiln_expr::Env for Dims<'_> {
    fn value(&self, name: &str) -> Option<kiln_core::Value> {
        self.0.dim(name).cloned()
    }
}

fn reference(plan: &Plan<'_>) -> Json {
    let Some(reference) = &plan.file.spec.reference else { return json!({}) };
    match &reference.origin {
        Origin::Builtin(_) if !reference.expressions.is_empty() => {
            let texts = reference.expressions.iter().map(|(n, f)| (n.clone(), f.expression.text().into()));
            json!({ "elementwise": texts.collect::<Map<_, _>>() })
        }
        Origin::Builtin(name) => json!({ "builtin": name }),
        Origin::Python(callable) => {
            let file = camino::Utf8Path::new(&callable.file).file_name().unwrap_or("reference.py");
            json!({ "python": [file, callable.function] })
        }
        Origin::Kernel(_) => json!({}),
    }
}
