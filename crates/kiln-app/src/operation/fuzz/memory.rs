//! Failing cases that are kept between runs: a file under `.kiln/fuzz`, which people may read and edit. They are asked about
//! first; one that passes stays as fixed, because what was wrong once is likely to be wrong again. Refuses a damaged file, and
//! leaves it as it is.

use camino::Utf8PathBuf;
use kiln_core::Fault;
use kiln_formats::{KeptCase, KeptState, read_cases, write_cases};
use kiln_judge::FuzzCase;
use kiln_study::{Kernel, Tried, write_whole};

use crate::failure::Failure;
use crate::kernel::read_bounded;
use crate::operation::fuzz::lane::Lane;
use crate::operation::fuzz::request::{FuzzFailure, KeptNow, KeptResult};
use crate::operation::fuzz::supply::kept_config;
use crate::project::Project;
use crate::record::kept_cases::{LARGEST, place};

/// Fixed cases that are kept of a kernel.
const MOST_FIXED: usize = 50;
/// How often a case is asked about that failed only now and then.
const AGAIN: usize = 30;

/// The cases of a kernel that failed once.
pub(super) struct Memory {
    pub(super) file: Utf8PathBuf,
    kernel: String,
    cases: Vec<KeptCase>,
}

impl Memory {
    /// Reads the file, where there is one.
    pub(super) fn read(project: &Project, kernel: &Kernel<'_>) -> Result<Memory, Failure> {
        let file = place(project, kernel);
        let cases = match file.exists() {
            true => {
                let bytes = read_bounded(&file, LARGEST)?;
                let text = String::from_utf8_lossy(&bytes);
                read_cases(file.as_str(), &text)?
            }
            false => Vec::new(),
        };
        Ok(Memory { file, kernel: kernel.name().into(), cases })
    }

    /// Asks about every case that fits what is asked for now.
    pub(super) fn ask(
        &self,
        lanes: &[Lane<'_, '_>],
        baseline: Option<&str>,
        is_about_one: bool,
    ) -> (Vec<KeptResult>, Option<Fault>) {
        let mut results = Vec::new();
        for case in &self.cases {
            if case.baseline != baseline.unwrap_or_default() {
                continue;
            }
            let now = match one(lanes, case, is_about_one) {
                Ok(Some(now)) => now,
                Ok(None) => continue,
                Err(fault) => return (results, Some(fault)),
            };
            results.push(KeptResult { case: case.clone(), now });
        }
        (results, None)
    }

    /// How often a case that somebody types is asked about: many times where it is known to fail now and then.
    pub(super) fn times(&self, typed: &str) -> usize {
        let blank = |text: &str| text.split_whitespace().collect::<String>();
        let known = self.cases.iter().any(|case| case.intermittent && blank(&case.case) == blank(typed));
        if known { AGAIN } else { 1 }
    }

    /// Takes in how they stand now, and a new one.
    pub(super) fn update(
        &mut self,
        results: &[KeptResult],
        failure: Option<(&FuzzFailure, &Lane<'_, '_>, Option<&str>)>,
    ) -> Result<(), Failure> {
        let before = self.cases.clone();
        for KeptResult { case, now } in results {
            let Some(own) = self.cases.iter_mut().find(|own| own.is_same(case)) else { continue };
            match now {
                KeptNow::Fails(refusal) => {
                    own.state = KeptState::Failing;
                    (own.gate, own.measured) = (refusal.gate.name().into(), refusal.measured.clone());
                }
                KeptNow::Fixed | KeptNow::Passes => own.state = KeptState::Fixed,
                KeptNow::Skipped(_) => {}
            }
        }
        if let Some((failure, lane, baseline)) = failure {
            let new = KeptCase { sources: sources(lane), ..kept(failure, lane.bench.kernel.target(), baseline) };
            self.cases.retain(|own| !own.is_same(&new));
            self.cases.insert(0, new);
        }
        let mut fixed = 0;
        self.cases.retain(|case| {
            fixed += usize::from(case.state == KeptState::Fixed);
            case.state == KeptState::Failing || fixed <= MOST_FIXED
        });
        if self.cases == before {
            return Ok(());
        }
        if let Some(folder) = self.file.parent() {
            fs_err::create_dir_all(folder)?;
        }
        Ok(write_whole(&self.file, write_cases(&self.kernel, &self.cases).as_bytes())?)
    }
}

/// How a case stands now; none where it is of another target, variant or configuration than is asked about.
fn one(lanes: &[Lane<'_, '_>], case: &KeptCase, is_about_one: bool) -> Result<Option<KeptNow>, Fault> {
    let is_meant =
        |lane: &&Lane<'_, '_>| lane.bench.kernel.variant() == case.variant && lane.bench.kernel.target() == case.target;
    let Some(lane) = lanes.iter().find(is_meant) else { return Ok(None) };
    let skipped = |why: &str| Ok(Some(KeptNow::Skipped(why.into())));
    let Some(config) = kept_config(lane, &case.config) else {
        return skipped("its configuration is none of the kernel file's");
    };
    if is_about_one && lane.configs.first() != Some(&config) {
        return Ok(None);
    }
    let asked = match FuzzCase::parse(&case.case, (&lane.usual(), &lane.room.scalars), config) {
        Ok(asked) => asked,
        Err(report) => return skipped(report.message.trim_start_matches("--case: ")),
    };
    // What failed now and then is fixed only if it passes many times; so is what passes though nothing has changed.
    let unchanged = !case.sources.is_empty() && sources(lane) == case.sources;
    let times = if case.intermittent || unchanged { AGAIN } else { 1 };
    let mut tried = lane.ask(&asked)?;
    for _ in 1..times {
        if !matches!(tried, Tried::Passed) {
            break;
        }
        tried = lane.ask(&asked)?;
    }
    Ok(Some(match tried {
        Tried::Refused(refusal) => KeptNow::Fails(refusal),
        Tried::Passed if case.state == KeptState::Failing && unchanged => KeptNow::Skipped(format!(
            "it passed {AGAIN} times, and the sources are those it failed with: it may fail now and then"
        )),
        Tried::Passed if case.state == KeptState::Failing => KeptNow::Fixed,
        Tried::Passed => KeptNow::Passes,
        Tried::Excluded(why) => KeptNow::Skipped(why),
        Tried::Unanswered(fault) => KeptNow::Skipped(format!("{}: {}", fault.what, fault.why)),
    }))
}

/// A failure as it is kept.
pub(super) fn kept(failure: &FuzzFailure, target: &str, baseline: Option<&str>) -> KeptCase {
    KeptCase {
        state: KeptState::Failing,
        found: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        target: target.into(),
        variant: failure.variant.clone(),
        baseline: baseline.unwrap_or_default().into(),
        config: failure.smallest.config.to_string(),
        case: failure.smallest.to_string(),
        gate: failure.refusal.gate.name().into(),
        measured: failure.refusal.measured.clone(),
        intermittent: failure.steady == Some(false),
        sources: String::new(),
    }
}

/// The hash of what a lane's kernel is made of; empty where it cannot be read.
fn sources(lane: &Lane<'_, '_>) -> String {
    lane.bench.kernel.fingerprint().unwrap_or_default()
}
