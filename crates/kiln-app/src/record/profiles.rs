//! What profiles promised, and what came of it. In: profiles as they are taken. Out: each in the store, and the fixes between them: a change
//! of the kernel after a profile named a cause, with the speedup that was promised and the one that was measured.

use kiln_core::Fault;
use kiln_diagnose::profile::{Activity, Promotion};
use kiln_store::ProfileRecord;
use serde::Serialize;

use crate::project::Project;

/// A promise counts as kept within this factor.
const KEPT: f64 = 2.0;
/// A fix that gives less than this part of its promise is not the right one.
const LEAST: f64 = 0.2;

/// What was changed between two profiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FixKind {
    /// The code, with the configuration as it was or not.
    Source,
    /// The configuration alone.
    Configuration,
}

/// How a promise came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PromiseVerdict {
    /// The measured speedup is within a factor of two; of a coarse promise, not above it.
    Kept,
    /// It is more.
    More,
    /// It is less.
    Less,
    /// It is less than a fifth of what was promised: another fix should be tried.
    TryAnother,
}

impl PromiseVerdict {
    /// The name in messages and JSON.
    pub fn name(self) -> &'static str {
        match self {
            PromiseVerdict::Kept => "kept",
            PromiseVerdict::More => "more",
            PromiseVerdict::Less => "less",
            PromiseVerdict::TryAnother => "try_another",
        }
    }

    /// A coarse promise is an upper bound: it is kept where it is not exceeded.
    fn of(predicted: f64, measured: f64, coarse: bool) -> PromiseVerdict {
        match measured / predicted {
            _ if measured - 1.0 < LEAST * (predicted - 1.0) => PromiseVerdict::TryAnother,
            times if coarse => {
                if times > 1.0 {
                    PromiseVerdict::More
                } else {
                    PromiseVerdict::Kept
                }
            }
            times if times > KEPT => PromiseVerdict::More,
            times if times < 1.0 / KEPT => PromiseVerdict::Less,
            _ => PromiseVerdict::Kept,
        }
    }
}

/// A change of a kernel after a profile, and what it gave.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AppliedFix {
    /// When it was profiled again, in milliseconds since 1970.
    pub at_ms: i64,
    /// The kernel.
    pub kernel: String,
    /// The target.
    pub target: String,
    /// The workload.
    pub workload: String,
    /// The GPU or processor.
    pub device: String,
    /// What was changed.
    pub changed: FixKind,
    /// The cause that was named before.
    pub cause: String,
    /// The speedup that its removal promised.
    pub predicted: f64,
    /// The speedup that was measured: time before over time after.
    pub measured: f64,
    /// Microseconds before.
    pub before_us: f64,
    /// Microseconds after.
    pub after_us: f64,
    /// Whether the cause is no longer among those that apply.
    pub gone: bool,
    /// The cause that is named now.
    pub now: Option<String>,
    /// Whether there were no counters.
    pub coarse: bool,
    /// How the promise came out.
    pub verdict: PromiseVerdict,
}

/// Whether two profiles are of the same work on the same device.
fn alike(one: &ProfileRecord, other: &ProfileRecord) -> bool {
    let key = |p: &ProfileRecord| {
        let text = [&p.kernel, &p.path, &p.target, &p.variant, &p.workload, &p.shape, &p.device].map(String::from);
        (text, p.arch.clone(), p.coarse)
    };
    key(one) == key(other)
}

/// The last profile of the same work before one.
pub(crate) fn before<'p>(profiles: &'p [ProfileRecord], own: &ProfileRecord) -> Option<&'p ProfileRecord> {
    profiles.iter().rev().find(|other| other.id != own.id && other.at_ms <= own.at_ms && alike(other, own))
}

/// The fixes that profiles tell of, oldest first. In: profiles, oldest first.
pub(crate) fn applied(profiles: &[ProfileRecord]) -> Vec<AppliedFix> {
    let fix = |place: usize| fix_between(before(&profiles[..place], &profiles[place])?, &profiles[place]);
    (0..profiles.len()).filter_map(fix).collect()
}

