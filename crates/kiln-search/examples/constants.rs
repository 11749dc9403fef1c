//! Chooses the constants of `auto` anew, leaving out one kernel at a time. For scripts/choose_constants.sh, which says how to
//! read what it prints. In: a folder of recordings (Kernel Tuner caches or T4, also gzipped), named `KERNEL__DEVICE`; how
//! many random settings, how many repeats of each. Out: for every kernel left out the value of each constant that the other
//! kernels speak for, and what those values and the defaults are worth on the kernel left out.

// An example that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;
use std::sync::Arc;

use kiln_core::Value;
use kiln_search::{Kind, Knowledge, Plan, Prior, Recorded, RecordedTime, SearchSettings, repeat, score};

/// Constants that only matter with priors; they are chosen by searches that have one.
const TRANSFER: [&str; 12] =
    ["favourite", "led", "apart", "doubt", "refuted", "trial", "unproven", "reach", "blur", "beyond", "aside", "alone"];
const BUDGETS: [usize; 4] = [20, 50, 100, 220];
const PRIOR_BUDGETS: [usize; 3] = [10, 20, 50];

struct File {
    kernel: String,
    name: String,
    recorded: Recorded,
    prior: Arc<Prior>,
}

/// One search to judge settings by: a recording and the prior it is searched with.
struct Task<'a> {
    kernel: &'a str,
    recorded: &'a Recorded,
    priors: Vec<Arc<Prior>>,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, drawn, repeats] = &arguments[..] else { panic!("expected FOLDER SETTINGS REPEATS") };
    let (drawn, repeats) = (drawn.parse::<usize>().unwrap(), repeats.parse::<usize>().unwrap());
    let files = read(Path::new(folder));
    assert!(!files.is_empty(), "no recording could be read in {folder}");
    let plain: Vec<Task> =
        files.iter().map(|f| Task { kernel: &f.kernel, recorded: &f.recorded, priors: vec![] }).collect();
    let paired = files.iter().flat_map(|file| {
        let others = files.iter().filter(|other| other.kernel == file.kernel && other.name != file.name);
        others.map(|other| Task { kernel: &file.kernel, recorded: &file.recorded, priors: vec![other.prior.clone()] })
    });
    let paired: Vec<Task> = paired.collect();
    println!("without priors, {} files, mean of optimum/best at {BUDGETS:?}", plain.len());
    choose(&plain, &BUDGETS, drawn, repeats, |name| !TRANSFER.contains(&name));
    println!("\nwith a prior of another device, {} pairs, mean of optimum/best at {PRIOR_BUDGETS:?}", paired.len());
    choose(&paired, &PRIOR_BUDGETS, drawn, repeats, |name| TRANSFER.contains(&name));
}

