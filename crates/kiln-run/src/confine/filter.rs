//! Rules about system calls as programs for the kernel. In: whether compilers must still run, and the worker's number. Out:
//! the programs in hex, as the kernel takes them: 8 bytes an instruction.
//!
//! Where compilers must still run there is nothing to hold: the one listener that a process can have comes with the filter
//! that is added when they are done.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Length, SeccompCmpOp as Is, SeccompCondition as Condition,
    SeccompFilter, SeccompRule as Rule, TargetArch, sock_filter,
};

use super::Rules;
use super::calls::{
    Call, DENIED, DENIED_OF_OLD, DENIED_TO_KERNELS, DENIED_TO_KERNELS_OF_LATE, DENIED_TO_KERNELS_OF_OLD, FORKING,
    SCHEDULING, SIGNALLING, STARTING, TRACING,
};

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
    // Those that deny are the same for every worker.
    static DENYING: [OnceLock<Option<Vec<String>>>; 2] = [OnceLock::new(), OnceLock::new()];
    let denied = DENYING[usize::from(compilers)].get_or_init(|| denying(compilers));
    let ending = ending(compilers, worker).and_then(|chosen| compile(chosen, SeccompAction::Trap));
    if let (Some(program), Some(denied)) = (ending, denied) {
        rules.held = if compilers { String::new() } else { hex(&held(program.clone())) };
        rules.killed = hex(&program);
        rules.denied = denied.clone();
    }
}

/// Programs that answer with an error.
fn denying(compilers: bool) -> Option<Vec<String>> {
    let errors = [(denied(compilers)?, libc::EPERM), (newer_clone(), libc::ENOSYS)];
    errors.into_iter().map(|(chosen, error)| Some(hex(&compile(chosen, SeccompAction::Errno(error as u32))?))).collect()
}

fn every(calls: &[&[Call]]) -> Chosen {
    calls.iter().copied().flatten().map(|(number, _)| (*number, Vec::new())).collect()
}

/// Sockets of this machine: name services and NUMA libraries ask there.
const LOCAL: [i32; 2] = [libc::AF_UNIX, libc::AF_NETLINK];

/// Calls that end the worker.
fn ending(compilers: bool, worker: u32) -> Option<Chosen> {
    let mut chosen = every(&[TRACING]);
    let others = if compilers {
        // Compilers signal each other; the parent, and everybody at once, are nobody's concern.
        let parent = u64::from(std::process::id());
        vec![rule(&[number(0, Is::Eq, parent)?])?, rule(&[number(0, Is::Eq, u64::from(u32::MAX))?])?]
    } else {
        vec![rule(&[number(0, Is::Ne, u64::from(worker))?])?]
    };
    chosen.extend(SIGNALLING.iter().map(|(call, _)| (*call, others.clone())));
    if compilers {
        // A process beside the worker, not below it, could not be found when the worker ends.
        let beside = libc::CLONE_PARENT as u64;
        chosen.insert(libc::SYS_clone, vec![rule(&[long(0, Is::MaskedEq(beside), beside)?])?]);
        return Some(chosen);
    }
    chosen.extend(every(&[STARTING, FORKING]));
    let threads = libc::CLONE_THREAD as u64;
    chosen.insert(libc::SYS_clone, vec![rule(&[long(0, Is::MaskedEq(threads), 0)?])?]);
    let network = LOCAL.map(|local| number(0, Is::Ne, local as u64)).into_iter().collect::<Option<Vec<_>>>()?;
    chosen.insert(libc::SYS_socket, vec![rule(&network)?]);
    Some(chosen)
}

