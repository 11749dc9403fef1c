//! What was recorded here. In: the store's place. Out: the store where there is one, and its studies as they stand now: a
//! study that says it runs, while its process is gone, was interrupted. Looking never makes a store.

use camino::Utf8Path;
use jiff::tz::TimeZone;
use kiln_core::Fault;
use kiln_show::Past;
use kiln_store::{Store, Study, Trial};
use kiln_study::Machine;

use crate::exit::Failure;
use crate::work;

/// The store; none when nothing was ever recorded here.
pub(crate) fn store() -> Result<Option<Store>, Failure> {
    let place = work::store();
    // Opening would make one.
    if !Utf8Path::new(&place).exists() {
        return Ok(None);
    }
    Ok(Some(Store::open(&place)?))
}

/// Studies as they stand now.
pub(crate) fn studies(store: &Store, studies: Vec<Study>) -> Result<Vec<Past>, Fault> {
    let mut pasts = Vec::with_capacity(studies.len());
    for study in studies {
        // What has a summary needs no trials to be counted.
        let trials = if study.summary.is_some() { Vec::new() } else { store.trials(&study.id)? };
        pasts.push(as_it_stands(study, &trials));
    }
    Ok(pasts)
}

/// One study as it stands now.
pub(crate) fn as_it_stands(study: Study, trials: &[Trial]) -> Past {
    let gone = is_gone(&study.owner, &Machine::look().host);
    Past::new(study, gone, trials, TimeZone::system())
}

/// Whether the process `pid@host` is known to be over. Of another host's nothing is known.
fn is_gone(owner: &str, here: &str) -> bool {
    match owner.split_once('@') {
        Some((pid, host)) => host == here && pid.parse::<u32>().is_ok() && !Utf8Path::new("/proc").join(pid).exists(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_process_of_this_host_can_be_known_to_be_gone() {
        let alive = std::process::id();
        // Beyond the greatest number a process can have.
        let gone = u32::MAX;
        assert!(!is_gone(&format!("{alive}@here"), "here"));
        assert!(is_gone(&format!("{gone}@here"), "here"));
        assert!(!is_gone(&format!("{gone}@elsewhere"), "here"));
        assert!(!is_gone("somebody", "here"));
        assert!(!is_gone("../x@here", "here"));
    }
}
