//! System calls: what is not in the list fails, as if it were not permitted (seccomp(2)).

use crate::ConfineError;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};
use std::collections::BTreeMap;

/// Restricts all threads of the process.
pub(crate) fn restrict(sends: bool) -> Result<(), ConfineError> {
    let program = program(sends).map_err(|error| ConfineError::Refused(error.to_string()))?;
    seccompiler::apply_filter_all_threads(&program)
        .map_err(|error| ConfineError::Refused(error.to_string()))
}

fn program(sends: bool) -> Result<BpfProgram, seccompiler::BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        ALLOWED.iter().map(|&call| (call, Vec::new())).collect();
    // Into a pair of sockets that is open, as signals are told; to no address.
    let nowhere = SeccompCondition::new(4, SeccompCmpArgLen::Qword, SeccompCmpOp::Eq, 0)?;
    rules.insert(libc::SYS_sendto, vec![SeccompRule::new(vec![nowhere])?]);
    // To ask for an interface's number: local sockets, which are never connected, unless a program
    // that takes records is connected to again.
    let mut families = vec![libc::AF_UNIX, libc::AF_INET];
    if sends {
        families.push(libc::AF_INET6);
        rules.extend(SENDS.iter().map(|&call| (call, Vec::new())));
    }
    let local = families.into_iter().map(|family| {
        let family = u64::from(family.unsigned_abs());
        let is_it = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, family)?;
        SeccompRule::new(vec![is_it])
    });
    let local = local.collect::<Result<_, _>>()?;
    rules.insert(libc::SYS_socket, local);
    let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    SeccompFilter::new(rules, refused, SeccompAction::Allow, ARCHITECTURE)?.try_into()
}

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: TargetArch = TargetArch::x86_64;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: TargetArch = TargetArch::aarch64;

/// What a run calls that connects to a program again, librdkafka, a client of S3 and the resolver
/// of names too. They reach nothing that `connect` does not.
const SENDS: &[i64] = &[
    libc::SYS_connect,
    libc::SYS_sendmsg,
    libc::SYS_sendmmsg,
    libc::SYS_getsockname,
    libc::SYS_getpeername,
    libc::SYS_pipe2,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_eventfd2,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_epoll_wait,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_pipe,
];

/// What a run calls from its first packet on, also when it ends, fails or panics.
const ALLOWED: &[i64] = &[
    // Files that are open, and those of the folders.
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_pread64,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_pwrite64,
    libc::SYS_openat,
    libc::SYS_close,
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_lseek,
    libc::SYS_ftruncate,
    libc::SYS_fallocate,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_fcntl,
    libc::SYS_dup,
    libc::SYS_mkdirat,
    libc::SYS_unlinkat,
    libc::SYS_renameat2,
    libc::SYS_linkat,
    libc::SYS_getdents64,
    libc::SYS_readlinkat,
    libc::SYS_getcwd,
    libc::SYS_ioctl,
    // Memory.
    libc::SYS_mmap,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_madvise,
    libc::SYS_mprotect,
    libc::SYS_brk,
    // Threads.
    libc::SYS_clone,
    libc::SYS_clone3,
    libc::SYS_futex,
    libc::SYS_set_robust_list,
    libc::SYS_rseq,
    libc::SYS_prctl,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_yield,
    libc::SYS_membarrier,
    libc::SYS_gettid,
    libc::SYS_getpid,
    libc::SYS_exit,
    libc::SYS_exit_group,
    // Signals.
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_tgkill,
    // Waiting, and what time it is.
    libc::SYS_ppoll,
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_gettimeofday,
    // The ring's counters; the pair of sockets by which signals are told.
    libc::SYS_getsockopt,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    // Clients that ask for counters, on the address that is listened on already.
    libc::SYS_accept4,
    libc::SYS_setsockopt,
    libc::SYS_shutdown,
    // What the process has used, and may use.
    libc::SYS_getrusage,
    libc::SYS_prlimit64,
    libc::SYS_getrandom,
    libc::SYS_sysinfo,
    libc::SYS_uname,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    // The same by older numbers.
    #[cfg(target_arch = "x86_64")]
    libc::SYS_open,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_stat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lstat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_mkdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_unlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rename,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_renameat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_link,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_readlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_access,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_time,
];