/// The cause that a change was for, what its removal promised, and whether it is gone: the first of those that no longer apply, else the
/// first of all. None where nothing was promised.
fn meant(before: &ProfileRecord, after: &ProfileRecord) -> Option<(String, f64, bool)> {
    let now = after.ranked.read().ok()?;
    let still = |cause: &str| now.iter().any(|(own, _)| own == cause);
    let ranked = before.ranked.read().ok()?;
    // Nothing is promised at the roofline.
    let promises = || ranked.iter().filter(|(cause, gain)| *gain > 1.0 && !cause.starts_with("at_roofline"));
    let (cause, gain) = promises().find(|(cause, _)| !still(cause)).or_else(|| promises().next())?;
    Some((cause.clone(), *gain, !still(cause)))
}

fn fix_between(before: &ProfileRecord, after: &ProfileRecord) -> Option<AppliedFix> {
    let (before_us, after_us) = before.time_us.zip(after.time_us).filter(|(one, other)| *one > 0.0 && *other > 0.0)?;
    let (cause, predicted, gone) = meant(before, after)?;
    let changed = match (before.code != after.code, before.config != after.config) {
        // A study changes many values at once, and not for that cause.
        _ if before.study.is_some() && before.study == after.study => return None,
        (true, false) => FixKind::Source,
        // Other values make other code. They are a fix where they removed the cause, and else a look around.
        (_, true) if gone => FixKind::Configuration,
        _ => return None,
    };
    let measured = before_us / after_us;
    Some(AppliedFix {
        at_ms: after.at_ms,
        kernel: after.kernel.clone(),
        target: after.target.clone(),
        workload: after.workload.clone(),
        device: after.device.clone(),
        changed,
        cause,
        predicted,
        measured,
        before_us,
        after_us,
        gone,
        now: after.cause.clone(),
        coarse: after.coarse,
        verdict: PromiseVerdict::of(predicted, measured, after.coarse),
    })
}

/// The reasons to profile this one in full, beside an earlier one of the same work.
pub(crate) fn promoted(before: &ProfileRecord, own: &ProfileRecord) -> Vec<Promotion> {
    let activity = |profile: &ProfileRecord| -> Activity {
        let read = profile.activity.read().ok();
        let of = |name: &str| read.and_then(|all| all.get(name).copied().flatten());
        Activity { l2_hits: of("l2_hits"), dram: of("dram"), tensor: of("tensor") }
    };
    activity(own).promoted(&activity(before))
}

