//! The repository's CPU kernels, through every stage there is: spec, space, build, worker, judge. Configurations are drawn
//! from each kernel's own space and run on every workload small enough for a double-precision reference.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;
use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_build::{Artifact, Cache, Compiler, Limits as BuildLimits, Passing, Request, SHIM_SYMBOL, shim};
use kiln_core::{Config, Outcome, Value, Workload};
use kiln_judge::{Allowed, Builtin, Filling, Memory, Piece, Tensor, compare, decode, encode, fill};
use kiln_run::{Answer, Arena, Ask, Limits, Worker};
use kiln_space::{Constants, Problem, Space};
use kiln_spec::{Argument, Choice, Dtype, ElementType, Origin, Role, Selection};

/// Configurations tried of each kernel, its default among them.
const DRAWN: usize = 6;

fn kernel_folder(name: &str) -> Utf8PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels").join(name);
    Utf8PathBuf::from_path_buf(root.canonicalize().unwrap()).unwrap()
}

fn check_kernel(name: &str) {
    let folder = kernel_folder(name);
    let bytes = std::fs::read(folder.join("kernel.toml")).unwrap();
    let (spec, _) = kiln_spec::parse("kernel.toml", &bytes).unwrap();
    let choice = Choice { target: Some("cpu"), ..Choice::default() };
    let selection = spec.select(choice).unwrap();
    let problem = Problem::from_selection(&selection).unwrap();
    let space = Space::build(&problem).unwrap();
    let default = Config::new(selection.target.default.clone());
    assert!(space.locate(&default).is_some_and(|point| space.contains(&point)), "{name}: the default is not valid");
    let mut configs = vec![default];
    configs.extend(space.sample(DRAWN - 1, 11).iter().map(|point| space.config(point)));
    let cache = tempfile::tempdir().unwrap();
    let cache = Cache::at(Utf8Path::from_path(cache.path()).unwrap());
    for config in &configs {
        let artifact = build(&cache, &folder, &selection, config);
        for workload in spec.workloads.iter().filter(|w| w.is_for("cpu")) {
            check_call(&selection, workload, &artifact, &format!("{name} {config} on {}", workload.name));
        }
    }
}

fn build(cache: &Cache, folder: &Utf8Path, selection: &Selection<'_>, config: &Config) -> Artifact {
    let passing: Vec<Passing> = selection
        .spec
        .arguments
        .iter()
        .map(|a| match a.role {
            Role::Scalar => Passing::Value(c_type(dtype(selection, a))),
            _ => Passing::Pointer,
        })
        .collect();
    let entry = selection.target.entry.as_ref().or(selection.spec.entry.as_ref()).unwrap();
    let request = Request {
        sources: selection.target.sources.iter().map(|s| folder.join(s)).collect(),
        includes: vec![],
        std: selection.target.compile.std.clone(),
        flags: selection.target.compile.flags.clone(),
        config: config.clone(),
        shim: shim(entry, &passing),
    };
    let compiler = Compiler::named(vec!["cc".into()]).unwrap();
    match cache.build(&compiler, &request, BuildLimits::default(), &|_| {}).unwrap() {
        Outcome::Passed(artifact) => artifact,
        Outcome::Refused(refusal) => panic!("{config}: {refusal:?}"),
    }
}

