//! Figures of a GPU that no single command of kiln gives, one JSON object a line with name, value, bound and pass:
//! an empty kernel in a graph, a copy of 1 GB, and how often something is called faster or slower than itself.
//!
//! Usage: gpu KILN probe CUBIN    (the cubin of tests/gpu/probe.cu)
//!        gpu KILN itself FOLDER RUNS SECONDS    (as many as fit into the time)

use std::collections::HashMap;
use std::error::Error;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_bench::{Baselines, Bench, CacheState, Event, Extent, Kernel, Rival, Settings, Surroundings, Trouble, versus};
use kiln_build::Cache;
use kiln_core::{Config, Outcome};
use kiln_run::{Answer, Arena, Ask, Launch, MappedSlot, Worker, WorkerLimits};
use kiln_spec::Choice;
use kiln_stats::{Thresholds, Verdict};
use serde_json::json;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match &words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [kiln, "probe", cubin] => probe(kiln, cubin),
        [kiln, "itself", folder, runs, seconds] => itself(kiln, folder, runs.parse()?, seconds.parse()?),
        _ => Err("usage: gpu KILN probe CUBIN | gpu KILN itself FOLDER RUNS SECONDS".into()),
    }
}

fn line(name: &str, value: f64, bound: &str, pass: bool) {
    println!("{}", json!({ "name": name, "value": value, "bound": bound, "pass": pass }));
}

/// The middle sample in seconds of one call.
fn median(worker: &mut Worker, samples: u32, calls: u32, flush: u64) -> Result<f64> {
    match worker.ask(Ask::Time { batches: samples, calls, flush, draw: None })? {
        Outcome::Passed(Answer::Times(timing)) => {
            let mut times = timing.nanoseconds;
            times.sort_unstable();
            Ok(times[times.len() / 2] as f64 * 1e-9 / f64::from(calls))
        }
        other => Err(format!("{other:?}").into()),
    }
}

fn done(worker: &mut Worker, ask: Ask) -> Result<()> {
    match worker.ask(ask)? {
        Outcome::Passed(Answer::Done) => Ok(()),
        other => Err(format!("{other:?}").into()),
    }
}

