//! The system-call filter of every local sandbox, compiled once.
//!
//! Three lists. What programs need is [`allowed`]: compilers, interpreters, package managers, databases, browsers without a
//! sandbox of their own. [`DENIED`] has no use inside, or reaches parts of the kernel that namespaces do not cover: `EPERM`.
//! Any other call, those of kernels to come included, does not exist: `ENOSYS`, so that callers take their older way.

mod allowed;

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};

use crate::{BoxError, quota::FS_IOC_FSSETXATTR};
use allowed::{FCHMODAT2, allowed};

/// Fail with `EPERM`, whatever the arguments.
const DENIED: &[c_long] = &[
    // Taking over another process, the guest above all.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_process_madvise,
    // Namespaces and mounts.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    // Handles open files past every path check.
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    // Keyrings are not namespaced.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // Large kernel surfaces with a history.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_fanotify_init,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // The machine itself.
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_lookup_dcookie,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
];

/// Fail as if the kernel did not have them, so that callers take their older way.
const PRETENDED_AWAY: &[(c_long, i32)] = &[
    // Its flags are in memory, where no filter can see that they ask for a namespace; libc falls back to `clone`.
    (libc::SYS_clone3, libc::ENOSYS),
    // Takes any amount of disk at once, faster than any watcher; callers fall back to writing.
    (libc::SYS_fallocate, libc::EOPNOTSUPP),
];

const NAMESPACE_FLAGS: [i32; 8] = [
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWTIME,
];
/// Virtual-machine and other exotic sockets are not confined by a network namespace.
const SOCKET_FAMILIES: [i32; 4] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
/// What a process may be like: usual, 32-bit `uname`, without randomised addresses, both, or asked for. Others change how the
/// kernel treats memory.
const PERSONALITIES: [u32; 5] = [0, 0x8, 0x0004_0000, 0x0004_0008, u32::MAX];
/// Type characters into a terminal as if its user had typed them.
const TERMINAL_INJECTION: [u64; 2] = [0x5412 /* TIOCSTI */, 0x541C /* TIOCLINUX */];
/// Takes a file off the disk quota. The kernel refuses it in a user namespace anyway.
const PROJECT_CHANGE: u64 = FS_IOC_FSSETXATTR as u64;

/// Run a file with its owner's rights. A file in a workspace belongs to the sandbox's UID, or to the server's own.
const SET_ID_BITS: [u32; 2] = [libc::S_ISUID, libc::S_ISGID];
/// Calls that take a file mode, by the index of that argument.
const MODE_CALLS: &[(c_long, u8)] = &[
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (FCHMODAT2, 2),
    (libc::SYS_mknodat, 2),
    (libc::SYS_mkdirat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mkdir, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, 1),
];
/// Calls whose mode counts only if their flags, the argument before it, ask for a new file.
///
/// `openat2` has its mode in memory, where no filter can see it, and the guest needs it. It can set the bits on a file that
/// it makes, which is empty; the kernel clears them with the first byte that is written.
const OPEN_CALLS: &[(c_long, u8)] = &[
    (libc::SYS_openat, 3),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 2),
];
/// `O_TMPFILE` without the bit of `O_DIRECTORY` in it.
const UNNAMED_FILE: i32 = libc::O_TMPFILE & !libc::O_DIRECTORY;

/// The filter as bytes for the kernel.
pub(crate) fn program() -> Result<Vec<u8>, BoxError> {
    let mut program = prologue();
    program.extend(filter()?);
    Ok(program.iter().flat_map(encode).collect())
}

fn filter() -> Result<BpfProgram, BoxError> {
    let mut rules: BTreeMap<c_long, Vec<SeccompRule>> =
        DENIED.iter().map(|call| (*call, Vec::new())).collect();
    for flag in NAMESPACE_FLAGS {
        let flag = u64::from(flag.cast_unsigned());
        rules.entry(libc::SYS_clone).or_default().push(rule([argument(
            0,
            SeccompCmpOp::MaskedEq(flag),
            flag,
        )?])?);
    }
    for call in [libc::SYS_socket, libc::SYS_socketpair] {
        let mut strangers = Vec::new();
        for family in SOCKET_FAMILIES {
            strangers.push(argument(0, SeccompCmpOp::Ne, u64::from(family.cast_unsigned()))?);
        }
        rules.insert(call, vec![rule(strangers)?]);
    }
    let mut unusual = Vec::new();
    for personality in PERSONALITIES {
        unusual.push(argument(0, SeccompCmpOp::Ne, u64::from(personality))?);
    }
    rules.insert(libc::SYS_personality, vec![rule(unusual)?]);
    for request in TERMINAL_INJECTION.into_iter().chain([PROJECT_CHANGE]) {
        rules.entry(libc::SYS_ioctl).or_default().push(rule([argument(1, SeccompCmpOp::Eq, request)?])?);
    }
    deny_set_id_bits(&mut rules)?;
    let denied = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    Ok(SeccompFilter::new(rules, SeccompAction::Allow, denied, architecture())?.try_into()?)
}

