//! What each measure against cheating costs on a processor: a table, medians of many runs on this machine.
//!
//! Usage: costs KILN

use std::error::Error;
use std::process::Command;
use std::time::{Duration, Instant};

use kiln_core::Outcome;
use kiln_judge::{Fresh, Key, Rules, Signature};
use kiln_run::{Answer, Arena, Ask, Confinement, MappedSlot, Worker, WorkerLimits, flush_lines, work_on};

use kiln_spec::Choice;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Bytes of arguments that are laid together at most on most machines: half of a private cache.
const BYTES: usize = 1 << 20;
const RUNS: usize = 200;
/// A kernel that reads as much.
const KERNEL: &str = r#"
    kernel = { name = "costs", entry = "f" }
    target.cpu = { source = "f.c", tunables = { A = [1] } }
    arguments = [{ name = "x", type = "f32[N]", role = "in" }, { name = "y", type = "f32[N]", role = "out" }]
    workloads = [{ name = "one", dims = { N = 262144 } }]
    reference = { builtin = "elementwise", expressions = { y = "x" } }
"#;

fn main() -> Result<()> {
    let kiln = std::env::args().nth(1).ok_or("usage: costs KILN")?;
    println!("measure\tfor each\tmicroseconds");
    workers(&kiln)?;
    batches(&kiln)
}

fn row(measure: &str, each: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    println!("{measure}\t{each}\t{:.1}", times[times.len() / 2].as_secs_f64() * 1e6);
}

fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let began = Instant::now();
    let found = work();
    (began.elapsed(), found)
}

fn answer(outcome: Outcome<Answer>) -> Result<Answer> {
    match outcome {
        Outcome::Passed(Answer::Failed(failed)) => Err(failed.words.into()),
        Outcome::Passed(answer) => Ok(answer),
        Outcome::Refused(refusal) => Err(refusal.measured.into()),
    }
}

fn start(kiln: &str) -> Result<Worker> {
    let mut command = Command::new(kiln);
    command.args(["worker", "cpu"]);
    Ok(Worker::start(command, WorkerLimits::default())?)
}

/// What a process of its own costs.
fn workers(kiln: &str) -> Result<()> {
    let (mut started, mut confined, mut ended) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let (time, worker) = timed(|| start(kiln));
        let mut worker = worker?;
        started.push(time);
        let (time, found) = timed(|| worker.confine(Confinement::Processor, Duration::from_secs(10)));
        answer(found?)?;
        confined.push(time);
        ended.push(timed(|| drop(worker)).0);
    }
    row("a process of its own: start", "worker", started);
    row("confinement: Landlock and seccomp", "worker", confined);
    row("a process of its own: end", "worker", ended);
    Ok(())
}

/// What fresh inputs and the ledger cost.
fn batches(kiln: &str) -> Result<()> {
    let mut worker = start(kiln)?;
    let regions = Arena::plan(&[(BYTES, 4096)]);
    let mut arena = Arena::over(&regions)?;
    let region = regions[0].clone();
    let slot =
        MappedSlot { name: "x".into(), offset: region.start, bytes: BYTES, role: "in".into(), ..MappedSlot::default() };
    answer(worker.ask(Ask::Load { library: String::new(), symbol: String::new(), config: None, device: false })?)?;
    let map = Ask::Map {
        arena: arena.handle(),
        lent: None,
        slots: vec![slot],
        launches: vec![],
        sets: 1,
        stride: 0,
        holes: vec![],
        elsewhere: false,
        gone: vec![],
    };
    answer(worker.ask(map)?)?;
    let key = Key::secret()?;
    let (spec, _) = kiln_spec::parse("costs", KERNEL.as_bytes()).map_err(|report| format!("{report:?}"))?;
    let selection = spec.select(Choice::default())?;
    let (rules, signature) = (Rules::of(&selection)?, Signature::of(&selection, spec.workloads.first())?);
    let mut times: [Vec<Duration>; 9] = std::array::from_fn(|_| Vec::with_capacity(RUNS));
    for number in 0..RUNS as u64 {
        let (time, fresh) = timed(|| Fresh::draw(&signature, &rules, &key, number, None));
        let fresh = fresh?;
        times[0].push(time);
        times[1].push(timed(|| worker.pause()).0);
        let bytes = &mut arena.bytes_mut()[region.clone()];
        times[2].push(timed(|| bytes.copy_from_slice(&fresh.slots[0])).0);
        let cpu = worker.processor().ok_or("the worker is gone")?;
        times[3].push(timed(|| work_on(cpu, || bytes.copy_from_slice(&fresh.slots[0]))).0);
        times[4].push(timed(|| flush_lines(bytes)).0);
        times[5].push(timed(|| worker.resume()).0);
        times[6].push(timed(|| worker.cpu_time()).0);
        let (time, found) = timed(|| worker.ask(Ask::time(1, 1)));
        answer(found?)?;
        times[7].push(time);
        times[8].push(timed(|| arena.bytes()[region.clone()].to_vec() == fresh.slots[0]).0);
    }
    let names = [
        ("fresh inputs: drawn, 1 MB of floats", "batch, once for all sides"),
        ("the others stand still: stopped", "batch"),
        ("fresh inputs: laid, 1 MB, wherever kiln runs", "batch"),
        ("fresh inputs: laid, 1 MB, from the worker's processor", "batch"),
        ("cold caches: 1 MB pushed out", "batch, with --cold"),
        ("the others stand still: let go on", "batch"),
        ("the ledger: processor time read", "batch, twice"),
        ("the ledger: an empty function's question", "batch"),
        ("outputs and guards: 1 MB copied and compared", "batch"),
    ];
    for ((measure, each), times) in names.into_iter().zip(times) {
        row(measure, each, times);
    }
    Ok(())
}
