//! The repository's CPU kernels, through every stage there is: spec, space, build, worker, judge. Configurations are drawn
//! from each kernel's own space and judged on every workload and every distribution of inputs.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;
use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_build::{Artifact, BuildLimits, Cache, Compiler, Passing, Request, SHIM_SYMBOL, shim};
use kiln_core::{Config, Outcome, Workload};
use kiln_judge::{Exam, Inputs, Level, Rules, Signature};
use kiln_run::{Answer, Arena, Ask, MappedSlot, Region, Worker, WorkerLimits};
use kiln_space::{Problem, Space};
use kiln_spec::{Choice, Dtype, Role, Selection};

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
    let default = selection.stated_default().unwrap();
    assert!(space.locate(&default).is_some_and(|point| space.contains(&point)), "{name}: the default is not valid");
    let mut configs = vec![default];
    configs.extend(space.sample(DRAWN - 1, 11).iter().map(|point| space.config(point)));
    let cache = tempfile::tempdir().unwrap();
    let cache = Cache::at(Utf8Path::from_path(cache.path()).unwrap());
    let artifacts: Vec<Artifact> = configs.iter().map(|config| build(&cache, &folder, &selection, config)).collect();
    for workload in spec.workloads.iter().filter(|w| w.is_for("cpu")) {
        let desk = Desk::new(&selection, workload);
        for (config, artifact) in configs.iter().zip(&artifacts) {
            desk.check(artifact, &format!("{name} {config} on {}", workload.name));
        }
    }
}

fn build(cache: &Cache, folder: &Utf8Path, selection: &Selection<'_>, config: &Config) -> Artifact {
    let signature = Signature::of(selection, selection.workloads.first().copied()).unwrap();
    let passing: Vec<Passing> = signature
        .slots
        .iter()
        .map(|slot| match slot.role {
            _ if !selection.passes(config, &slot.name) => Passing::Omitted,
            Role::Scalar => Passing::Value(c_type(slot.dtype)),
            _ => Passing::Pointer,
        })
        .collect();
    let implementation = selection.implementation(config);
    let entry = implementation.entry.as_ref().or(selection.spec.entry.as_ref()).unwrap();
    let request = Request {
        sources: implementation.sources.iter().map(|s| folder.join(s)).collect(),
        includes: vec![],
        std: implementation.compile.std.clone(),
        flags: implementation.compile.flags.clone(),
        config: config.tunables(),
        shim: shim(entry, &passing),
        ..Request::default()
    };
    let compiler = Compiler::named(vec!["cc".into()]).unwrap();
    match cache.build(&compiler, &request, BuildLimits::default(), &|_| {}).unwrap() {
        Outcome::Passed(artifact) => artifact,
        Outcome::Refused(refusal) => panic!("{config}: {refusal:?}"),
    }
}

/// The questions of one workload, one for each distribution; made once, put to every configuration.
struct Desk {
    signature: Signature,
    exams: Vec<Exam>,
}

impl Desk {
    fn new(selection: &Selection<'_>, workload: &Workload) -> Desk {
        let rules = Rules::of(selection).unwrap();
        let signature = Signature::of(selection, Some(workload)).unwrap();
        let (arena, regions) = Arena::new(&signature.sizes()).unwrap();
        let distributions = Level::Suite.plan().distributions.iter().enumerate();
        let exams = distributions.map(|(seed, distribution)| {
            let inputs = Inputs::draw(&signature, *distribution, 100 + seed as u64);
            let exam = Exam::new(&signature, &rules, inputs, &regions, arena.bytes().len(), None).unwrap();
            // Answers that take no work must not pass, unless the question is so small that they are right.
            for null in exam.nulls() {
                assert_eq!(null.fault(), None, "{} {distribution}", workload.name);
            }
            exam
        });
        let exams = exams.collect();
        Desk { signature, exams }
    }

    /// Calls in a worker of its own, judged; the first one twice.
    fn check(&self, artifact: &Artifact, what: &str) {
        let (mut arena, regions) = Arena::new(&self.signature.sizes()).unwrap();
        let mut worker = start(artifact, &arena, &regions, what);
        let mut call = || assert_eq!(worker.ask(Ask::Call).unwrap(), Outcome::Passed(Answer::Done), "{what}");
        for (i, exam) in self.exams.iter().enumerate() {
            exam.lay(arena.bytes_mut());
            call();
            match exam.judge(arena.bytes()) {
                Outcome::Passed(marks) => {
                    println!("{what}, {}: {:.3} of what is allowed", exam.inputs().distribution, marks.worst)
                }
                Outcome::Refused(refusal) => panic!("{what}, {}: {refusal:?}", exam.inputs().distribution),
            }
            if i == 0 {
                let first = exam.outputs(arena.bytes());
                exam.repoison(arena.bytes_mut());
                call();
                assert_eq!(exam.rerun(&first, &exam.outputs(arena.bytes())), Outcome::Passed(()), "{what}");
            }
        }
    }
}

fn start(artifact: &Artifact, arena: &Arena, regions: &[Region], what: &str) -> Worker {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kiln"));
    command.args(["worker", "cpu"]);
    let mut worker = Worker::start(command, WorkerLimits::default()).unwrap();
    let load =
        Ask::Load { library: artifact.library.to_string(), symbol: SHIM_SYMBOL.into(), config: None, device: false };
    // A C function needs to know no more than where its arguments lie.
    let slots =
        regions.iter().map(|r| MappedSlot { offset: r.start, bytes: r.len(), ..MappedSlot::default() }).collect();
    for ask in [load, Ask::map(arena, slots)] {
        assert_eq!(worker.ask(ask).unwrap(), Outcome::Passed(Answer::Done), "{what}");
    }
    worker
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