/// No file can be made to run with its owner's rights.
fn deny_set_id_bits(rules: &mut BTreeMap<c_long, Vec<SeccompRule>>) -> Result<(), BoxError> {
    for bit in SET_ID_BITS.map(u64::from) {
        for (call, mode) in MODE_CALLS {
            let is_set = argument(*mode, SeccompCmpOp::MaskedEq(bit), bit)?;
            rules.entry(*call).or_default().push(rule([is_set])?);
        }
        for (call, mode) in OPEN_CALLS {
            for flag in [libc::O_CREAT, UNNAMED_FILE].map(|flag| u64::from(flag.cast_unsigned())) {
                let is_new = argument(mode - 1, SeccompCmpOp::MaskedEq(flag), flag)?;
                let is_set = argument(*mode, SeccompCmpOp::MaskedEq(bit), bit)?;
                rules.entry(*call).or_default().push(rule([is_new, is_set])?);
            }
        }
    }
    Ok(())
}

fn rule(
    conditions: impl IntoIterator<Item = SeccompCondition>,
) -> Result<SeccompRule, seccompiler::BackendError> {
    SeccompRule::new(conditions.into_iter().collect())
}

/// The kernel reads these arguments as 32 bits: comparing 64 would let a caller hide behind the upper half.
fn argument(index: u8, op: SeccompCmpOp, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(index, SeccompCmpArgLen::Dword, op, value)
}

const fn architecture() -> TargetArch {
    #[cfg(target_arch = "x86_64")]
    return TargetArch::x86_64;
    #[cfg(target_arch = "aarch64")]
    return TargetArch::aarch64;
}

#[cfg(target_arch = "x86_64")]
const AUDIT_ARCH: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
const AUDIT_ARCH: u32 = 0xC000_00B7;

/// Offsets in `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCH: u32 = 4;
/// Calls of the x32 ABI carry this bit, under the architecture of x86-64.
const X32: u32 = 0x4000_0000;

/// Checks that come before the compiled filter: it kills on a foreign architecture, has one errno for all, and allows what
/// it does not know.
fn prologue() -> BpfProgram {
    let mut program = vec![
        load(ARCH),
        jump(libc::BPF_JEQ, AUDIT_ARCH, 1, 0),
        errno(libc::ENOSYS),
        load(NUMBER),
        jump(libc::BPF_JGE, X32, 0, 1),
        errno(libc::ENOSYS),
    ];
    for (call, error) in PRETENDED_AWAY {
        program.extend([jump(libc::BPF_JEQ, *call as u32, 0, 1), errno(*error)]);
    }
    program.extend(only(&known()));
    program
}

/// Every call that the compiled filter decides about, in order.
fn known() -> Vec<u32> {
    let mut known: Vec<u32> = allowed().chain(DENIED.iter().copied()).map(|call| call as u32).collect();
    known.sort_unstable();
    known.dedup();
    known
}

/// Goes on behind itself with these calls, and pretends that there are no others. Each range of numbers takes three
/// instructions; the last of them jumps, because a test can only jump 255 instructions far.
fn only(calls: &[u32]) -> BpfProgram {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for call in calls {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *call => *last = *call,
            _ => ranges.push((*call, *call)),
        }
    }
    let n_ranges = ranges.len() as u32;
    let mut program: BpfProgram = Vec::new();
    for (at, (first, last)) in (1..).zip(ranges) {
        program.extend([jump(libc::BPF_JGE, first, 0, 2), jump(libc::BPF_JGT, last, 1, 0)]);
        // Over the ranges that are left, and the refusal behind them.
        program.push(skip((n_ranges - at) * 3 + 1));
    }
    program.push(errno(libc::ENOSYS));
    program
}

fn skip(instructions: u32) -> sock_filter {
    sock_filter { code: (libc::BPF_JMP | libc::BPF_JA) as u16, jt: 0, jf: 0, k: instructions }
}

fn load(offset: u32) -> sock_filter {
    sock_filter { code: (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16, jt: 0, jf: 0, k: offset }
}

fn jump(test: u32, value: u32, then: u8, otherwise: u8) -> sock_filter {
    sock_filter { code: (libc::BPF_JMP | test | libc::BPF_K) as u16, jt: then, jf: otherwise, k: value }
}

fn errno(error: i32) -> sock_filter {
    let k = libc::SECCOMP_RET_ERRNO | error.cast_unsigned();
    sock_filter { code: (libc::BPF_RET | libc::BPF_K) as u16, jt: 0, jf: 0, k }
}

fn encode(instruction: &sock_filter) -> Vec<u8> {
    let mut bytes = instruction.code.to_ne_bytes().to_vec();
    bytes.extend([instruction.jt, instruction.jf]);
    bytes.extend(instruction.k.to_ne_bytes());
    bytes
}