fn probe(kiln: &str, cubin: &str) -> Result<()> {
    /// Eight blocks for each of an H200's multiprocessors.
    const EVERYWHERE: u32 = 8 * 132;
    const BYTES: usize = 1 << 30;
    let mut command = Command::new(kiln);
    command.args(["worker", "cuda"]);
    let mut worker = Worker::start(command, WorkerLimits { memory: 64 << 30, ..WorkerLimits::default() })?;
    done(&mut worker, Ask::Load { library: cubin.into(), symbol: String::new(), config: None, device: true })?;
    let regions = Arena::plan(&[(BYTES, 256), (BYTES, 256)]);
    let mut arena = Arena::over(&regions)?;
    // No zeros: those may move faster.
    for (i, word) in arena.bytes_mut()[regions[0].clone()].chunks_exact_mut(8).enumerate() {
        word.copy_from_slice(&(i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes());
    }
    let slots: Vec<MappedSlot> = ["from", "to"]
        .into_iter()
        .zip(&regions)
        .zip(["in", "out"])
        .map(|((name, region), role)| MappedSlot {
            name: name.into(),
            offset: region.start,
            bytes: region.len(),
            dtype: "u8".into(),
            shape: vec![BYTES],
            role: role.into(),
            ..MappedSlot::default()
        })
        .collect();
    let map = |symbol: &str, grid: u32| Ask::Map {
        arena: arena.handle(),
        lent: None,
        slots: slots.clone(),
        launches: vec![Launch { symbol: symbol.into(), grid: [grid, 1, 1], block: [512, 1, 1], ..Launch::default() }],
        sets: 1,
        stride: 0,
        holes: vec![],
        elsewhere: false,
        gone: vec![],
    };
    done(&mut worker, map("empty", 1))?;
    done(&mut worker, Ask::Upload { image: 1 })?;
    done(&mut worker, Ask::Lay { image: 1 })?;
    done(&mut worker, Ask::Call)?;
    let alone = median(&mut worker, 51, 1, 0)? * 1e6;
    line("empty kernel alone in a graph, events included, us", alone, "below 4", alone < 4.0);
    let row = median(&mut worker, 21, 200, 0)? * 1e6;
    line("empty kernel of one block in a graph of 200, us each", row, "below 2", row < 2.0);
    // A block alone is over before the next launch is read; one that fills the device shows what a launch takes.
    done(&mut worker, map("empty", EVERYWHERE))?;
    let full = median(&mut worker, 21, 200, 0)? * 1e6;
    line("empty kernel of 1056 blocks in a graph of 200, us each", full, "1 to 2", (1.0..2.0).contains(&full));
    // That graphs really run what was recorded: a kernel that counts.
    done(&mut worker, map("tick", 1))?;
    done(&mut worker, Ask::Lay { image: 1 })?;
    done(&mut worker, Ask::Call)?;
    let tick = median(&mut worker, 21, 200, 0)? * 1e6;
    done(&mut worker, Ask::Fetch { set: 0, parts: vec![] })?;
    let counted = u32::from_le_bytes(arena.bytes()[regions[1].start..regions[1].start + 4].try_into()?);
    line(
        "counting kernel in a graph of 200, us each",
        tick,
        "0.5 to 3",
        counted > 21 * 200 && (0.5..3.0).contains(&tick),
    );
    eprintln!("{counted} counted, {} asked for and some untimed", 21 * 200);
    done(&mut worker, map("copy", (BYTES / 16 / 512) as u32))?;
    done(&mut worker, Ask::Lay { image: 1 })?;
    done(&mut worker, Ask::Call)?;
    let seconds = median(&mut worker, 21, 1, 1)?;
    let fetching = Instant::now();
    done(&mut worker, Ask::Fetch { set: 0, parts: vec![] })?;
    let fetched = 2.0 * BYTES as f64 / fetching.elapsed().as_secs_f64() / 1e9;
    line("fetching from the GPU, GB/s", fetched, "reported", true);
    let same = arena.bytes()[regions[0].clone()] == arena.bytes()[regions[1].clone()];
    let rate = 2.0 * BYTES as f64 / seconds / 1e12;
    line("copy of 1 GB, TB/s read and written", rate, "above 4", same && rate > 4.0);
    Ok(())
}

fn itself(kiln: &str, folder: &str, wanted: usize, seconds: f64) -> Result<()> {
    let started = Instant::now();
    let folder = Utf8Path::new(folder).canonicalize_utf8()?;
    let file = folder.join("kernel.toml");
    let (spec, _) = kiln_spec::parse(file.as_str(), &std::fs::read(&file)?).map_err(|e| format!("{e:?}"))?;
    let kernel =
        Kernel::new(spec.select(Choice::default()).map_err(|e| e.to_string())?, &folder).map_err(|e| e.to_string())?;
    let stopped = AtomicBool::new(false);
    let listener = |_: &Event<'_>| ();
    let in_words = |trouble: Trouble| match trouble {
        Trouble::File(report) => report.to_string(),
        Trouble::Fault(fault) => fault.to_string(),
    };
    // Rounds are as many as `kiln bench` takes, and none are added.
    let settings = Settings { cache: CacheState::Cold, most_pairs: 20, ..Settings::default() };
    let around = Surroundings {
        program: Utf8PathBuf::from(kiln).canonicalize_utf8()?,
        cache: Cache::at(".kiln/cache"),
        listener: &listener,
        stopped: &stopped,
        gpu: None,
        live: true,
        many: false,
        build_limit: None,
    };
    let mut bench = Bench::new(&kernel, &settings, around).map_err(in_words)?;
    let baselines = Baselines::find(&bench, None)?;
    let config: Option<Config> =
        kernel.default_config().or_else(|| kernel.space.point(0).map(|p| kernel.space.config(&p)));
    let subject = match bench.subject(&config.ok_or("no configuration")?)? {
        Outcome::Passed(subject) => subject,
        Outcome::Refused(refusal) => return Err(refusal.measured.into()),
    };
    let rivals: Vec<Rival> = baselines.ready.iter().map(Rival::baseline).collect();
    let thresholds = Thresholds::with_dead_zone(0.03);
    let mut verdicts: HashMap<String, usize> = HashMap::new();
    let mut runs = 0;
    while runs < wanted && started.elapsed().as_secs_f64() < seconds {
        runs += 1;
        let figures =
            versus(&bench, &subject, &rivals, &thresholds, Extent { all: false, early: false }).map_err(in_words)?;
        let figures = figures.map_err(|lost| lost.refusal.measured)?;
        let verdict = figures.workloads[0].baselines[0].comparison.verdict;
        *verdicts.entry(verdict.to_string()).or_insert(0) += 1;
        if matches!(verdict, Verdict::Faster | Verdict::Slower) {
            eprintln!("false verdict: {:?}", figures.workloads[0].baselines[0].comparison);
        }
    }
    let named = |verdict: Verdict| verdicts.get(&verdict.to_string()).copied().unwrap_or(0);
    let rate = (named(Verdict::Faster) + named(Verdict::Slower)) as f64 / runs.max(1) as f64;
    eprintln!("verdicts of {runs} runs: {verdicts:?}");
    let name = format!("torch against itself {runs} times, share of false verdicts at 3 %");
    line(&name, rate, "at most 0.01", rate <= 0.01);
    Ok(())
}
