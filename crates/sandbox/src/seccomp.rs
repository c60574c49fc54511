//! The system-call filter of every local sandbox, compiled once.
//!
//! Everything is allowed that is not listed: agents run arbitrary programs, and a program that gets `EPERM` from an
//! unusual call is worse than one that is confined by namespaces alone. What is listed has no use inside, or reaches
//! parts of the kernel that namespaces do not cover.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};

use crate::BoxError;

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
/// Type characters into a terminal as if its user had typed them.
const TERMINAL_INJECTION: [u64; 2] = [0x5412 /* TIOCSTI */, 0x541C /* TIOCLINUX */];

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
    for request in TERMINAL_INJECTION {
        rules.entry(libc::SYS_ioctl).or_default().push(rule([argument(1, SeccompCmpOp::Eq, request)?])?);
    }
    let denied = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    Ok(SeccompFilter::new(rules, SeccompAction::Allow, denied, architecture())?.try_into()?)
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

/// Checks that come before the compiled filter: it kills on a foreign architecture and has one errno for all.
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
    program
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
