//! Counters of Nsight Compute. In: something to call, a workload, how much is wanted. Out: the diagnosis of what it launched, with the report
//! kept; or why there are no counters here, for which a coarse diagnosis takes their place. What else goes wrong is told with what
//! to do.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use kiln_core::{Fault, Outcome, Workload};
use kiln_diagnose::profile::{Pages, SECTIONS, Trouble, ptxas, quick_metrics};
use kiln_run::{Collect, Ncu};
use kiln_study::{Bench, Probe, Probed, Stage, Subject};

use super::trouble::{Ended, no_profiler, unprofiled};
use super::{Examined, FoundLimit, ProfileLevel, STEPS, Wanted};
use crate::doctor::find_program;
use crate::failure::Failure;
use crate::operation::diagnose::profile::of_pages;
use crate::operation::sanitize::sources_text;

const PROGRAM: &str = "ncu";
const REPORT: &str = "profile.ncu-rep";
const PAGE: &str = "raw.csv";
const LOG: &str = "ncu.log";
/// Bytes of the profiler's own words that are read.
const LARGEST_LOG: u64 = 4 << 20;
/// Bytes kept of what a worker writes to standard error.
const WORDS: usize = 1 << 16;
/// How long the profiler may take to print a page of its report.
const EXPORT: Duration = Duration::from_secs(60);

/// The profiler of this machine, or why there is none.
pub(super) fn found() -> Result<Ncu, String> {
    let path = find_program(PROGRAM).ok_or_else(no_profiler)?;
    Ncu::at(&path).map_err(|fault| format!("ncu cannot be used: {fault}; this diagnosis is coarse"))
}

/// Profiles a subject; an inner error says why this machine gives no counters.
pub(super) fn profiled<'a>(
    bench: &Bench<'a>,
    subject: &Subject,
    workload: Option<&'a Workload>,
    ncu: &Ncu,
    wanted: &Wanted<'_>,
) -> Result<Result<Examined, String>, Failure> {
    let mut stage = bench.one_question(workload, super::PHASE)?;
    wanted.place.make()?;
    let run = Run { bench, subject, ncu, wanted, until: Instant::now() + wanted.limit };
    let metrics = bench.gpu.as_ref().and_then(|gpu| quick_metrics(gpu.capability));
    let mut notes = Vec::new();
    let mut tried = match (wanted.level, &metrics) {
        (ProfileLevel::Full, _) => run.once(&mut stage, Collect::Full)?,
        (ProfileLevel::Quick, Some(metrics)) => run.once(&mut stage, Collect::Metrics(metrics))?,
        (ProfileLevel::Quick, None) => run.once(&mut stage, Collect::Sections(SECTIONS))?,
    };
    // Another version of the profiler may not know a metric; sections it knows.
    if let (ProfileLevel::Quick, Some(_), Some(words)) = (wanted.level, &metrics, tried.unknown_metric()) {
        notes.push(format!(
            "ncu {} does not collect every metric ({words}): whole sections were collected",
            ncu.version()
        ));
        tried = run.once(&mut stage, Collect::Sections(SECTIONS))?;
    }
    (wanted.step)(STEPS - 1);
    let report = wanted.place.absolute(REPORT)?;
    let source = matches!(subject, Subject::Cubin { .. } | Subject::Launcher { .. });
    let source = source.then(|| sources_text(bench.kernel));
    let found = of_pages(&tried.pages, &resources(subject), source.as_deref());
    (wanted.step)(STEPS);
    match found {
        Ok(found) => {
            // What a kernel answers is not what it costs, but a reader should know.
            let refusal = tried.refusal();
            if let Some(refusal) = &refusal {
                notes.push(format!("its result is refused by {}: {}", refusal.gate, refusal.measured));
            }
            let passes = tried.pages_said_passes();
            Ok(Ok(Examined {
                found: Some(FoundLimit::Counters(Box::new(found))),
                tool: Some(format!("{PROGRAM} {}", ncu.version())),
                passes,
                report: Some(wanted.place.shown(REPORT)),
                page: Some(wanted.place.shown(PAGE)),
                refusal,
                notes,
            }))
        }
        Err(trouble) => {
            let ended = tried.ended(wanted.limit);
            wanted.place.clear(&report);
            match (trouble, tried.refusal()) {
                (Trouble::Permission, _) => Ok(Err(super::trouble::forbidden())),
                // It failed before anything could be profiled: that is the candidate's own.
                (_, Some(refusal)) if !tried.timed_out() => {
                    Ok(Ok(Examined { refusal: Some(refusal), ..Examined::default() }))
                }
                (trouble, _) => Err(unprofiled(trouble, ended).into()),
            }
        }
    }
}

/// One profile's surroundings.
struct Run<'r, 'a> {
    bench: &'r Bench<'a>,
    subject: &'r Subject,
    ncu: &'r Ncu,
    wanted: &'r Wanted<'r>,
    until: Instant,
}

/// What came of a run of the profiler.
struct Tried {
    /// How the worker came out of it.
    probed: Result<Probed, Fault>,
    /// What the profiler says and what its report holds.
    pages: Pages,
    /// The profiler's own words.
    log: String,
}

