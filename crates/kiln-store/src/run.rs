//! Benchmarks: one configuration against others, or baselines alone, measured once. In: a finished run. Out: the same again.
//! Refuses one that is already there, and numbers that would not read back.

use kiln_core::{Fault, MeasuredWorkload, Refusal};

use crate::database::column::{Columns, count, finite, json};
use crate::database::fault::fault;
use crate::{Environment, Filter, Kept, Printed, Store, SweepRecord};

/// A benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// An id like a study's.
    pub id: String,
    /// When it began, in milliseconds since 1970.
    pub started_ms: i64,
    /// How long it took.
    pub seconds: f64,
    /// The kernel's name.
    pub kernel: String,
    /// The kernel file.
    pub path: String,
    /// The target.
    pub target: String,
    /// The device architecture, where there is one.
    pub arch: Option<String>,
    /// The variant, as the user would type it.
    pub variant: String,
    /// The configuration; none where only baselines were measured.
    pub config: Option<String>,
    /// Whether calls found warm or cold caches.
    pub cache: String,
    /// Threads a call might use.
    pub threads: u64,
    /// The seed of everything drawn.
    pub seed: u64,
    /// The GPU or processor.
    pub device: String,
    /// What it ran on: machine, compiler, versions.
    pub environment: Kept<Environment>,
    /// The commit of the kernel's repository.
    pub git_commit: Option<String>,
    /// The hash of the kernel file.
    pub spec_hash: String,
    /// The kiln that ran it.
    pub kiln_version: String,
    /// Every figure, as it is printed for machines.
    pub result: Printed,
    /// The figures of each side.
    pub sides: Vec<RunSide>,
    /// Every sample; none of a benchmark by an older kiln.
    pub samples: Option<Kept<Vec<MeasuredWorkload>>>,
}

/// One side of a benchmark on one workload.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunSide {
    /// The workload.
    pub workload: String,
    /// The baseline or the other configuration; empty for the configuration that was measured.
    pub side: String,
    /// Seconds of one call; none where it could not be measured.
    pub median_s: Option<f64>,
    /// The 95 % interval of that; none where an older kiln recorded it.
    pub median_ci95: Option<[f64; 2]>,
    /// How many times as fast the configuration is as this side, with its interval.
    pub speedup: Option<(f64, [f64; 2])>,
    /// The verdict on the configuration against this side.
    pub verdict: Option<String>,
    /// Bytes of memory its worker took at most.
    pub peak_memory: Option<u64>,
    /// Bytes of the GPU's memory in use while it was called.
    pub gpu_memory: Option<u64>,
    /// Why it could not be measured.
    pub refusal: Option<Refusal>,
}

impl Run {
    /// The end of the id, as of a study's.
    pub fn short_id(&self) -> &str {
        self.id.get(self.id.len().saturating_sub(8)..).unwrap_or(&self.id)
    }

    /// What a sweep over shapes found; none of any other run.
    pub fn sweep(&self) -> Option<SweepRecord> {
        self.result.part()
    }
}

/// `SELECT` of whole runs, with what follows `FROM runs`.
macro_rules! select_runs {
    ($rest:literal) => {
        sqlx::query(concat!(
            "SELECT id, started_ms, seconds, kernel, path, target, arch, variant, config, cache, threads, seed, device, ",
            "environment, git_commit, spec_hash, kiln_version, result, samples FROM runs ",
            $rest
        ))
    };
}

impl Store {
    /// Records a finished run, all of it or nothing.
    pub fn record_run(&self, run: &Run) -> Result<(), Fault> {
        self.write_run(run, false)
    }

    /// Records a run in place of what was recorded under its id, if anything was: one that goes on for long is recorded as it
    /// grows.
    pub fn replace_run(&self, run: &Run) -> Result<(), Fault> {
        self.write_run(run, true)
    }

