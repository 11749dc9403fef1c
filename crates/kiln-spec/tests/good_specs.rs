//! What right files become.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use kiln_core::{Severity, Use, Value};
use kiln_device::Arch;
use kiln_spec::{
    Callable, Compare, CudaCompiler, DimRoom, Dtype, ElementType, Formula, Fuzz, Init, KernelSpec, Origin, Role,
    SuiteDim, Target, TargetKind, Tolerance, parse,
};

const ATTENTION: &str = include_str!("good/attention.toml");
const EVERY_KEY: &str = include_str!("good/every_key.toml");

fn read(text: &str) -> KernelSpec {
    let (spec, warnings) = parse("kernel.toml", text.as_bytes()).unwrap_or_else(|reports| panic!("{}", reports[0]));
    assert_eq!(warnings, []);
    spec
}

fn warnings(text: &str) -> Vec<String> {
    let (_, warnings) = parse("kernel.toml", text.as_bytes()).unwrap_or_else(|reports| panic!("{}", reports[0]));
    assert!(warnings.iter().all(|w| w.severity == Severity::Warning));
    warnings.iter().map(|w| w.message.clone()).collect()
}

fn texts(formulas: &[Formula]) -> Vec<&str> {
    formulas.iter().map(|f| f.expression.text()).collect()
}

fn values(target: &Target, name: &str) -> Vec<String> {
    let tunable = target.implementations[0].tunables.iter().find(|t| &*t.name == name).unwrap();
    tunable.values.iter().map(Value::to_string).collect()
}

fn pairs(pairs: &[(std::sync::Arc<str>, Value)]) -> String {
    pairs.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(",")
}

#[test]
fn the_example_of_the_architecture_reads_as_it_says() {
    let spec = read(ATTENTION);
    assert_eq!(spec.name, "flash_attention");
    assert_eq!(spec.entry.as_deref(), Some("flash_attention_forward"));
    assert!(!spec.host);
    assert_eq!(spec.targets[0].variants, [("T".into(), vec![Dtype::F16, Dtype::BF16])]);

    let [target] = &spec.targets[..] else { panic!("one target") };
    assert_eq!(target.kind, TargetKind::Cuda);
    assert_eq!(target.implementations[0].sources, ["attention.cu"]);
    assert_eq!(target.implementations[0].compile.include, ["."]);
    assert_eq!(target.implementations[0].compile.std.as_deref(), Some("c++17"));
    assert_eq!(target.implementations[0].compile.flags, ["--use_fast_math"]);
    assert!(target.archs.is_empty() && target.implementations[0].entry.is_none() && !target.implementations[0].host);
    let names: Vec<&str> = target.implementations[0].tunables.iter().map(|t| &*t.name).collect();
    assert_eq!(names, ["BLOCK_M", "BLOCK_N", "WARPS", "STAGES"]);
    assert_eq!(values(target, "BLOCK_M"), ["16", "32", "64", "128"]);
    assert_eq!(values(target, "WARPS"), ["1", "2", "4", "8"]);
    assert_eq!(values(target, "STAGES"), ["1", "2", "3"]);
    assert_eq!(pairs(&target.implementations[0].default), "BLOCK_M=64,BLOCK_N=64,WARPS=4,STAGES=2");
    let rules: Vec<&str> = target.implementations[0].constraints.iter().map(|c| &*c.name).collect();
    assert_eq!(rules, ["rows", "smem"]);
    assert_eq!(&*target.implementations[0].derived[0].name, "smem_bytes");

    let [launch] = &target.implementations[0].launches[..] else { panic!("one launch") };
    assert_eq!(texts(&launch.grid), ["ceildiv(S, BLOCK_M)", "H", "B"]);
    assert_eq!(texts(&launch.block), ["32 * WARPS"]);
    assert_eq!(texts(launch.shared.as_slice()), ["smem_bytes"]);

    let arguments: Vec<_> = spec.arguments.iter().map(|a| (&*a.name, a.role)).collect();
    let roles = [("q", Role::In), ("k", Role::In), ("v", Role::In), ("o", Role::Out), ("scale", Role::Scalar)];
    assert_eq!(arguments, roles);
    let q = &spec.arguments[0];
    assert_eq!(q.kind.element, ElementType::Variable("T".into()));
    assert_eq!(texts(&q.kind.shape), ["B", "H", "S", "D"]);
    assert_eq!(q.init, Init::Normal);
    let scale = &spec.arguments[4];
    assert_eq!(scale.kind.element, ElementType::Dtype(Dtype::F32));
    assert_eq!(texts(scale.value.as_slice()), ["1 / sqrt(D)"]);

    assert_eq!(texts(spec.cost.flops.as_slice()), ["4 * B * H * S * S * D"]);
    assert_eq!(texts(spec.cost.bytes.as_slice()), ["8 * B * H * S * D"]);
    assert_eq!(pairs(&spec.workloads[0].dims), "B=1,H=1,S=128,D=64");
    assert_eq!((spec.workloads[0].use_for, spec.workloads[0].weight), (Use::Tune, 1.0));
    assert_eq!((spec.objective.per_workload, spec.objective.target_speedup), (false, 1.10));
    let reference = spec.reference.unwrap();
    assert_eq!(reference.origin, Origin::Builtin("attention".into()));
    assert!(reference.deterministic && reference.tolerance.is_empty());
    let baselines: Vec<_> = spec.targets[0].baselines.iter().map(|b| (&*b.name, &*b.callable.function)).collect();
    assert_eq!(baselines, [("sdpa", "sdpa"), ("flash", "sdpa_flash")]);
    assert!(!spec.gates.spills && spec.gates.occupancy.is_none());
}