/// Records a profile; gives the fix it tells of, where there is one, and the reasons for a full profile of it.
pub(crate) fn record(project: &Project, own: &ProfileRecord) -> Result<(Option<AppliedFix>, Vec<Promotion>), Fault> {
    let store = project.store()?;
    let earlier = store.profiles(Some(&own.kernel))?;
    store.record_profile(own)?;
    let Some(before) = before(&earlier, own) else { return Ok((None, Vec::new())) };
    let changed = before.code != own.code || before.config != own.config;
    let reasons = if changed { promoted(before, own) } else { Vec::new() };
    Ok((fix_between(before, own), reasons))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_store::Kept;

    fn profile(at_ms: i64, code: &str, cause: Option<&str>, promise: f64, time_us: f64) -> ProfileRecord {
        let ranked = cause.map(|cause| (cause.to_string(), promise)).into_iter().collect();
        ProfileRecord {
            id: format!("p{at_ms}"),
            at_ms,
            study: None,
            kernel: "k".into(),
            path: "/k".into(),
            target: "cuda".into(),
            arch: Some("sm_90a".into()),
            variant: String::new(),
            config: "A=1".into(),
            workload: "w".into(),
            shape: "N=1".into(),
            device: "H200".into(),
            level: "quick".into(),
            coarse: false,
            code: code.into(),
            cause: cause.map(String::from),
            expected_speedup: promise,
            ranked: Kept::new(ranked),
            time_us: Some(time_us),
            activity: Kept::new(Default::default()),
            page: None,
            kiln_version: "0".into(),
        }
    }

    #[test]
    fn a_change_after_a_promise_is_a_fix_with_its_outcome() {
        let all = [
            profile(1, "a", Some("shared_bank_conflict"), 4.0, 900.0),
            // Profiled again as it is: no fix.
            profile(2, "a", Some("shared_bank_conflict"), 4.0, 901.0),
            profile(3, "b", Some("tail_effect"), 1.3, 300.0),
            // It did not help, and the cause is still there.
            profile(4, "c", Some("tail_effect"), 1.3, 299.0),
            profile(5, "d", Some("at_roofline_tensor"), 1.05, 100.0),
            // At the roofline nothing was promised.
            profile(6, "e", None, 1.0, 50.0),
        ];
        let fixes = applied(&all);
        let told: Vec<_> = fixes.iter().map(|f| (f.cause.as_str(), f.predicted, f.gone, f.verdict)).collect();
        assert_eq!(
            told,
            [
                ("shared_bank_conflict", 4.0, true, PromiseVerdict::Kept),
                ("tail_effect", 1.3, false, PromiseVerdict::TryAnother),
                ("tail_effect", 1.3, true, PromiseVerdict::More),
            ]
        );
        // The cause that went is the one that was meant, also where another one came first and stays.
        let two = |at_ms: i64, code: &str, time_us: f64, causes: &[(&str, f64)]| ProfileRecord {
            ranked: Kept::new(causes.iter().map(|(cause, gain)| ((*cause).to_string(), *gain)).collect()),
            ..profile(at_ms, code, Some(causes[0].0), causes[0].1, time_us)
        };
        let before = two(1, "a", 300.0, &[("tensor_core_unused", 10.0), ("small_grid", 4.0)]);
        let found = applied(&[before, two(2, "b", 120.0, &[("tensor_core_unused", 4.0)])]);
        let told: Vec<_> = found.iter().map(|f| (f.cause.as_str(), f.predicted, f.gone, f.verdict)).collect();
        assert_eq!(told, [("small_grid", 4.0, true, PromiseVerdict::Kept)]);
        assert!((fixes[0].measured - 901.0 / 300.0).abs() < 1e-12 && fixes[0].now.as_deref() == Some("tail_effect"));
    }

    #[test]
    fn other_work_and_other_values_are_no_fixes() {
        let first = profile(1, "a", Some("small_grid"), 8.0, 800.0);
        let changed = |change: fn(&mut ProfileRecord)| {
            let mut own = profile(2, "b", None, 1.0, 100.0);
            change(&mut own);
            applied(&[first.clone(), own])
        };
        assert_eq!(changed(|_| ()).len(), 1);
        assert!(changed(|p| p.workload = "v".into()).is_empty());
        assert!(changed(|p| p.shape = "N=2".into()).is_empty());
        assert!(changed(|p| p.device = "A100".into()).is_empty());
        assert!(changed(|p| p.path = "/copy".into()).is_empty());
        assert!(changed(|p| p.coarse = true).is_empty());
        assert!(changed(|p| p.time_us = None).is_empty());
        // Other values count where they removed the cause.
        assert_eq!(changed(|p| p.config = "A=2".into())[0].changed, FixKind::Configuration);
        let still = |p: &mut ProfileRecord| {
            p.config = "A=2".into();
            p.ranked = Kept::new(vec![("small_grid".into(), 3.0)]);
        };
        assert!(changed(still).is_empty());
        // Within one study nobody applied a fix.
        let study = |at: i64, code: &str| ProfileRecord {
            study: Some("s".into()),
            config: format!("A={at}"),
            ..profile(at, code, Some("small_grid"), 8.0, 100.0 / at as f64)
        };
        assert!(applied(&[study(1, "a"), study(2, "b")]).is_empty());
    }

    #[test]
    fn promises_are_judged() {
        let verdicts =
            [(4.0, 3.0), (4.0, 8.1), (4.0, 1.9), (4.0, 1.5), (4.0, 0.9)].map(|(p, m)| PromiseVerdict::of(p, m, false));
        use PromiseVerdict::{Kept, Less, More, TryAnother};
        assert_eq!(verdicts, [Kept, More, Less, TryAnother, TryAnother]);
        let coarse = [(15.0, 4.9), (15.0, 16.0), (15.0, 2.0)].map(|(p, m)| PromiseVerdict::of(p, m, true));
        assert_eq!(coarse, [Kept, More, TryAnother]);
    }
}