/// Calls that answer EPERM.
fn denied(compilers: bool) -> Option<Chosen> {
    let mut chosen = every(&[SCHEDULING, DENIED, DENIED_OF_OLD]);
    let argument = |at, values: &[i32]| -> Option<Vec<Rule>> {
        values.iter().map(|value| rule(&[number(at, Is::Eq, *value as u64)?])).collect()
    };
    // What ties a worker to its parent, and what lets the parent look at it.
    let ties = [libc::PR_SET_PDEATHSIG, libc::PR_SET_CHILD_SUBREAPER, libc::PR_SET_DUMPABLE];
    chosen.insert(libc::SYS_prctl, argument(0, &ties)?);
    if compilers {
        return Some(chosen);
    }
    chosen.extend(every(&[DENIED_TO_KERNELS, DENIED_TO_KERNELS_OF_LATE, DENIED_TO_KERNELS_OF_OLD]));
    chosen.insert(libc::SYS_socket, argument(0, &LOCAL)?);
    // An address to send to. A message's lies in memory, where a filter cannot look, so that there are no sockets of the
    // kinds which may have one: pairs are streams. The worker hands over its listener by such a message.
    chosen.insert(libc::SYS_sendto, vec![rule(&[long(4, Is::Ne, 0)?])?]);
    let pairs = ADDRESSED.map(|kind| rule(&[number(1, Is::MaskedEq(SOCKET_KIND), kind as u64)?]));
    let pairs = pairs.into_iter().chain([rule(&[number(0, Is::Ne, libc::AF_UNIX as u64)?])]);
    chosen.insert(libc::SYS_socketpair, pairs.collect::<Option<_>>()?);
    // Limits of others: 0 is the caller.
    chosen.insert(libc::SYS_prlimit64, vec![rule(&[number(0, Is::Ne, 0)?])?]);
    // Whom the system signals about a file, keystrokes for a terminal, and what a file's owner may set while only reading.
    chosen.insert(libc::SYS_fcntl, argument(1, &[libc::F_SETOWN, F_SETOWN_EX])?);
    let controls = [TIOCSTI].into_iter().chain(SET_FLAGS);
    chosen.insert(libc::SYS_ioctl, controls.map(|it| rule(&[number(1, Is::Eq, it)?])).collect::<Option<_>>()?);
    Some(chosen)
}

const F_SETOWN_EX: i32 = 15;
const TIOCSTI: u64 = 0x5412;
/// `FS_IOC_SETFLAGS`, the same of 32 bits, `FS_IOC_FSSETXATTR` and `FS_IOC_SETVERSION`.
const SET_FLAGS: [u64; 4] = [0x4008_6602, 0x4004_6602, 0x401c_5820, 0x4008_7602];
/// The bits of a socket's type that are no flags.
const SOCKET_KIND: u64 = 0xf;
/// Types whose messages may have an address of their own; raw ones are datagrams between local sockets.
const ADDRESSED: [i32; 3] = [libc::SOCK_DGRAM, libc::SOCK_RAW, libc::SOCK_SEQPACKET];

/// Its flags lie in memory, where a filter cannot look: told that it is not there, the C library takes the old one.
fn newer_clone() -> Chosen {
    [(libc::SYS_clone3, Vec::new())].into()
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
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let bytes = program.iter().flat_map(|i| {
        let ([c0, c1], [k0, k1, k2, k3]) = (i.code.to_ne_bytes(), i.k.to_ne_bytes());
        [c0, c1, i.jt, i.jf, k0, k1, k2, k3]
    });
    bytes.flat_map(|byte| [byte >> 4, byte & 15]).map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_made_and_only_differ_in_what_they_return() {
        for compilers in [false, true] {
            let mut rules = Rules::default();
            fill(&mut rules, compilers, 1234);
            assert_eq!(rules.held.len(), if compilers { 0 } else { rules.killed.len() });
            assert_ne!(rules.held, rules.killed);
            assert_eq!(rules.denied.len(), 2);
            for program in
                [&rules.held, &rules.killed].into_iter().filter(|program| !program.is_empty()).chain(&rules.denied)
            {
                assert!(program.len() % 16 == 0 && program.len() / 16 < 4096);
            }
        }
    }
}