/// One call in a worker of its own, judged.
fn check_call(selection: &Selection<'_>, workload: &Workload, artifact: &Artifact, what: &str) {
    let constants =
        Constants { workload: workload.name.to_string(), values: selection.constants(Some(workload)), arch: None };
    let value = |name: &str| constants.get(name);
    let arguments = &selection.spec.arguments;
    let shapes: Vec<Vec<usize>> = arguments
        .iter()
        .map(|a| a.kind.shape.iter().map(|f| whole(&f.expression.eval(&value).unwrap())).collect())
        .collect();
    let sizes: Vec<usize> = arguments
        .iter()
        .zip(&shapes)
        .map(|(a, shape)| shape.iter().product::<usize>() * dtype(selection, a).bytes() as usize)
        .collect();
    let (mut arena, regions) = Arena::new(&sizes).unwrap();
    let mut memory = Memory::default();
    let mut inputs: Vec<Tensor> = Vec::new();
    let mut scale = None;
    for (i, (argument, region)) in arguments.iter().zip(&regions).enumerate() {
        let dtype = dtype(selection, argument);
        let values = match argument.role {
            Role::In => fill(Filling::AsDeclared(argument.init), dtype, shapes[i].iter().product(), 100 + i as u64),
            Role::Scalar => {
                let number = argument.value.as_ref().unwrap().expression.eval(&value).unwrap();
                if &*argument.name == "scale" {
                    scale = Some(number_of(&number));
                }
                vec![number_of(&number)]
            }
            _ => vec![0.0; shapes[i].iter().product()],
        };
        arena.bytes_mut()[region.clone()].copy_from_slice(&encode(dtype, &values));
        let piece = match argument.role {
            Role::Out => Piece::Output(dtype.bytes() as usize),
            _ => Piece::Input,
        };
        memory.add(&argument.name, region.clone(), piece);
        if argument.role == Role::In {
            inputs.push(Tensor { shape: shapes[i].clone(), data: values });
        }
    }
    memory.poison(arena.bytes_mut());
    let before = arena.bytes().to_vec();
    call(artifact, &arena, regions.iter().map(|r| r.start).collect(), what);
    let left = memory.judge(&before, arena.bytes());
    assert_eq!(left, Outcome::Passed(()), "{what}");

    let Some(Origin::Builtin(operation)) = selection.spec.reference.as_ref().map(|r| r.origin.clone()) else {
        panic!("{what}: no builtin reference")
    };
    let right = Builtin::named(&operation).unwrap().compute(&inputs.iter().collect::<Vec<_>>(), scale).unwrap();
    let out = arguments.iter().position(|a| a.role == Role::Out).unwrap();
    let kind = dtype(selection, &arguments[out]);
    let found = decode(kind, &arena.bytes()[regions[out].clone()]);
    let reference = selection.spec.reference.as_ref().unwrap();
    let stated = reference.tolerance.iter().find(|(name, _)| **name == *arguments[out].name).map(|(_, t)| *t);
    let allowed = stated.map_or(Allowed::by_default(kind), Allowed::from);
    match compare(&arguments[out].name, &found, &right, allowed) {
        Outcome::Passed(_) => {}
        Outcome::Refused(refusal) => panic!("{what}: {refusal:?}"),
    }
    // A kernel that does nothing clever must not pass: zeros are never right here.
    let zeros = compare(&arguments[out].name, &vec![0.0; found.len()], &right, allowed);
    assert!(matches!(zeros, Outcome::Refused(_)), "{what}: zeros would pass");
}

fn call(artifact: &Artifact, arena: &Arena, arguments: Vec<usize>, what: &str) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kiln"));
    command.args(["worker", "cpu"]);
    let mut worker = Worker::start(command, Limits::default()).unwrap();
    let load = Ask::Load { library: artifact.library.to_string(), symbol: SHIM_SYMBOL.into() };
    for ask in [load, Ask::Map { arena: arena.path(), arguments }, Ask::Call] {
        let outcome = worker.ask(ask).unwrap();
        assert_eq!(outcome, Outcome::Passed(Answer::Done), "{what}");
    }
}

fn dtype(selection: &Selection<'_>, argument: &Argument) -> Dtype {
    match &argument.kind.element {
        ElementType::Dtype(dtype) => *dtype,
        ElementType::Variable(name) => selection.variant.iter().find(|(n, _)| n == name).unwrap().1,
    }
}

fn c_type(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::F32 => "float",
        Dtype::F64 => "double",
        Dtype::I32 => "int32_t",
        Dtype::I64 => "int64_t",
        other => panic!("{} scalars are not used here", other.name()),
    }
}

fn whole(value: &Value) -> usize {
    number_of(value) as usize
}

fn number_of(value: &Value) -> f64 {
    match value {
        Value::Int(v) => *v as f64,
        Value::Float(v) => *v,
        other => panic!("{other} is not a number"),
    }
}

#[test]
fn attention_is_right() {
    check_kernel("attention");
}

#[test]
fn matmul_is_right() {
    check_kernel("matmul");
}

#[test]
fn softmax_is_right() {
    check_kernel("softmax");
}
