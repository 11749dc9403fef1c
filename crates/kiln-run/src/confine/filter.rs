//! Rules about system calls as programs for the kernel. In: whether compilers must still run, and the worker's number. Out:
//! the programs in hex, as the kernel takes them: 8 bytes an instruction.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Length, SeccompCmpOp as Is, SeccompCondition as Condition,
    SeccompFilter, SeccompRule as Rule, TargetArch, sock_filter,
};

use super::Rules;
use super::calls::{Call, DENIED, DENIED_OF_OLD, FORKING, SCHEDULING, SIGNALLING, STARTING, TRACING};

/// For each call the rules of which one must match; every use of it when there are none.
type Chosen = BTreeMap<i64, Vec<Rule>>;

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: TargetArch = TargetArch::x86_64;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: TargetArch = TargetArch::aarch64;

/// Returned by a program: hold the caller until a listener answers. The library does not know it.
const HOLD: u32 = 0x7fc0_0000;
const TRAP: u32 = 0x0003_0000;
const KILL_PROCESS: u32 = 0x8000_0000;

/// Writes the programs into the rules; none of them when one cannot be made.
pub(super) fn fill(rules: &mut Rules, compilers: bool, worker: u32) {
    let Some((ending, denied)) = chosen(compilers, worker) else { return };
    let errors = [(denied, libc::EPERM), (newer_clone(compilers), libc::ENOSYS)];
    let denied = errors.into_iter().filter(|(chosen, _)| !chosen.is_empty());
    let denied: Option<Vec<_>> =
        denied.map(|(chosen, error)| compile(chosen, SeccompAction::Errno(error as u32))).collect();
    if let (Some(program), Some(denied)) = (compile(ending, SeccompAction::Trap), denied) {
        rules.held = hex(&held(program.clone()));
        rules.killed = hex(&program);
        rules.denied = denied.iter().map(|program| hex(program)).collect();
    }
}

/// Calls that end the worker, and calls that answer EPERM.
fn chosen(compilers: bool, worker: u32) -> Option<(Chosen, Chosen)> {
    let every = |calls: &[&[Call]]| -> Chosen {
        calls.iter().copied().flatten().map(|(number, _)| (*number, Vec::new())).collect()
    };
    let (mut ending, mut denied) = (every(&[TRACING]), every(&[SCHEDULING]));
    let others = if compilers {
        // Compilers signal each other; the parent, and everybody at once, are nobody's concern.
        let parent = u64::from(std::process::id());
        vec![rule(&[number(0, Is::Eq, parent)?])?, rule(&[number(0, Is::Eq, u64::from(u32::MAX))?])?]
    } else {
        vec![rule(&[number(0, Is::Ne, u64::from(worker))?])?]
    };
    ending.extend(SIGNALLING.iter().map(|(call, _)| (*call, others.clone())));
    denied.insert(libc::SYS_prctl, prctl()?);
    if compilers {
        return Some((ending, denied));
    }
    ending.extend(every(&[STARTING, FORKING]));
    let threads = libc::CLONE_THREAD as u64;
    ending.insert(libc::SYS_clone, vec![rule(&[long(0, Is::MaskedEq(threads), 0)?])?]);
    let domain = |is, domain: i32| number(0, is, domain as u64);
    // Those of this machine: name services and NUMA libraries ask there.
    let local = [libc::AF_UNIX, libc::AF_NETLINK];
    let network = local.map(|local| domain(Is::Ne, local)).into_iter().collect::<Option<Vec<_>>>()?;
    ending.insert(libc::SYS_socket, vec![rule(&network)?]);
    denied.extend(every(&[DENIED, DENIED_OF_OLD]));
    let local = local.map(|local| domain(Is::Eq, local).and_then(|is| rule(&[is])));
    denied.insert(libc::SYS_socket, local.into_iter().collect::<Option<_>>()?);
    // An address to send to.
    denied.insert(libc::SYS_sendto, vec![rule(&[long(4, Is::Ne, 0)?])?]);
    // Limits of others: 0 is the caller.
    let theirs = [number(0, Is::Ne, 0)?, number(0, Is::Ne, u64::from(worker))?];
    denied.insert(libc::SYS_prlimit64, vec![rule(&theirs)?]);
    // Whom the system signals about a file, and keystrokes for a terminal.
    let owners = [libc::F_SETOWN, F_SETOWN_EX].map(|command| rule(&[number(1, Is::Eq, command as u64)?]));
    denied.insert(libc::SYS_fcntl, owners.into_iter().collect::<Option<_>>()?);
    denied.insert(libc::SYS_ioctl, vec![rule(&[number(1, Is::Eq, libc::TIOCSTI)?])?]);
    Some((ending, denied))
}

