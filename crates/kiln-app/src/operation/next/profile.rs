//! Profiles beside results. In: the newest result, profiles. Out: the profile of what was measured, where there is one, with the first of its
//! causes that nobody tried to remove in vain.

use kiln_diagnose::next::ProfileNow;
use kiln_store::ProfileRecord;

use super::attempts::Logged;
use super::records::{Now, Records};
use super::result::Found;

/// Whether a profile is of the same work.
pub(super) fn alike(profile: &ProfileRecord, found: &Found) -> bool {
    (&profile.target, &profile.variant) == (&found.target, &found.variant)
}

/// The profile that shows what was measured: of the same configuration and the same sources. Where no attempt tells of those, they have
/// not changed between the two.
pub(super) fn describing(
    records: &Records,
    logged: &Logged,
    found: &Found,
    edited: Option<bool>,
    now: &Now,
    no_gain: f64,
) -> Option<ProfileNow> {
    let since = if edited == Some(true) { found.at_ms } else { now.modified_ms.unwrap_or(i64::MIN) };
    let measured = logged.sources_at(found.began_ms);
    let same = |profile: &ProfileRecord| match (logged.sources_at(profile.at_ms), measured) {
        // That of the change itself makes it no guess.
        (Some(own), Some(measured)) => own == measured || logged.current_at(profile.at_ms) == Some(true),
        _ => profile.at_ms >= since,
    };
    let shows = |profile: &&ProfileRecord| {
        let own = profile.study.is_some() && profile.study == found.study;
        let config = found.config.as_deref() == Some(profile.config.as_str());
        alike(profile, found) && (own || config && same(profile))
    };
    let profile = records.profiles.iter().find(shows)?;
    let study = records.studies.iter().find(|study| Some(&study.id) == profile.study.as_ref());
    let limit = study.and_then(|study| study.summary.as_ref()?.read().ok()?.limit.clone());
    Some(ProfileNow {
        limit: profile.cause.clone(),
        cause: causes(profile, logged, i64::MAX, no_gain, None).into_iter().next(),
        fix: limit.and_then(|limit| limit.fix),
    })
}

/// The causes that can be removed and were not tried in vain until a moment, the one that promises most first. What is being judged was
/// not tried before, however often it was measured.
pub(super) fn causes(
    profile: &ProfileRecord,
    logged: &Logged,
    until_ms: i64,
    no_gain: f64,
    judged: Option<&Found>,
) -> Vec<(String, f64)> {
    let ranked = profile.ranked.read().cloned().unwrap_or_default();
    let removable = ranked.into_iter().filter(|(cause, gain)| *gain > 1.0 && !cause.starts_with("at_roofline"));
    removable.skip(logged.in_vain((profile.at_ms, &profile.config), until_ms, no_gain, judged)).collect()
}