impl<'a> Run<'_, 'a> {
    fn once(&self, stage: &mut Stage<'a>, collect: Collect<'_>) -> Result<Tried, Failure> {
        let (report, log) = (self.wanted.place.absolute(REPORT)?, self.wanted.place.absolute(LOG)?);
        for old in [&report, &log] {
            let _ = std::fs::remove_file(old);
        }
        let wrapper = self.ncu.wrapper(collect, &report, &log);
        let (apart, blank, question) = (false, false, 0);
        let (limit, until) = (self.wanted.limit, Some(self.until));
        let probe = Probe { wrapper: Some(wrapper), apart, blank, words: WORDS, limit, until, question };
        let probed = self.bench.watched(stage, self.subject, &probe);
        // Somebody wants to stop: whatever else went wrong is of no interest.
        self.bench.go_on()?;
        let log = words(&log);
        let mut pages = Pages::read(log.as_bytes())?;
        if report.exists() {
            let page = self.wanted.place.absolute(PAGE)?;
            export(self.ncu.raw_page(&report), &page)?;
            pages.join(Pages::read(BufReader::new(File::open(&page)?))?);
        }
        Ok(Tried { probed, pages, log })
    }
}

impl Tried {
    /// What the profiler says about a metric that it does not have, where it then collected nothing.
    fn unknown_metric(&self) -> Option<String> {
        let about = |line: &&str| line.contains("==ERROR==") && line.to_ascii_lowercase().contains("metric");
        let line = self.log.lines().find(about).filter(|_| self.pages.kernels.is_empty())?;
        Some(line.replace("==ERROR==", "").trim().to_string())
    }

    fn refusal(&self) -> Option<kiln_core::Refusal> {
        match &self.probed {
            Ok(Probed { outcome: Outcome::Refused(refusal), .. }) => Some(refusal.clone()),
            _ => None,
        }
    }

    fn timed_out(&self) -> bool {
        match &self.probed {
            Ok(probed) => probed.timed_out(),
            Err(fault) => fault.why.starts_with("no answer after"),
        }
    }

    fn ended(&self, limit: Duration) -> Ended {
        match &self.probed {
            _ if self.timed_out() => Ended::Late(limit),
            Err(fault) => Ended::NotStarted(fault.why.clone()),
            Ok(_) => Ended::InTime,
        }
    }

    /// `==PROF== Profiling "matmul" - 0: 0%....50%....100% - 12 passes`.
    fn pages_said_passes(&self) -> Option<u64> {
        let passes = |line: &str| {
            let (before, _) = line.split_once(" pass")?;
            before.rsplit(' ').next()?.parse().ok()
        };
        self.log.lines().filter(|line| line.contains("==PROF==")).filter_map(passes).max()
    }
}

/// What the compiler said about the kernels of a build.
fn resources(subject: &Subject) -> Vec<ptxas::Resources> {
    let Subject::Cubin { usage, .. } = subject else { return Vec::new() };
    let of = |own: &kiln_build::Usage| ptxas::Resources {
        symbol: own.symbol.clone(),
        registers: own.registers.into(),
        stack_bytes: own.stack,
        spill_stores: own.spill_stores,
        spill_loads: own.spill_loads,
        shared_bytes: own.shared,
    };
    usage.iter().map(of).collect()
}

/// The beginning of what the profiler wrote.
fn words(log: &Path) -> String {
    let mut bytes = Vec::new();
    let read = File::open(log).and_then(|file| file.take(LARGEST_LOG).read_to_end(&mut bytes));
    // One that could not be started has written nothing.
    read.map_or_else(|_| String::new(), |_| String::from_utf8_lossy(&bytes).into_owned())
}

/// Has the profiler print a page into a file.
fn export(mut command: Command, page: &Path) -> Result<(), Fault> {
    let fault = |why: String| Fault::new("reading the profiler's report", why);
    let file = File::create(page).map_err(|e| fault(e.to_string()))?;
    let mut child = command.stdout(file).stderr(Stdio::null()).spawn().map_err(|e| fault(e.to_string()))?;
    let started = Instant::now();
    while child.try_wait().map_err(|e| fault(e.to_string()))?.is_none() {
        if started.elapsed() > EXPORT {
            let _ = child.kill();
            let _ = child.wait();
            return Err(fault(format!("it did not end within {} s", EXPORT.as_secs())));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(log: &str) -> Tried {
        let pages = Pages::read(log.as_bytes()).unwrap();
        Tried { probed: Err(Fault::new("starting a worker process", "no answer after 60 s")), pages, log: log.into() }
    }

    #[test]
    fn the_profilers_words_are_understood() {
        let log = "==PROF== Connected to process 7 (/usr/bin/kiln)\n==PROF== Profiling \"matmul\" - 0: 0%....50%....100% - 12 passes\n\
            ==PROF== Profiling \"scale\" - 1: 0%....100% - 9 passes\n==PROF== Disconnected from process 7\n";
        assert_eq!((tried(log).pages_said_passes(), tried(log).unknown_metric()), (Some(12), None));
        let unknown = tried("==ERROR== Failed to find metric sm__foo.avg\n");
        assert_eq!(unknown.unknown_metric().as_deref(), Some("Failed to find metric sm__foo.avg"));
        assert!(matches!(unknown.ended(Duration::from_secs(60)), Ended::Late(_)));
    }
}