fn choose(tasks: &[Task], budgets: &[usize], drawn: usize, repeats: usize, mine: impl Fn(&str) -> bool) {
    let mut kernels: Vec<&str> = tasks.iter().map(|task| task.kernel).collect();
    kernels.dedup();
    if kernels.len() < 2 {
        println!("  fewer than two kernels: nothing can be left out");
        return;
    }
    let constants: Vec<_> = SearchSettings::ALL.iter().filter(|c| mine(c.name) && c.choices.len() > 1).collect();
    // The same draws every time: what is chosen can be chosen again.
    let mut state = 1u64;
    let mut below = |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    let mut picks: Vec<Vec<usize>> = Vec::new();
    let mut scores: Vec<Vec<f64>> = Vec::new();
    for number in 0..drawn {
        let pick: Vec<usize> = constants.iter().map(|constant| below(constant.choices.len())).collect();
        let mut settings = SearchSettings::default();
        constants.iter().zip(&pick).for_each(|(c, at)| settings.set(c.name, c.choices[*at]).unwrap());
        scores.push(judge(tasks, &settings, budgets, repeats, 1));
        picks.push(pick);
        eprint!("\r  {} of {drawn} settings", number + 1);
    }
    eprintln!();
    let share = |scores: &[f64], keep: &dyn Fn(&str) -> bool| {
        let of_kernel = |kernel: &&str| {
            let own: Vec<f64> =
                tasks.iter().zip(scores).filter(|(t, _)| t.kernel == *kernel).map(|(_, s)| *s).collect();
            own.iter().sum::<f64>() / own.len() as f64
        };
        let kept: Vec<f64> = kernels.iter().filter(|kernel| keep(kernel)).map(of_kernel).collect();
        kept.iter().sum::<f64>() / kept.len() as f64
    };
    let default = judge(tasks, &SearchSettings::default(), budgets, repeats, 1_000_001);
    let everything = "(none)";
    for left_out in kernels.iter().copied().chain([everything]) {
        let keep = |kernel: &str| kernel != left_out;
        let worth: Vec<f64> = scores.iter().map(|scores| share(scores, &keep)).collect();
        let mut settings = SearchSettings::default();
        println!("  left out: {left_out}");
        for (place, constant) in constants.iter().enumerate() {
            // Averaged over all that else was drawn, so that no single lucky setting decides.
            let mean = |choice: usize| {
                let with: Vec<f64> =
                    picks.iter().zip(&worth).filter(|(p, _)| p[place] == choice).map(|(_, w)| *w).collect();
                if with.is_empty() { f64::NEG_INFINITY } else { with.iter().sum::<f64>() / with.len() as f64 }
            };
            let means: Vec<f64> = (0..constant.choices.len()).map(mean).collect();
            let best = (0..means.len()).max_by(|a, b| means[*a].total_cmp(&means[*b])).unwrap_or(0);
            settings.set(constant.name, constant.choices[best]).unwrap();
            let all: Vec<String> = constant.choices.iter().zip(&means).map(|(c, m)| format!("{c}: {m:.4}")).collect();
            println!(
                "    {:<10} {:<6} (default {})  {}",
                constant.name,
                constant.choices[best],
                constant.default,
                all.join(", ")
            );
        }
        let held = |kernel: &str| if left_out == everything { true } else { kernel == left_out };
        let chosen = judge(tasks, &settings, budgets, repeats, 1_000_001);
        let (chosen, default) = (share(&chosen, &held), share(&default, &held));
        println!("    on what was left out: chosen {chosen:.4}, defaults {default:.4}");
    }
}

/// The mean share of the optimum over the budgets, for every task.
fn judge(tasks: &[Task], settings: &SearchSettings, budgets: &[usize], repeats: usize, seed: u64) -> Vec<f64> {
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
    let worth = |task: &Task| {
        let knowledge = Knowledge { settings: settings.clone(), priors: task.priors.clone(), ..Knowledge::default() };
        let budget = budgets.iter().copied().max().unwrap_or(0);
        let plan = Plan { kind: Kind::Auto, knowledge, budget, noise: false };
        let curves = repeat(task.recorded, &plan, seed, repeats, threads, &|_| true).unwrap_or_default();
        let sum: f64 = budgets.iter().map(|b| score(&curves, task.recorded.optimum(), *b).mean).sum();
        sum / budgets.len() as f64
    };
    tasks.iter().map(worth).collect()
}

fn read(folder: &Path) -> Vec<File> {
    let mut paths: Vec<_> = std::fs::read_dir(folder).expect("the folder").map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut files: Vec<File> = Vec::new();
    for path in paths {
        let Some(name) = path.file_name().map(|n| n.to_string_lossy().into_owned()) else { continue };
        let Some(name) = name.strip_suffix(".json.gz").or_else(|| name.strip_suffix(".json")) else { continue };
        let Ok(recording) = kiln_formats::read_recording(name, &std::fs::read(&path).unwrap()) else {
            eprintln!("{name}: not a recording, left out");
            continue;
        };
        let row = |row: &kiln_formats::Row| {
            let values: Vec<Value> =
                row.point.iter().zip(&recording.values).map(|(at, list)| list[*at as usize].clone()).collect();
            (values, RecordedTime { time: row.outcome.seconds(), samples: vec![] })
        };
        let Ok(recorded) = Recorded::new(&recording.names, recording.rows.iter().map(row).collect()) else { continue };
        let kernel = name.split("__").next().unwrap_or(name).to_string();
        // The same measurements in another format are not a second device.
        let same = |other: &File| {
            let (a, b) = (other.recorded.optimum(), recorded.optimum());
            other.kernel == kernel && ((a - b) / b).abs() < 1e-6
        };
        if files.iter().any(same) {
            eprintln!("{name}: the same measurements as another file, left out");
            continue;
        }
        files.push(File { prior: Arc::new(recorded.prior(name)), name: name.to_string(), kernel, recorded });
    }
    files
}