const F_SETOWN_EX: i32 = 15;

/// What ties a worker to its parent, and what lets the parent look at it.
fn prctl() -> Option<Vec<Rule>> {
    let options = [libc::PR_SET_PDEATHSIG, libc::PR_SET_CHILD_SUBREAPER, libc::PR_SET_DUMPABLE];
    options.into_iter().map(|option| rule(&[number(0, Is::Eq, option as u64)?])).collect()
}

/// Its flags lie in memory, where a filter cannot look: told that it is not there, the C library takes the old one.
fn newer_clone(compilers: bool) -> Chosen {
    if compilers { Chosen::new() } else { [(libc::SYS_clone3, Vec::new())].into() }
}

fn rule(conditions: &[Condition]) -> Option<Rule> {
    Rule::new(conditions.to_vec()).ok()
}

/// About an argument that is an `int`: its upper half is of no meaning.
fn number(argument: u8, is: Is, value: u64) -> Option<Condition> {
    Condition::new(argument, Length::Dword, is, value).ok()
}

fn long(argument: u8, is: Is, value: u64) -> Option<Condition> {
    Condition::new(argument, Length::Qword, is, value).ok()
}

/// A program that answers these calls with `action` and lets all others through. Calls of another architecture kill.
fn compile(chosen: Chosen, action: SeccompAction) -> Option<BpfProgram> {
    let filter = SeccompFilter::new(chosen, SeccompAction::Allow, action, ARCHITECTURE).ok()?;
    let program: BpfProgram = filter.try_into().ok()?;
    Some(if cfg!(target_arch = "x86_64") { without_x32(program) } else { program })
}

/// The same calls have other numbers in an old second interface, and would slip through.
fn without_x32(program: BpfProgram) -> BpfProgram {
    const LOAD_NUMBER: sock_filter = sock_filter { code: 0x20, jt: 0, jf: 0, k: 0 };
    const IF_X32: sock_filter = sock_filter { code: 0x35, jt: 0, jf: 1, k: 0x4000_0000 };
    const KILL: sock_filter = sock_filter { code: 0x06, jt: 0, jf: 0, k: KILL_PROCESS };
    [LOAD_NUMBER, IF_X32, KILL].into_iter().chain(program).collect()
}

/// Callers are held, where they would be sent a signal.
fn held(mut program: BpfProgram) -> BpfProgram {
    const RETURN: u16 = 0x06;
    for instruction in program.iter_mut().filter(|i| i.code == RETURN && i.k == TRAP) {
        instruction.k = HOLD;
    }
    program
}

fn hex(program: &[sock_filter]) -> String {
    let bytes = program.iter().flat_map(|i| {
        let ([c0, c1], [k0, k1, k2, k3]) = (i.code.to_ne_bytes(), i.k.to_ne_bytes());
        [c0, c1, i.jt, i.jf, k0, k1, k2, k3]
    });
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_made_and_only_differ_in_what_they_return() {
        for compilers in [false, true] {
            let mut rules = Rules::default();
            fill(&mut rules, compilers, 1234);
            assert!(!rules.held.is_empty() && rules.held.len() == rules.killed.len());
            assert_ne!(rules.held, rules.killed);
            assert_eq!(rules.denied.len(), if compilers { 1 } else { 2 });
            for program in [&rules.held, &rules.killed].into_iter().chain(&rules.denied) {
                assert!(program.len() % 16 == 0 && program.len() / 16 < 4096);
            }
        }
    }
}