    fn write_run(&self, run: &Run, replaces: bool) -> Result<(), Fault> {
        let what = &format!("recording run {}", run.id);
        let insert = sqlx::query(
            "INSERT INTO runs (id, started_ms, seconds, kernel, path, target, arch, variant, config, cache, threads, seed, \
             device, environment, git_commit, spec_hash, kiln_version, result, samples) VALUES ($1, $2, $3, $4, $5, $6, $7, \
             $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)",
        )
        .bind(run.id.as_str())
        .bind(run.started_ms)
        .bind(finite(what, "seconds", run.seconds)?)
        .bind(run.kernel.as_str())
        .bind(run.path.as_str())
        .bind(run.target.as_str())
        .bind(run.arch.as_deref())
        .bind(run.variant.as_str())
        .bind(run.config.as_deref())
        .bind(run.cache.as_str())
        .bind(count(what, "threads", run.threads)?)
        .bind(run.seed.to_string())
        .bind(run.device.as_str())
        .bind(json(what, "environment", &run.environment)?)
        .bind(run.git_commit.as_deref())
        .bind(run.spec_hash.as_str())
        .bind(run.kiln_version.as_str())
        .bind(json(what, "result", &run.result)?)
        .bind(run.samples.as_ref().map(|samples| json(what, "samples", samples)).transpose()?);
        self.transaction(what, |session| {
            if replaces {
                let id = run.id.as_str();
                for delete in ["DELETE FROM run_sides WHERE run = $1", "DELETE FROM runs WHERE id = $1"] {
                    session.change(sqlx::query(delete).bind(id)).map_err(|e| fault(what, &e))?;
                }
            }
            session.change(insert).map_err(|e| fault(what, &e))?;
            for (place, side) in run.sides.iter().enumerate() {
                let number = |name: &str, value: Option<f64>| value.map(|v| finite(what, name, v)).transpose();
                let bytes = |name: &str, value: Option<u64>| value.map(|v| count(what, name, v)).transpose();
                let refusal =
                    side.refusal.as_ref().map(serde_json::to_string).transpose().map_err(|e| Fault::new(what, e))?;
                let insert = sqlx::query(
                    "INSERT INTO run_sides (run, place, workload, side, median_s, speedup, speedup_low, speedup_high, \
                     verdict, peak_memory, gpu_memory, refusal, median_low, median_high) VALUES ($1, $2, $3, $4, $5, $6, \
                     $7, $8, $9, $10, $11, $12, $13, $14)",
                )
                .bind(run.id.as_str())
                .bind(count(what, "the side's place", place as u64)?)
                .bind(side.workload.as_str())
                .bind(side.side.as_str())
                .bind(number("median_s", side.median_s)?)
                .bind(number("speedup", side.speedup.map(|(value, _)| value))?)
                .bind(number("speedup_low", side.speedup.map(|(_, [low, _])| low))?)
                .bind(number("speedup_high", side.speedup.map(|(_, [_, high])| high))?)
                .bind(side.verdict.as_deref())
                .bind(bytes("peak_memory", side.peak_memory)?)
                .bind(bytes("gpu_memory", side.gpu_memory)?)
                .bind(refusal)
                .bind(number("median_low", side.median_ci95.map(|[low, _]| low))?)
                .bind(number("median_high", side.median_ci95.map(|[_, high]| high))?);
                session.change(insert).map_err(|e| fault(what, &e))?;
            }
            Ok(())
        })
    }

    /// Runs, newest first, with their sides.
    pub fn runs(&self, filter: &Filter) -> Result<Vec<Run>, Fault> {
        let limit = filter.limit.map_or(i64::MAX, i64::from);
        let statement = match &filter.kernel {
            Some(kernel) => {
                select_runs!("WHERE kernel = $1 ORDER BY started_ms DESC, id DESC LIMIT $2").bind(kernel).bind(limit)
            }
            None => select_runs!("ORDER BY started_ms DESC, id DESC LIMIT $1").bind(limit),
        };
        let runs = self.list("listing runs", statement, run)?;
        let mut whole = Vec::with_capacity(runs.len());
        for run in runs {
            let id = run.id.clone();
            match self.sides(&id)? {
                Some(sides) => whole.push(Run { sides, ..run }),
                None => self.leave_out(&id),
            }
        }
        Ok(whole)
    }