#[test]
fn spans_of_expressions_hold_their_text() {
    for text in [ATTENTION, EVERY_KEY] {
        let spec = read(text);
        let arguments = spec.arguments.iter().flat_map(|a| a.kind.shape.iter().chain(&a.strides));
        let rules = spec.targets.iter().flat_map(|t| t.implementations[0].constraints.iter().map(|c| &c.formula));
        let derived = spec.targets.iter().flat_map(|t| t.implementations[0].derived.iter().map(|d| &d.formula));
        for formula in arguments.chain(rules).chain(derived) {
            assert!(formula.verbatim);
            assert_eq!(&text[formula.span.clone()], formula.expression.text());
        }
    }
}

#[test]
fn the_smallest_file_reads() {
    let spec = read("kernel.name = 'k'\ntunables.A = [1]\ntarget.cuda = {}\n");
    assert_eq!((spec.name.as_str(), spec.targets.len()), ("k", 1));
    assert!(spec.workloads.is_empty() && spec.arguments.is_empty() && spec.reference.is_none());
}

#[test]
fn every_key_is_read() {
    let spec = read(EVERY_KEY);
    assert_eq!(spec.description.as_deref(), Some("Every key of the schema once."));
    assert_eq!(spec.targets[0].variants.len(), 2);
    let [cuda, cpu, python] = &spec.targets[..] else { panic!("three targets") };
    // A target's dtypes stand in the place of the shared ones, its baselines before them.
    assert_eq!(cpu.variants, [("T".into(), vec![Dtype::F32]), ("ACC".into(), vec![Dtype::F32])]);
    assert_eq!(cpu.baselines[0].callable.file, "naive.c");
    assert_eq!(cpu.baselines.len(), cuda.baselines.len() + 1);
    assert!(spec.workloads[0].is_for("python") && !spec.workloads[1].is_for("python"));

    assert_eq!(
        (cuda.implementations[0].entry.as_deref(), cuda.implementations[0].host, cpu.implementations[0].host),
        (Some("run_cuda"), true, false)
    );
    assert_eq!(cuda.implementations[0].sources, ["every.cu", "more.cu"]);
    assert_eq!(cuda.archs, [Arch::SM_80, Arch::SM_90A]);
    assert_eq!(cuda.implementations[0].compile.compiler, Some(CudaCompiler::Nvcc));
    assert!(cuda.on_gpu && !cpu.on_gpu && python.on_gpu);
    assert_eq!(python.implementations[0].entry.as_deref(), Some("every.py:run"));
    assert_eq!(
        (&cuda.implementations[0].kernels[..], &cpu.implementations[0].kernels[..]),
        (&["run_cuda_main".into(), "reduce".into()][..], &[][..])
    );
    assert_eq!(python.implementations[0].kernels, ["every_kernel"]);
    // A target's values stand in the place of the shared ones.
    let names: Vec<&str> = cuda.implementations[0].tunables.iter().map(|t| &*t.name).collect();
    assert_eq!(names, ["BLOCK", "STAGES", "SCALE", "FAST", "SWIZZLE", "WARPS"]);
    assert_eq!(values(cuda, "BLOCK"), ["64"]);
    assert_eq!(values(cpu, "BLOCK"), ["32", "64", "128"]);
    assert_eq!(values(cuda, "STAGES"), ["1", "4", "7"]);
    assert_eq!(values(cuda, "SCALE"), ["0.5", "1.0"]);
    assert_eq!(pairs(&cuda.implementations[0].default), "BLOCK=64,STAGES=1,SCALE=1.0,FAST=true,SWIZZLE=xor,WARPS=8");
    assert_eq!(pairs(&cpu.implementations[0].default), "BLOCK=64,STAGES=4,SCALE=1.0,FAST=true,SWIZZLE=xor");
    let derived: Vec<&str> = cuda.implementations[0].derived.iter().map(|d| &*d.name).collect();
    assert_eq!(derived, ["step", "tiles", "threads"]);
    let rules: Vec<&str> = cuda.implementations[0].constraints.iter().map(|c| &*c.name).collect();
    assert_eq!(rules, ["small", "typed", "threads"]);
    assert_eq!(cuda.implementations[0].constraints[1].hint.as_deref(), Some("two bytes an element"));
    assert_eq!(cpu.implementations[0].constraints.len(), 2);

    let [first, second] = &cuda.implementations[0].launches[..] else { panic!("two launches") };
    assert_eq!((first.entry.as_deref(), first.cooperative), (Some("first"), true));
    assert_eq!(texts(&first.grid), ["tiles"]);
    assert_eq!(texts(&first.cluster), ["2", "1"]);
    assert_eq!(first.zero, ["partial"]);
    assert_eq!(texts(&second.grid), ["tiles", "1", "1"]);
    assert!(second.shared.is_none() && second.cluster.is_empty() && !second.cooperative);

    let argument = |name: &str| spec.arguments.iter().find(|a| &*a.name == name).unwrap();
    let x = argument("x");
    assert_eq!((x.init, x.alignment, x.layout.as_deref()), (Init::Uniform, Some(16), Some("row")));
    assert_eq!(texts(&x.strides), ["64 * 2", "2"]);
    assert_eq!(texts(&argument("y").kind.shape), ["max(N, 1)"]);
    assert_eq!(texts(&argument("partial").kind.shape), ["tiles", "STAGES"]);
    let map = argument("map").tensormap.as_ref().unwrap();
    assert_eq!((map.tensor.as_str(), map.swizzle.as_str(), map.promotion.as_str()), ("x", "128B", "256B"));
    assert_eq!(texts(&map.box_shape), ["BLOCK", "64"]);
    assert_eq!(texts(map.when.as_slice()), ["N % 8 == 0"]);
    assert_eq!(texts(&argument("map").kind.shape), ["N", "64"]);
    let weights = argument("weights");
    assert_eq!((weights.role, weights.symbol.as_deref()), (Role::Constant, Some("filter::weights")));
    assert_eq!(texts(&weights.kind.shape), ["16", "2"]);
    let ends = |name: &str| -> Vec<[Option<String>; 2]> {
        let text = |end: &Option<Formula>| end.as_ref().map(|f| f.expression.text().trim().to_string());
        argument(name).written.iter().map(|slice| [text(&slice.from), text(&slice.to)]).collect()
    };
    assert_eq!(ends("inside"), [[Some("1".into()), Some("N - 1".into())], [None, None]]);
    assert_eq!((ends("sums"), argument("sums").compare), (vec![[None, Some("STAGES".into())]], Compare::Sum));
    let defines: Vec<(&str, &str)> =
        cuda.implementations[0].compile.defines.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    assert_eq!(defines, [("ON", "1"), ("TILE", "(16 * {BLOCK})"), ("WIDTH", "4096")]);
    let scalars: Vec<&str> = ["n", "flag", "alpha"].iter().flat_map(|n| texts(argument(n).value.as_slice())).collect();
    assert_eq!(scalars, ["N", "True", "-1.5"]);

    assert_eq!(texts(spec.cost.bytes.as_slice()), ["1e6"]);
    assert_eq!(pairs(&spec.workloads[0].dims), "N=64,causal=true,mode=fwd,ratio=0.5");
    assert_eq!((spec.workloads[1].use_for, spec.workloads[1].weight), (Use::Holdout, 2.5));
    assert_eq!((spec.objective.per_workload, spec.objective.target_speedup), (true, 1.5));
    let reference = spec.reference.as_ref().unwrap();
    let callable = Callable { file: "reference.py".into(), function: "Every.run".into() };
    assert_eq!(reference.origin, Origin::Python(callable));
    assert_eq!(reference.tolerance[0], ("out".into(), Tolerance { abs: 1e-3, rel: 1e-2 }));
    assert_eq!(reference.tolerance[1], ("y".into(), Tolerance { abs: 0.0, rel: 1e-3 }));
    assert!(!reference.deterministic);
    assert_eq!(spec.targets[0].baselines[1].callable.file, "base/baseline.so");
    assert!(spec.gates.spills);
    let asked = spec.gates.occupancy.as_ref().unwrap();
    assert_eq!((asked.least.expression.text(), asked.refuses), ("0.25", true));
    let Fuzz { dims, scalars, valid, suites } = &spec.fuzz;
    assert_eq!(dims[0], ("N".into(), DimRoom::Range(1, 4096)));
    assert_eq!(dims[1].1, DimRoom::Values(vec![Value::Bool(true), Value::Bool(false)]));
    assert_eq!(
        (&*scalars[0].0, scalars[0].1.low.expression.text(), scalars[0].1.high.expression.text()),
        ("alpha", "-2", "1 / N")
    );
    assert_eq!(texts(valid.as_slice()), ["N % 2 == 0"]);
    assert_eq!((suites[0].name.as_str(), suites[0].shapes.len()), ("edges", 2));
    assert_eq!(suites[0].shapes[0][0], ("N".into(), SuiteDim::Each(vec![Value::Int(64), Value::Int(66)])));
    let swept = |place: usize| spec.sweep.dims[place].clone();
    assert_eq!(swept(0), ("N".into(), SuiteDim::Each([64, 128, 256, 512].map(Value::Int).to_vec())));
    assert_eq!(swept(1).1, SuiteDim::Each(vec![Value::Bool(true), Value::Bool(false)]));
    assert_eq!(swept(2), ("mode".into(), SuiteDim::Each(vec!["fwd".into()])));
}

