//! System calls that a candidate has no business with, by name. Those that depend on an argument are in `filter`.

/// A call's number, and its name with a `SYS_` before it.
pub(super) type Call = (i64, &'static str);

macro_rules! calls {
    ($($name:ident)*) => { &[$((libc::$name as i64, stringify!($name)),)*] };
}

/// Another process's memory and descriptors: nobody reads those by accident, nor is there a use for them in a compiler.
pub(super) const TRACING: &[Call] =
    calls! { SYS_ptrace SYS_process_vm_readv SYS_process_vm_writev SYS_pidfd_getfd SYS_kcmp };

/// New processes and programs, and signals that cannot be seen to be for the worker itself.
pub(super) const STARTING: &[Call] = calls! { SYS_execve SYS_execveat SYS_pidfd_send_signal };

/// The old ways to start a process, which newer architectures do not have.
#[cfg(target_arch = "x86_64")]
pub(super) const FORKING: &[Call] = calls! { SYS_fork SYS_vfork };
#[cfg(not(target_arch = "x86_64"))]
pub(super) const FORKING: &[Call] = &[];

/// Those whose arguments say who is meant.
pub(super) const SIGNALLING: &[Call] =
    calls! { SYS_kill SYS_tkill SYS_tgkill SYS_rt_sigqueueinfo SYS_rt_tgsigqueueinfo };

/// Those whose arguments say what is meant, where that can end the worker.
pub(super) const TELLING: &[Call] = calls! { SYS_clone SYS_socket };

/// Leaving the processors one is kept to, or pushing ahead on them.
pub(super) const SCHEDULING: &[Call] = calls! {
    SYS_sched_setaffinity SYS_sched_setscheduler SYS_sched_setattr SYS_sched_setparam SYS_setpriority SYS_ioprio_set
};

/// What libraries may try, and do without; compilers too.
pub(super) const DENIED: &[Call] = calls! {
    SYS_io_uring_setup SYS_io_uring_enter SYS_io_uring_register
    SYS_perf_event_open SYS_bpf SYS_userfaultfd SYS_memfd_secret SYS_process_madvise
    SYS_keyctl SYS_add_key SYS_request_key
    SYS_unshare SYS_setns SYS_chroot SYS_pivot_root SYS_open_by_handle_at
    SYS_mount SYS_umount2 SYS_move_mount SYS_open_tree SYS_fsopen SYS_fsconfig SYS_fsmount SYS_fspick SYS_mount_setattr
    SYS_clock_settime SYS_settimeofday SYS_adjtimex SYS_clock_adjtime
    SYS_reboot SYS_swapon SYS_swapoff SYS_kexec_load SYS_init_module SYS_finit_module SYS_delete_module SYS_acct
    SYS_quotactl SYS_sethostname SYS_setdomainname SYS_syslog
};

/// The old names of some of them.
#[cfg(target_arch = "x86_64")]
pub(super) const DENIED_OF_OLD: &[Call] = calls! { SYS_ioperm SYS_iopl };
#[cfg(not(target_arch = "x86_64"))]
pub(super) const DENIED_OF_OLD: &[Call] = &[];

/// What libraries do without, but compilers and what starts them may not.
pub(super) const DENIED_TO_KERNELS: &[Call] = calls! {
    SYS_connect SYS_bind SYS_listen SYS_accept SYS_accept4
    SYS_shmget SYS_msgget SYS_semget SYS_mq_open
    SYS_timer_create SYS_timerfd_create SYS_setitimer
    SYS_pidfd_open SYS_personality
    SYS_setpgid SYS_setsid
    SYS_fchmod SYS_fchmodat SYS_fchown SYS_fchownat SYS_setxattr SYS_lsetxattr SYS_fsetxattr
    SYS_removexattr SYS_lremovexattr SYS_fremovexattr SYS_utimensat
};

/// Newer ones, which the library has no names for. Their numbers are the same on all architectures.
pub(super) const DENIED_TO_KERNELS_OF_LATE: &[Call] = &[
    (452, "SYS_fchmodat2"),
    (463, "SYS_setxattrat"),
    (466, "SYS_removexattrat"),
    (467, "SYS_open_tree_attr"),
    (469, "SYS_file_setattr"),
];

/// The old names of some of them.
#[cfg(target_arch = "x86_64")]
pub(super) const DENIED_TO_KERNELS_OF_OLD: &[Call] =
    calls! { SYS_chmod SYS_chown SYS_lchown SYS_utime SYS_utimes SYS_futimesat };
#[cfg(not(target_arch = "x86_64"))]
pub(super) const DENIED_TO_KERNELS_OF_OLD: &[Call] = &[];

/// What a call that ended a worker is called.
pub(super) fn name(number: i64) -> Option<&'static str> {
    let mut known = [TRACING, STARTING, FORKING, SIGNALLING, TELLING].into_iter().flatten();
    known.find(|call| call.0 == number).map(|call| call.1.trim_start_matches("SYS_"))
}
