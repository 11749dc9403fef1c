//! Files, by Landlock: everything can be read, only what is named can be written. Being in a domain of one's own also
//! keeps other processes' memory and environment away, and signals and network ports where the system knows how.

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, LandlockStatus, PathBeneath, PathFd, RestrictSelfAttr, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};

/// Rights known to this program. On an older system those it knows are kept to.
const NEWEST: ABI = ABI::V7;

/// Restricts this process, which may go on running programs where that is said; the version of Landlock that does so, 0
/// when none does.
pub(super) fn restrict(writable: &[String], programs: bool) -> u32 {
    let Ok((enforced, landlock)) = attempt(writable, programs) else { return 0 };
    match landlock {
        LandlockStatus::Available { effective_abi, kernel_abi } if enforced => {
            kernel_abi.map_or(effective_abi as u32, |abi| abi.unsigned_abs())
        }
        _ => 0,
    }
}

fn attempt(writable: &[String], programs: bool) -> Result<(bool, LandlockStatus), RulesetError> {
    let mut read: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::ReadDir;
    if programs {
        read |= AccessFs::Execute;
    }
    let mut rules = Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?;
    if let Ok(root) = PathFd::new("/") {
        rules = rules.add_rule(PathBeneath::new(root, read))?;
    }
    for path in writable {
        // Starting programs is none of these rights, not even from the scratch folder.
        let rights = match std::fs::metadata(path) {
            Ok(about) if about.is_dir() => AccessFs::from_all(NEWEST) & !BitFlags::from(AccessFs::Execute),
            Ok(_) => AccessFs::from_file(NEWEST) & !BitFlags::from(AccessFs::Execute),
            Err(_) => continue,
        };
        if let Ok(opened) = PathFd::new(path) {
            rules = rules.add_rule(PathBeneath::new(opened, rights))?;
        }
    }
    // A driver's threads are there before the candidate; newer systems restrict them too.
    let status = rules.all_threads(true)?.restrict_self()?;
    Ok((status.ruleset != RulesetStatus::NotEnforced, status.landlock))
}