#[test]
fn a_grid_is_read_or_explained() {
    let with = |dims: &str| format!("{ATTENTION}[sweep]\ndims = {dims}\n");
    let spec = read(&with("{ S = \"64..256\", H = \"B\" }"));
    assert_eq!(spec.sweep.dims[1], ("H".into(), SuiteDim::Like("B".into())));
    for (dims, expected) in [
        ("{ S = \"8..4\" }", "expected the lowest first"),
        ("{ SS = [1] }", "expected one of"),
        ("{ S = [] }", "expected at least one value"),
        ("{ S = \"H\", H = \"B\" }", "expected a dimension with values of its own"),
        ("{ S = { from = 1 } }", "expected"),
    ] {
        let reports = parse("kernel.toml", with(dims).as_bytes()).unwrap_err();
        assert!(reports[0].to_string().contains(expected), "{dims}: {}", reports[0]);
    }
}

#[test]
fn other_ways_to_write_it() {
    let windows = ATTENTION.replace('\n', "\r\n");
    assert_eq!(read(&windows).arguments.len(), 5);
    assert_eq!(read(&format!("\u{feff}{ATTENTION}")).name, "flash_attention");
    let kernel = ATTENTION.replace("builtin = \"attention\"", "kernel = \"../other\"");
    assert_eq!(read(&kernel).reference.unwrap().origin, Origin::Kernel("../other".into()));
    let soft = format!("{ATTENTION}[gates]\nspills = \"warn\"\noccupancy = \"warn\"\n");
    assert!(read(&soft).gates.occupancy.is_none());
    for (text, least, refuses) in [
        ("\"0.5 if BLOCK_M > 64 else 0.25\"", "0.5 if BLOCK_M > 64 else 0.25", true),
        ("{ least = 0.5, gate = \"warn\" }", "0.5", false),
        ("{ least = \"8 / device.warps_per_sm\" }", "8 / device.warps_per_sm", true),
    ] {
        let spec = read(&format!("{ATTENTION}[gates]\noccupancy = {text}\n"));
        let asked = spec.gates.occupancy.unwrap();
        assert_eq!((asked.least.expression.text(), asked.refuses), (least, refuses), "{text}");
    }
    let wide = "kernel.name = 'k'\ntarget.cuda = {}\n[tunables]\n\
                A = { from = -9223372036854775808, to = 9223372036854775807, step = 9223372036854775807 }\n\
                B = { from = 1, to = 9223372036854775807, times = 4294967296 }\n";
    let spec = read(wide);
    let ends = ["-9223372036854775808", "-1", "9223372036854775806"];
    assert_eq!(values(&spec.targets[0], "A"), ends);
    assert_eq!(values(&spec.targets[0], "B"), ["1", "4294967296"]);
}