    /// The run whose id is this, or begins or ends so; none where there is none, or more than one.
    pub fn find_run(&self, name: &str) -> Result<Option<Run>, Fault> {
        let what = &format!("looking for run `{name}`");
        let id = name.to_ascii_lowercase();
        // Digits and dashes alone, so that nothing in it means more to LIKE than itself.
        if id.len() < crate::find::SHORTEST || !id.chars().all(|c| c.is_ascii_hexdigit() || c == '-') {
            return Ok(None);
        }
        let like = select_runs!("WHERE id LIKE $1 OR id LIKE $2 LIMIT 2");
        let mut found = self.read(what, like.bind(format!("{id}%")).bind(format!("%{id}")), run)?;
        let Some(run) = found.pop().filter(|_| found.is_empty()) else { return Ok(None) };
        let sides = self.sides(&run.id)?;
        let damaged =
            || Fault::new(what, "one of its sides cannot be read").hint("`kiln doctor` shows what is damaged");
        Ok(Some(Run { sides: sides.ok_or_else(damaged)?, ..run }))
    }

    /// What a run measured; none where a part of it cannot be read.
    fn sides(&self, run: &str) -> Result<Option<Vec<RunSide>>, Fault> {
        let what = &format!("reading the sides of run {run}");
        let statement = sqlx::query(
            "SELECT run AS id, workload, side, median_s, speedup, speedup_low, speedup_high, verdict, peak_memory, gpu_memory, \
             refusal, median_low, median_high FROM run_sides WHERE run = $1 ORDER BY place",
        );
        let (sides, damaged) = self.list_counted(what, statement.bind(run), side)?;
        Ok((damaged == 0).then_some(sides))
    }
}

fn run(row: Columns<'_>) -> Result<Run, Fault> {
    Ok(Run {
        id: row.get("id")?,
        started_ms: row.get("started_ms")?,
        seconds: row.get("seconds")?,
        kernel: row.get("kernel")?,
        path: row.get("path")?,
        target: row.get("target")?,
        arch: row.get("arch")?,
        variant: row.get("variant")?,
        config: row.get("config")?,
        cache: row.get("cache")?,
        threads: row.count("threads")?,
        seed: row.read("seed", |text| text.parse().ok())?,
        device: row.get("device")?,
        environment: row.json("environment")?,
        git_commit: row.get("git_commit")?,
        spec_hash: row.get("spec_hash")?,
        kiln_version: row.get("kiln_version")?,
        result: row.json("result")?,
        sides: Vec::new(),
        samples: row.maybe_json("samples")?,
    })
}

fn side(row: Columns<'_>) -> Result<RunSide, Fault> {
    let (speedup, low, high) = (row.get("speedup")?, row.get("speedup_low")?, row.get("speedup_high")?);
    let speedup: (Option<f64>, Option<f64>, Option<f64>) = (speedup, low, high);
    let bytes = |name: &str| -> Result<Option<u64>, Fault> {
        let stored: Option<i64> = row.get(name)?;
        Ok(stored.and_then(|bytes| u64::try_from(bytes).ok()))
    };
    Ok(RunSide {
        workload: row.get("workload")?,
        side: row.get("side")?,
        median_s: row.get("median_s")?,
        median_ci95: both(row.get("median_low")?, row.get("median_high")?),
        speedup: if let (Some(value), Some(low), Some(high)) = speedup { Some((value, [low, high])) } else { None },
        verdict: row.get("verdict")?,
        peak_memory: bytes("peak_memory")?,
        gpu_memory: bytes("gpu_memory")?,
        refusal: row.maybe_json("refusal")?,
    })
}

fn both(low: Option<f64>, high: Option<f64>) -> Option<[f64; 2]> {
    Some([low?, high?])
}