#[test]
fn what_is_probably_not_meant_is_a_warning() {
    let partial = ATTENTION.replace("BLOCK_N = 64\nWARPS   = 4\n", "");
    assert_eq!(warnings(&partial), ["the default leaves out BLOCK_N, WARPS"]);
    let small = "kernel.name = 'k'\ntunables.A = [1]\ntarget.cuda = {}\n";
    let idle = format!("{small}[[arguments]]\nname = 'x'\ntype = 'f32[4]'\nrole = 'in'\n");
    assert_eq!(warnings(&idle), ["kernel.toml has arguments but no workloads"]);
    let forgotten = format!("{small}constraints.even = 'A % 2'\n");
    assert_eq!(warnings(&forgotten), ["constraints.even is an integer, not a condition"]);
}

/// The reference page must be true: its example reads, and it names every key.
#[test]
fn the_documentation_holds() {
    let page = include_str!("../../../docs/kernel-toml.md");
    let example = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    read(example);
    for line in EVERY_KEY.lines().filter(|l| l.contains(" = ") && !l.starts_with(' ')) {
        let key = line.split(" = ").next().unwrap();
        let chosen = key.chars().all(|c| c.is_ascii_uppercase())
            || ["small", "typed", "tiles", "step", "threads", "torch", "c", "naive"].contains(&key);
        assert!(chosen || page.contains(&format!("`{key}`")), "{key} is not documented");
    }
}
